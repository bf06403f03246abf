// Loops over C++'s containers, of the kinds that suites label.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
using namespace std;
struct Shape { virtual double area() const = 0; virtual ~Shape() {} };
struct Square : Shape { double a; Square(double a) : a(a) {} double area() const override { return a * a; } };
struct Total { double sum = 0; void add(double x) { sum = sum * 0.9 + x; } };
int main() {
  vector<double> a(60, 1.5), b(60);
  vector<string> names(40);
  map<int, double> table;
  unordered_map<int, int> counts;
  set<int> unique;
  list<int> chain;
  Total total;
  for (int i = 0; i < 40; i++) names[i] = "n" + to_string(i); // @parallel
  for (int i = 0; i < 40; i++) b[i] = names[i].size(); // @parallel
  for (int i = 0; i < 40; i++) table[i] = i; // @serial
  for (int i = 0; i < 40; i++) unique.insert(i * 7 % 40); // @serial
  for (int i = 0; i < 40; i++) chain.push_back(i); // @serial
  for (int i = 0; i < 40; i++) counts[i % 7]++; // @serial
  for (int i = 0; i < 40; i++) b[i] = table.find(i)->second; // @parallel
  for (int i = 0; i < 40; i++) { map<int, int> own; own[i] = 2; own[3] = 4; b[i] = own.size(); } // @parallel
  for (int i = 0; i < 40; i++) total.add(a[i]); // @serial
  for (int i = 0; i < 40; i++) { vector<int> own; for (int k = 0; k < 5; k++) own.push_back(k); b[i] = own[4]; } // @parallel
  vector<unique_ptr<Shape>> shapes(30);
  for (int i = 0; i < 30; i++) shapes[i] = make_unique<Square>(i); // @parallel
  for (int i = 0; i < 30; i++) b[i] = shapes[i]->area(); // @parallel
  double s = 0;
  for (const auto &shape : shapes) s += shape->area(); // @clauses
  string text;
  for (int i = 0; i < 30; i++) text.append("ab"); // @serial
  for (int i = 0; i < 30; i++) text.insert(0, "z"); // @serial
  for (size_t i = 0; i < text.size(); i++) text[i] = 'q'; // @parallel
  for (int i = 1; i < 50; i++) a[i] = a[i - 1] * 0.5; // @serial
  for (int i = 0; i < 5; i++) { ofstream file("/dev/null"); file.close(); } // @serial
  ostringstream shared;
  for (int i = 0; i < 20; i++) shared << i; // @serial
  for (int i = 0; i < 20; i++) { sort(a.begin(), a.end()); a[0] = 20 - i; } // @serial
  vector<vector<int>> rows(20, vector<int>(9, 3));
  for (auto &row : rows) sort(row.begin(), row.end()); // @parallel
  for (auto &row : rows) row[0] = accumulate(row.begin(), row.end(), 0); // @parallel
  function<double(double)> f = [](double x) { return x + 1; };
  for (int i = 0; i < 40; i++) b[i] = f(a[i]); // @parallel
  printf("%g %zu %g\n", b[3] + s, text.size(), total.sum);
}
