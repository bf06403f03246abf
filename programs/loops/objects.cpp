#include <vector>
#include <iostream>
#include <numeric>
#include <algorithm>
#include <map>
#include <string>
using namespace std;
struct P { double x, y; void move(double d) { x += d; } };
static double sq(double x) { return x * x; }
int main() {
  vector<double> a(100), b(100);
  for (size_t i = 0; i < a.size(); i++) a[i] = i; // @parallel
  for (size_t i = 0; i < a.size(); ++i) b[i] = sq(a[i]); // @parallel
  for (size_t i = 1; i < a.size(); ++i) b[i] += b[i - 1]; // @serial
  double s = 0;
  for (size_t i = 0; i < a.size(); ++i) s += a[i]; // @clauses
  for (double x : a) s += x; // @clauses
  for (auto &x : a) x *= 2; // @parallel
  for (auto it = a.begin(); it != a.end(); ++it) *it += 1; // @parallel
  double arr[50];
  for (double &x : arr) x = 3; // @parallel
  for (int i = 0; i < 50; i++) cout << arr[i] << "\n"; // @serial
  vector<P> p(40);
  for (auto &q : p) q.move(2); // @parallel
  vector<int> v;
  for (int i = 0; i < 40; i++) v.push_back(i); // @serial
  map<int,int> m;
  for (int i = 0; i < 40; i++) m[i % 5]++; // @serial
  string t;
  for (int i = 0; i < 40; i++) t += 'a'; // @serial
  double hi = 0;
  for (int i = 0; i < 100; i++) hi = max(hi, a[i]); // @clauses
  for (int i = 0; i < 100; i++) { auto f = [&](double z) { return z + a[i]; }; b[i] = f(2); } // @parallel
  vector<vector<double>> g(10, vector<double>(10));
  for (int i = 0; i < 10; i++) // @parallel
    for (int j = 0; j < 10; j++) // @parallel
      g[i][j] = i * j;
  for (int i = 0; i < 40; i++) { vector<double> w(5); w[2] = i; b[i] = w[2]; } // @parallel
  for (int i = 0; i < 40; i++) { try { if (i == 77) throw 3; b[i] = 1; } catch (int) { b[i] = 2; } } // @parallel
  for (int i = 0; i < 20; i++) { string z = to_string(i); b[i] = z.size(); } // @parallel
  sort(v.begin(), v.end());
  s += accumulate(a.begin(), a.end(), 0.0);
  cout << s << " " << hi << " " << t << m[2] << v[3] << g[2][3] << p[3].x << b[4] << endl;
}
