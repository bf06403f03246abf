// Objects with members that loops accumulate, closures, queues, graphs. Labels as in arrays.c.
#include <algorithm>
#include <cstdio>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <stack>
#include <string>
#include <unordered_map>
#include <vector>
constexpr int N = 36;
namespace sim {
struct Particle { double x = 0, v = 0, f = 0; int bin = 0; };
class World {
  std::vector<Particle> ps_;
  std::vector<int> bins_;
  double energy_ = 0, time_ = 0;
  mutable int reads_ = 0;
  static int instances_;
public:
  explicit World(int n) : ps_(n), bins_(8) { instances_++; }
  double get(int i) const { reads_++; return ps_[i].x; }
  double peek(int i) const { return ps_[i].x; }
  void init() {
    for (std::size_t i = 0; i < ps_.size(); i++) { // @parallel
      ps_[i].x = 0.1 * i;
      ps_[i].v = 1.0 - 0.01 * i;
    }
  }
  void forces() {
    for (auto &p : ps_) { // @parallel
      p.f = 0;
      for (const auto &q : ps_) { // @clauses
        if (&p == &q) continue;
        p.f += (q.x - p.x) * 1e-3;
      }
    }
  }
  void step(double dt) {
    for (auto &p : ps_) { // @parallel
      p.v += dt * p.f;
      p.x += dt * p.v;
    }
    time_ += dt;
  }
  double energy() {
    energy_ = 0;
    for (const auto &p : ps_) // @clauses
      energy_ += 0.5 * p.v * p.v;
    return energy_;
  }
  void bin() {
    for (auto &p : ps_) // @parallel
      p.bin = std::abs(int(p.x * 3)) % 8;
    for (const auto &p : ps_) // @clauses
      bins_[p.bin]++;
  }
  int most() const {
    int best = 0;
    for (int b : bins_) // @clauses
      best = std::max(best, b);
    return best;
  }
  int reads() const { return reads_; }
};
int World::instances_ = 0;
}
template <class F> static void each(int n, F f) {
  for (int i = 0; i < n; i++)
    f(i);
}
template <class It> static double total(It b, It e) {
  double s = 0;
  for (; b != e; ++b) // @clauses
    s += *b;
  return s;
}
struct Node { int v; std::unique_ptr<Node> l, r; explicit Node(int x) : v(x) {} };
static void insert(std::unique_ptr<Node> &n, int v) { if (!n) n = std::make_unique<Node>(v); else insert(v < n->v ? n->l : n->r, v); }
static int depth(const Node *n) { return n ? 1 + std::max(depth(n->l.get()), depth(n->r.get())) : 0; }
struct Matrix {
  int r, c;
  std::vector<double> d;
  Matrix(int r, int c) : r(r), c(c), d(r * c) {}
  double &operator()(int i, int j) { return d[i * c + j]; }
  double operator()(int i, int j) const { return d[i * c + j]; }
  Matrix operator*(const Matrix &o) const {
    Matrix m(r, o.c);
    for (int i = 0; i < r; i++) // @parallel
      for (int j = 0; j < o.c; j++) // @parallel
        for (int k = 0; k < c; k++) // @clauses
          m(i, j) += (*this)(i, k) * o(k, j);
    return m;
  }
  Matrix &operator+=(const Matrix &o) {
    for (std::size_t i = 0; i < d.size(); i++) d[i] += o.d[i]; // @parallel
    return *this;
  }
};
class Counter { int n_ = 0; public: int next() { return n_++; } void reset() { n_ = 0; } };
class Logger { public: void log(const std::string &s) { std::fputs(s.c_str(), stderr); } };
int main() {
  sim::World w(N);
  w.init();
  for (int t = 0; t < 3; t++) { // @serial
    w.forces();
    w.step(0.1);
  }
  double e = w.energy();
  w.bin();
  std::vector<double> a(N), b(N);
  for (int i = 0; i < N; i++) // @clauses
    a[i] = w.get(i);
  for (int i = 0; i < N; i++) // @parallel
    a[i] = w.peek(i);
  each(N, [&](int i) { b[i] = a[i] * 2; });
  double s = total(a.begin(), a.end()) + total(b.begin(), b.end());
  std::unique_ptr<Node> root;
  for (int i = 0; i < N; i++) // @serial
    insert(root, i * 7 % N);
  std::vector<int> ds(N);
  for (int i = 0; i < N; i++) // @parallel
    ds[i] = depth(root.get()) + i;
  Matrix x(10, 10), y(10, 10);
  for (int i = 0; i < 10; i++) // @parallel
    for (int j = 0; j < 10; j++) // @parallel
      x(i, j) = i + j, y(i, j) = i - j;
  Matrix z = x * y;
  for (int t = 0; t < 3; t++) // @serial
    z += x;
  std::vector<Matrix> ms(5, Matrix(4, 4));
  for (std::size_t i = 0; i < ms.size(); i++) // @parallel
    ms[i](1, 2) = double(i);
  for (auto &m : ms) // @parallel
    m += m;
  std::vector<Matrix> products;
  products.reserve(5);
  for (const auto &m : ms) // @serial
    products.push_back(m * m);
  Counter c;
  for (int i = 0; i < N; i++)
    ds[i] = c.next();
  Logger l;
  for (int i = 0; i < 3; i++) // @serial
    l.log("x\n");
  std::priority_queue<int> pq;
  for (int i = 0; i < N; i++) // @serial
    pq.push(i * 11 % N);
  int top = 0;
  while (!pq.empty()) { top = top * 3 + pq.top(); pq.pop(); } // @serial
  std::stack<int> st;
  for (int i = 0; i < N; i++) {
    st.push(i);
    st.pop();
  }
  std::vector<std::vector<int>> adj(N);
  for (int i = 0; i < N; i++) { // @serial
    adj[i].push_back((i + 1) % N);
    adj[(i * 3) % N].push_back(i);
  }
  std::vector<int> indeg(N);
  for (int i = 0; i < N; i++) // @clauses
    for (int j : adj[i])
      indeg[j]++;
  std::vector<double> rank(N, 1.0), next(N);
  for (int it = 0; it < 4; it++) { // @serial
    std::fill(next.begin(), next.end(), 0.15);
    for (int i = 0; i < N; i++) // @clauses
      for (int j : adj[i])
        next[j] += 0.85 * rank[i] / adj[i].size();
    rank.swap(next);
  }
  std::vector<std::string> names(N);
  for (int i = 0; i < N; i++) // @parallel
    names[i] = "n" + std::to_string(i);
  std::unordered_map<std::string, int> ids;
  for (int i = 0; i < N; i++) // @serial
    ids[names[i]] = i;
  int hits = 0;
  for (const auto &n : names) // @clauses
    hits += ids.at(n) % 2;
  std::size_t longest = 0;
  for (const auto &n : names) // @clauses
    longest = std::max(longest, n.size());
  std::string best;
  for (const auto &n : names) // @serial
    if (n > best) best = n;
  std::vector<int> perm(N);
  std::iota(perm.begin(), perm.end(), 0);
  for (int i = N - 1; i > 0; i--) // @serial
    std::swap(perm[i], perm[(i * 7919) % (i + 1)]);
  std::vector<int> v2(N);
  for (int i : perm) // @parallel
    v2[i] = i * i;
  auto fib = [](auto self, int n) -> long { return n < 2 ? n : self(self, n - 1) + self(self, n - 2); };
  std::vector<long> fs(15);
  for (int i = 0; i < 15; i++) // @parallel
    fs[i] = fib(fib, i);
  std::map<int, std::vector<int>> groups;
  for (int i = 0; i < N; i++) // @serial
    groups[i % 4].push_back(i);
  std::vector<double> prefix(N);
  std::partial_sum(a.begin(), a.end(), prefix.begin());
  double acc = 0;
  for (int i = 0; i < N; i++) { // @serial
    acc += a[i];
    prefix[i] = acc;
  }
  double worst = 0;
  int where = 0;
  for (int i = 0; i < N; i++) // @serial
    if (std::fabs(a[i] - b[i]) > worst) { worst = std::fabs(a[i] - b[i]); where = i; }
  bool sorted = true;
  for (int i = 1; i < N; i++)
    if (a[i] < a[i - 1]) sorted = false;
  bool has = false;
  for (int i = 0; i < N && !has; i++) // @serial
    has = a[i] > 2;
  std::printf("%g %g %d %d %d %d %d %zu %s %d %ld %d %d %g\n", e, s, w.most(), w.reads(), top, hits, ds[3], longest, best.c_str(), v2[5], fs[9], where, sorted + has, rank[3] + z(1, 2) + indeg[3] + worst + prefix[4] + products[1](0, 0));
}
