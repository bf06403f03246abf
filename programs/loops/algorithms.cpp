// Algorithms of C++'s library that the program calls itself: their loops are the program's.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

struct Point {
  double x, y;
};

static double root(double x) { return std::sqrt(x); }

static double elements(std::vector<double> &a, std::vector<double> &b) {
  std::vector<double> c(a.size());
  std::fill(b.begin(), b.end(), 0.5);                                       // @parallel
  std::transform(a.begin(), a.end(), b.begin(), root);                      // @clauses
  std::transform(a.begin(), a.end(), b.begin(), c.begin(), std::plus<>());  // @clauses
  std::for_each(c.begin(), c.end(), [](double &x) { x = 2 * x + 1; });      // @parallel
  std::transform(a.begin(), a.end() - 1, a.begin() + 1,
                 [](double x) { return x / 2; });
  std::replace_if(c.begin(), c.end(), [](double x) { return x > 20; }, 20.0); // @parallel
  std::vector<Point> points(a.size());
  std::transform(a.begin(), a.end(), points.begin(), [](double x) { return Point{x, x * x}; }); // @clauses
  std::swap_ranges(a.begin(), a.end(), b.begin());                          // @clauses
  return c[3] + points[5].y;
}

static double sums(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = std::accumulate(a.begin(), a.end(), 0.0);                    // @clauses
  sum += std::inner_product(a.begin(), a.end(), b.begin(), 0.0);            // @clauses
  sum += double(std::count_if(a.begin(), a.end(), [](double x) { return x > 1; })); // @clauses
  std::for_each(a.begin(), a.end(), [&](double x) { sum += x; });           // @clauses
  double last = 0;
  std::for_each(a.begin(), a.end(), [&](double x) { last = last / 2 + x; }); // @serial
  return sum + last;
}

static double orders(std::vector<double> &a) {
  std::vector<double> sums(a.size()), kept;
  std::partial_sum(a.begin(), a.end(), sums.begin());                       // @serial
  std::generate(a.begin(), a.end(), [state = 1u]() mutable { return state = state * 75 % 65537; }); // @serial
  std::transform(a.begin(), a.end() - 1, a.begin() + 1, a.begin() + 1, std::plus<>()); // @serial
  std::copy_if(a.begin(), a.end(), std::back_inserter(kept), [](double x) { return x > 1000; }); // @serial
  std::for_each(a.begin(), a.begin() + 3, [](double x) { std::printf("%g\n", x); }); // @serial
  auto end = std::unique(a.begin(), a.end());
  double folded = std::accumulate(a.begin(), end, 1.0, [](double x, double y) { return x / 2 + y; }); // @serial
  return sums.back() + folded + double(kept.size());
}

// What containers call is theirs, and what sorts is one call.
static std::size_t inner(int rows) {
  std::vector<std::vector<int>> table(rows, std::vector<int>(30, 7));
  std::string text(40, 'x');
  for (int i = 0; i < rows; i++) {                                          // @parallel
    std::iota(table[i].begin(), table[i].end(), -i);                        // @clauses
    std::for_each(table[i].begin(), table[i].end(), [](int &x) { x *= x; }); // @parallel
    std::sort(table[i].begin(), table[i].end());
  }
  std::vector<int> all;
  for (const auto &row : table) all.insert(all.end(), row.begin(), row.end()); // @serial
  return all.size() + text.size();
}

int main() {
  std::vector<double> a(200), b(200);
  for (std::size_t i = 0; i < a.size(); i++) a[i] = 0.1 * double(i + 1);    // @parallel
  double found = elements(a, b);
  found += sums(a, b) + orders(a) + double(inner(12));
  std::printf("%g\n", found);
}
