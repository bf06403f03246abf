// Loops that nearly are reductions, counters, private variables. Labels as in arrays.c.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>
#include <map>
constexpr int N = 40;
static int g_last, g_calls;
struct Tally { long n = 0, sum = 0; int max = -1, where = -1; std::vector<long> trail; void add(int x) { n++; sum += x; } long step(int x) { sum += x; return sum; } };
struct Lcg { unsigned s = 1; unsigned operator()() { return s = s * 1664525u + 1013904223u; } };
template <class T> T clampsum(T a, T b) { T r = a + b; return r > 1000 ? 1000 : r; }
static int next_id() { static int id; return ++id; }
static double ema(double &state, double x) { return state = 0.9 * state + x; }
static void note(int i) { g_last = i; }
int main() {
  std::vector<int> v(N), w(N), out;
  std::vector<double> d(N), e(N);
  for (int i = 0; i < N; i++) { v[i] = i * 7 % 41; d[i] = v[i]; } // @parallel
  long s = 0;
  for (int i = 0; i < N; i++) // @serial
    w[i] = s += v[i];
  Tally t;
  for (int x : v) { // @serial
    t.sum += x;
    t.trail.push_back(t.sum);
  }
  for (int i = 0; i < N; i++) // @serial
    if (v[i] > t.max) { t.max = v[i]; t.where = i; }
  for (int i = 0; i < N; i++) // @serial
    w[i] = t.step(v[i]);
  for (int x : v) // @clauses
    t.n += x > 3;
  auto acc = [sum = 0L](int x) mutable { return sum += x; };
  for (int i = 0; i < N; i++) // @serial
    w[i] = acc(v[i]);
  long total = 0;
  auto add = [&total](int x) { total += x; };
  for (int x : v)
    add(x);
  auto peek = [&total](int x) { total += x; return total; };
  for (int i = 0; i < N; i++) // @serial
    w[i] = peek(v[i]);
  Lcg r;
  for (auto &x : w) // @serial
    x = r() % 10;
  for (auto &x : w) // @serial
    x = next_id();
  double state = 0;
  for (int i = 0; i < N; i++) // @serial
    e[i] = ema(state, d[i]);
  for (int i = 0; i < N; i++)
    note(i);
  int c = 0;
  for (int x : v) // @serial
    c = clampsum(c, x);
  std::string line;
  for (int x : v) // @serial
    line += std::to_string(x);
  std::size_t longest = 0, run = 0;
  for (char ch : line) { // @serial
    run = ch == '1' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  int best = -1;
  for (int x : v) // @clauses
    best = std::max(best, x);
  int second = -1;
  for (int x : v) // @serial
    if (x > best / 2) second = x;
  bool sorted = true;
  for (int i = 1; i < N; i++) // @clauses
    sorted = sorted && v[i - 1] <= v[i];
  int depth = 0, deepest = 0;
  for (int x : v) { // @serial
    depth += x % 2 ? 1 : -1;
    deepest = std::max(deepest, depth);
  }
  for (std::size_t i = 1; i < v.size(); i++) // @serial
    v[i] = std::max(v[i], v[i - 1] - 3);
  for (std::size_t i = 0; i + 1 < v.size(); i++) // @serial
    if (v[i] > v[i + 1]) std::swap(v[i], v[i + 1]);
  std::vector<int> &alias = v;
  for (int i = 1; i < N; i++) // @serial
    alias[i] = v[i - 1] + 1;
  int *p = v.data(), *q = v.data() + 1;
  for (int i = 0; i < N - 1; i++) // @serial
    q[i] = p[i];
  std::map<int, int> first;
  for (int i = 0; i < N; i++) // @serial
    first.emplace(v[i] % 5, i);
  int misses = 0;
  for (int i = 0; i < N; i++) // @clauses
    misses += first.count(i) == 0;
  std::vector<std::vector<int>> grid(6, std::vector<int>(6, 1));
  for (int i = 1; i < 6; i++) // @serial
    for (int j = 1; j < 6; j++) // @serial
      grid[i][j] = grid[i - 1][j] + grid[i][j - 1];
  for (int i = 0; i < 6; i++) // @parallel
    std::partial_sum(grid[i].begin(), grid[i].end(), grid[i].begin());
  for (int i = 1; i < 6; i++) // @serial
    std::copy(grid[i - 1].begin(), grid[i - 1].end(), grid[i].begin());
  std::vector<int> picked;
  std::copy_if(v.begin(), v.end(), std::back_inserter(picked), [](int x) { return x > 5; });
  int i = 0, hops = 0;
  while (i < N) { i += 1 + v[i] % 2; hops++; } // @serial
  unsigned h = 2166136261u;
  for (char ch : line) { h ^= unsigned(ch); h *= 16777619u; } // @serial
  unsigned x = 0;
  for (char ch : line) x ^= unsigned(ch); // @clauses
  int idx[3] = {0, 0, 0};
  for (int k = 0; k < N; k++) { int b = v[k] % 3; w[idx[b]++] = k; } // @serial
  int state2 = 0, seen = 0;
  for (char ch : line) switch (state2) { // @serial
    case 0: if (ch == '1') state2 = 1; break;
    case 1: if (ch == '2') { seen++; state2 = 0; } break;
  }
  std::printf("%ld %ld %d %ld %d %zu %d %d %d %d %d %u %u %d %d %d\n", s, t.sum, t.where, total, c, longest, best, second, sorted, deepest, misses, h, x, hops, seen, g_last + g_calls);
}
