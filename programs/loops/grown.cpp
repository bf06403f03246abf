// Containers that grow, objects that accumulate, particles. Labels as in arrays.c.
#include <vector>
#include <map>
#include <unordered_map>
#include <string>
#include <algorithm>
#include <numeric>
#include <cstdio>
#include <set>
#include <deque>
#include <queue>
struct Acc { double sum = 0, sq = 0; long n = 0; double most = -1e300; void add(double x) { sum += x; sq += x * x; n++; } void top(double x) { most = std::max(most, x); } };
struct Particle { double p[3], v[3]; double m; void move(double dt) { for (int d = 0; d < 3; d++) p[d] += v[d] * dt; } };  // @parallel
static double kinetic(const std::vector<Particle> &ps) { double e = 0; for (const auto &q : ps) e += 0.5 * q.m * (q.v[0] * q.v[0] + q.v[1] * q.v[1]); return e; }  // @clauses
int main() {
  std::vector<int> v(50), out, idx(50);
  std::iota(v.begin(), v.end(), 3);
  for (int x : v) if (x % 3) out.push_back(x * x);                                   // @serial
  std::vector<std::vector<int>> groups(7);
  for (int x : v) groups[x % 7].push_back(x);                                        // @serial
  for (auto &g : groups) { int s = 0; for (int x : g) s += x; g.push_back(s); }      // @parallel
  std::map<std::string, int> words;
  const char *text[] = { "a", "b", "a", "c", "b", "a" };
  for (const char *w : text) words[w] += 1;                                          // @serial
  int total = 0;
  for (const auto &[k, n] : words) total += n * (int)k.size();                       // @serial
  std::unordered_map<int, double> sparse;
  for (int i = 0; i < 30; i++) sparse[i * 7 % 31] = i;                               // @serial
  double s = 0;
  for (int i = 0; i < 31; i++) { auto it = sparse.find(i); if (it != sparse.end()) s += it->second; }  // @clauses
  Acc acc;
  for (int x : v) acc.add(x);                                                        // @clauses
  for (int x : v) acc.top(x);
  std::vector<Acc> many(5);
  for (std::size_t i = 0; i < v.size(); i++) many[i % 5].add(v[i]);                  // @clauses
  std::vector<Particle> ps(40, Particle{ { 0, 0, 0 }, { 1, 2, 3 }, 2 });
  for (auto &q : ps) q.move(0.1);                                                    // @parallel
  for (int step = 0; step < 3; step++)                                               // @serial
    for (std::size_t i = 0; i < ps.size(); i++)                                      // @parallel
      for (std::size_t j = 0; j < ps.size(); j++)                                    // @clauses
        if (i != j) for (int d = 0; d < 3; d++) ps[i].v[d] += (ps[j].p[d] - ps[i].p[d]) * 1e-3;   // @parallel
  int seen = 0;
  std::for_each(v.begin(), v.end(), [&](int x) { seen += x > 10; });
  std::vector<double> pre(50);
  for (std::size_t i = 1; i < pre.size(); i++) pre[i] = pre[i - 1] + v[i];           // @serial
  std::transform(v.begin(), v.end(), pre.begin(), [](int x) { return x * 0.5; });
  std::priority_queue<int> heap;
  for (int x : v) heap.push(x * 7 % 23);                                             // @serial
  while (heap.size() > 10) heap.pop();                                               // @serial
  std::deque<int> ring;
  for (int i = 0; i < 50; i++) { ring.push_back(i); if (ring.size() > 5) ring.pop_front(); }   // @serial
  for (int i = 0; i < 50; i++) idx[i] = int(std::lower_bound(v.begin(), v.end(), i) - v.begin());   // @parallel
  std::vector<bool> flags(64);
  for (int i = 0; i < 64; i++) flags[i] = i % 3 == 0;                                // @serial
  int set = 0;
  for (int i = 0; i < 64; i++) set += flags[i];                                      // @clauses
  std::string line;
  for (int i = 0; i < 20; i++) { line.clear(); line += 'x'; line += char('a' + i); out[i] = (int)line.size(); }
  for (int i = 0; i < 20; i++) { std::vector<int> own(v); std::sort(own.begin(), own.end(), [](int a, int b) { return a > b; }); out[i] = own[i]; }   // @parallel
  std::printf("%d %g %d %g %d %g %d %d\n", total, s, seen, kinetic(ps), heap.top(), acc.sum + acc.most + many[2].sq, set, idx[7] + out[3]);
}
