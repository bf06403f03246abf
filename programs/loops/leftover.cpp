// What is left over of several iterations, in objects of the library and by reference; objects that remember. Labels as in arrays.c.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

struct Best {
  double value = -1;
  int at = -1;
  void see(double x, int i) { if (x > value) { value = x; at = i; } }
  void last(double x) { if (x > 3) value = x; }
  void always(double x) { value = x; }
};
struct Range {
  double lo = 1e9, hi = -1e9;
  void add(double x) { lo = std::min(lo, x); hi = std::max(hi, x); }
};
struct Mean {
  double sum = 0;
  int n = 0;
  void add(double x) { sum += x; n++; }
  double value() const { return n ? sum / n : 0; }
};
struct Smooth {
  double y = 0;
  double operator()(double x) { return y = 0.5 * y + 0.5 * x; }
};
static void keep(double &to, double x) { if (x > 3) to = x; }

static double objects(const std::vector<double> &v, std::vector<double> &out) {
  Best a, b, c;
  Range r, q;
  Mean m, w;
  Smooth s;
  double sum = 0;
  const int n = int(v.size());
  for (int i = 0; i < n; i++) a.see(v[i], i);                               // @serial
  for (int i = 0; i < n; i++) b.last(v[i]);                                 // @serial
  for (int i = 0; i < n; i++) c.always(v[i]);                               // @clauses
  for (int i = 0; i < n; i++) r.add(v[i]);                                  // @clauses
  for (int i = 0; i < n; i++) { q.add(v[i]); sum += q.hi; }                 // @serial
  for (int i = 0; i < n; i++) m.add(v[i]);                                  // @clauses
  for (int i = 0; i < n; i++) { w.add(v[i]); out[i] = w.value(); }          // @serial
  for (int i = 0; i < n; i++) out[i] = s(v[i]);                             // @serial
  return a.value + a.at + b.value + c.value + r.lo + r.hi + sum + m.value();
}

static double left(const std::vector<double> &v) {
  const int n = int(v.size());
  double a = 0;
  std::unique_ptr<double> u = std::make_unique<double>(0), every = std::make_unique<double>(0);
  std::pair<int, double> best{-1, 0}, last{-1, 0};
  std::tuple<int, double> both{0, 0};
  std::optional<double> kept, first;
  for (int i = 0; i < n; i++) keep(a, v[i]);                                // @serial
  for (int i = 0; i < n; i++) if (v[i] > 3) *u = v[i];                      // @serial
  for (int i = 0; i < n; i++) *every = v[i];                                // @clauses
  for (int i = 0; i < n; i++) if (v[i] > best.second) best = {i, v[i]};     // @serial
  for (int i = 0; i < n; i++) if (v[i] > 3) last = {i, v[i]};               // @serial
  for (int i = 0; i < n; i++) if (v[i] > 3) std::get<1>(both) = i;          // @serial
  for (double x : v) if (x > 3) kept = x;                                   // @serial
  for (double x : v) if (!first) first = x;                                 // @serial
  return a + *u + *every + best.first + last.second + std::get<1>(both) + *kept + *first;
}

// The loop's own counter, by reference.
static int counters(int n) {
  std::vector<int> r(16);
  std::vector<long> top(8);
  long sum = 0;
  for (int i = 0; i < n; i++) r[i % 16] = std::max(i, r[i % 16]);           // @clauses
  for (long i = 0; i < n; i++) { top[i % 8] = std::max(top[i % 8], i); sum += top[3]; } // @serial
  for (long i = 0; i + 1 < n; i++) top[i % 8] = std::max(top[(i + 1) % 8], i); // @serial
  return r[3] + r[5] + int(top[2] + sum);
}

int main() {
  std::vector<double> v(40), out(40);
  for (int i = 0; i < 40; i++) v[i] = (i * 7) % 11 + 0.5;                   // @parallel
  std::printf("%f %f %f %d\n", objects(v, out), left(v), out[7], counters(60));
}
