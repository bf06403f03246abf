// Virtual methods, templates, iterators of one's own, state in objects and closures. Labels as in arrays.c.
#include <cstdio>
#include <memory>
#include <vector>
#include <cmath>
#include <functional>
#include <array>
#include <optional>
struct Node { virtual ~Node() {} virtual double eval(double x) const = 0; virtual int count() { return ++asked; } int asked = 0; };
struct Const : Node { double c; explicit Const(double c) : c(c) {} double eval(double) const override { return c; } };
struct Add : Node { std::unique_ptr<Node> a, b; Add(Node *x, Node *y) : a(x), b(y) {} double eval(double x) const override { return a->eval(x) + b->eval(x); } };
struct Var : Node { double eval(double x) const override { return x; } };
struct Cached : Node { mutable double key = NAN, value = 0; double eval(double x) const override { if (x != key) { key = x; value = std::sqrt(x); } return value; } };
struct Filter { double y = 0, a = 0.9; double operator()(double x) { return y = a * y + (1 - a) * x; } };
struct Range { int lo, hi; struct It { int i; int operator*() const { return i; } It &operator++() { ++i; return *this; } bool operator!=(const It &o) const { return i != o.i; } }; It begin() const { return { lo }; } It end() const { return { hi }; } };
template <class T, int N> struct Matrix { std::array<std::array<T, N>, N> e{}; T &operator()(int i, int j) { return e[i][j]; } const T &operator()(int i, int j) const { return e[i][j]; }
  Matrix operator*(const Matrix &o) const { Matrix r; for (int i = 0; i < N; i++)     // @parallel
      for (int j = 0; j < N; j++)                                                      // @parallel
        for (int k = 0; k < N; k++) r(i, j) += (*this)(i, k) * o(k, j);                // @clauses
    return r; } };
class Stack { int data[64]; int top = 0; public: void push(int x) { data[top++] = x; } int pop() { return data[--top]; } bool empty() const { return top == 0; } };
class Logger { std::array<int, 8> ring{}; unsigned at = 0; public: void log(int x) { ring[at++ % 8] = x; } int last() const { return ring[(at - 1) % 8]; } };
int main() {
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < 12; i++) nodes.emplace_back(i % 2 ? (Node *)new Const(i) : new Add(new Var, new Const(i)));   // @serial
  double ys[40];
  for (int i = 0; i < 40; i++) ys[i] = nodes[i % 12]->eval(i);                         // @parallel
  double sum = 0;
  for (auto &n : nodes) sum += n->eval(2);                                             // @clauses
  int asked = 0;
  for (auto &n : nodes) asked += n->count();                                           // @clauses
  for (int i = 0; i < 40; i++) asked += nodes[i % 12]->count();                        // @serial
  Cached cached;
  for (int i = 0; i < 40; i++) ys[i] += cached.eval(i / 4);                            // @serial
  Filter f;
  for (double &y : ys) y = f(y);                                                       // @serial
  int total = 0;
  for (int i : Range{ 3, 33 }) total += i;                                             // @clauses
  for (int i : Range{ 3, 33 }) ys[i] = i;                                              // @parallel
  Matrix<double, 10> m, p;
  for (int i = 0; i < 10; i++) for (int j = 0; j < 10; j++) m(i, j) = i == j ? 2 : 0.1;   // @parallel
  for (int k = 0; k < 3; k++) { p = m * m; m = p; }                                    // @serial
  double trace = 0;
  for (int i = 0; i < 10; i++) trace += m(i, i);                                       // @clauses
  Stack s;
  for (int i = 0; i < 30; i++) { s.push(i); if (i % 3 == 0) total += s.pop(); }        // @serial
  while (!s.empty()) total += s.pop();                                                 // @serial
  Logger logger;
  for (int i = 0; i < 30; i++) logger.log(i);                                          // @serial
  std::function<int(int)> g = [](int x) { return x * 3; };
  int zs[30];
  for (int i = 0; i < 30; i++) zs[i] = g(i);                                           // @parallel
  int calls = 0;
  std::function<int(int)> h = [&calls](int x) { calls++; return x; };
  for (int i = 0; i < 30; i++) zs[i] += h(i);                                          // @clauses
  auto counter = [n = 0]() mutable { return n++; };
  for (int i = 0; i < 30; i++) zs[i] += counter();                                     // @serial
  std::optional<int> best;
  for (int i = 0; i < 30; i++) if (!best || zs[i] > *best) best = zs[i];               // @serial
  struct Point { double x, y; }; std::vector<Point> pts(30);
  Point mid{ 0, 0 };
  for (auto &q : pts) q = { 1.0, 2.0 };                                                // @parallel
  for (auto &q : pts) { mid.x += q.x; mid.y += q.y; }                                  // @clauses
  std::printf("%g %d %g %d %d %g %d %d\n", sum, asked, trace, total, logger.last(), mid.x, zs[4] + *best, calls);
}
