// Idioms of C++: containers, iterators, lambdas, algorithms in the body.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

static double half(double x) { return x / 2; }

static double vectors(std::vector<double> &v) {
  double sum = 0;
  for (auto &x : v) x = half(x) + 1;                                        // @parallel
  for (auto x : v) sum += x;                                                // @clauses
  for (auto it = v.begin(); it != v.end(); ++it) *it *= 2;                  // @parallel
  for (std::size_t i = 1; i < v.size(); i++) v[i] -= v[i - 1];              // @serial
  std::vector<double> out;
  for (auto x : v) out.push_back(x);                                        // @serial
  std::vector<double> twice(v.size());
  for (std::size_t i = 0; i < v.size(); i++) twice[i] = v[i] + out[i];      // @parallel
  return sum + twice[3];
}

static double lambdas(std::vector<double> &v) {
  double total = 0;
  auto scale = [](double x) { return std::sqrt(std::fabs(x)) + 1; };
  for (std::size_t i = 0; i < v.size(); i++) v[i] = scale(v[i]);            // @parallel
  auto add = [&total](double x) { total = total * 0.5 + x; };
  for (std::size_t i = 0; i < v.size(); i++) add(v[i]);                     // @serial
  return total;
}

// What a closure reaches through a reference has the name of the reference.
static double extremes(std::vector<double> &v) {
  double most = -1, least = 1e9, found = -1, top = -1, last = 0, seen = -1;
  long above = 0;
  auto widen = [&](double x) { most = std::max(most, x); if (x < least) least = x; };
  for (std::size_t i = 0; i < v.size(); i++) widen(v[i]);                   // @clauses
  auto count = [&](double x) { found = std::max(found, x); if (found > 4) above++; };
  for (std::size_t i = 0; i < v.size(); i++) count(v[i]);                   // @serial
  auto halve = [&](double x) { if (x > top) { top = x; last = x / 2; } };
  for (std::size_t i = 0; i < v.size(); i++) halve(v[i]);                   // @serial
  auto keep = [&](double x) { seen = std::max(seen, x); if (x > 1e6) last = seen; };
  for (std::size_t i = 0; i < v.size(); i++) keep(v[i]);                    // @serial
  return most + least + found + top + last + seen + double(above);
}

static long sorted(int rows) {
  std::vector<std::vector<int>> table(rows, std::vector<int>(9));
  long sum = 0;
  for (int i = 0; i < rows; i++)                                            // @parallel
    for (int j = 0; j < 9; j++) table[i][j] = (i * 7 + j * 5) % 11;         // @parallel
  for (int i = 0; i < rows; i++) std::sort(table[i].begin(), table[i].end()); // @parallel
  for (int i = 0; i < rows; i++) sum += std::accumulate(table[i].begin(), table[i].end(), 0L); // @clauses
  return sum;
}

static int maps() {
  std::map<int, int> counts;
  for (int i = 0; i < 40; i++) counts[i % 6]++;                             // @serial
  int sum = 0;
  for (auto &entry : counts) sum += entry.second;                           // @serial
  return sum;
}

static int strings() {
  std::string text;
  for (int i = 0; i < 20; i++) text += char('a' + i);                       // @serial
  std::vector<std::string> names(12);
  for (int i = 0; i < 12; i++) names[i] = std::to_string(i);                // @parallel
  return int(text.size() + names[3].size());
}

int main() {
  std::vector<double> v(40);
  for (std::size_t i = 0; i < v.size(); i++) v[i] = double(i % 9);          // @parallel
  double result = vectors(v) + lambdas(v) + extremes(v) + double(sorted(10)) + maps() + strings();
  for (int i = 0; i < 2; i++) std::printf("%g\n", v[i]);                    // @serial
  std::printf("%g\n", result);
}
