// Classes, algorithms, containers, strings, exceptions. Labels as in arrays.c.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
constexpr int N = 40;
struct Animal { int legs = 4; int fed = 0; virtual ~Animal() = default; virtual int noise(int i) const { return i; } virtual void feed() { fed++; } };
struct Dog : Animal { int noise(int i) const override { return 2 * i + legs; } };
struct Bird : Animal { static int songs; Bird() { legs = 2; } int noise(int i) const override { return ++songs + i; } void feed() override { fed += 2; } };
int Bird::songs = 0;
class Account {
  double balance_ = 0;
  std::vector<double> log_;
public:
  void put(double x) { balance_ += x; log_.push_back(x); }
  void add(double x) { balance_ += x; }
  double balance() const { return balance_; }
  double at(std::size_t i) const { return log_[i]; }
};
template <class T, int M> class Grid {
  T cells[M][M] = {};
public:
  T &at(int i, int j) { return cells[i][j]; }
  const T &get(int i, int j) const { return cells[i][j]; }
  void set(int i, int j, T v) { cells[i][j] = v; }
  T row(int i) const { T s = 0; for (int j = 0; j < M; j++) s += cells[i][j]; return s; } // @clauses
};
struct Vec3 { double x, y, z; Vec3 operator+(const Vec3 &o) const { return {x + o.x, y + o.y, z + o.z}; } Vec3 &operator+=(const Vec3 &o) { x += o.x; y += o.y; z += o.z; return *this; } double dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; } };
class Random { unsigned s; public: explicit Random(unsigned x) : s(x) {} unsigned operator()() { s = s * 1664525u + 1013904223u; return s; } };

static void classes() {
  std::vector<std::unique_ptr<Animal>> zoo;
  for (int i = 0; i < N; i++) // @serial
    zoo.push_back(i % 2 ? std::unique_ptr<Animal>(new Dog) : std::unique_ptr<Animal>(new Animal));
  int total = 0;
  for (int i = 0; i < N; i++) // @clauses
    total += zoo[i]->noise(i);
  for (auto &each : zoo) // @parallel
    each->feed();
  zoo[3] = std::make_unique<Bird>();
  zoo[5] = std::make_unique<Bird>();
  for (auto &each : zoo) // @serial
    total ^= each->noise(1);
  Account a;
  for (int i = 0; i < N; i++) // @serial
    a.put(i);
  Account b;
  for (int i = 0; i < N; i++) // @clauses
    b.add(a.at(i));
  std::vector<Account> all(N);
  for (int i = 0; i < N; i++) // @parallel
    all[i].add(i);
  for (auto &x : all) // @parallel
    x.put(x.balance());
  double sum = 0;
  for (const auto &x : all) // @clauses
    sum += x.balance();
  static Grid<double, 20> g, h;
  for (int i = 0; i < 20; i++) // @parallel
    for (int j = 0; j < 20; j++) // @parallel
      g.set(i, j, i * j);
  for (int i = 1; i < 19; i++) // @parallel
    for (int j = 1; j < 19; j++) // @parallel
      h.at(i, j) = g.get(i - 1, j) + g.get(i, j + 1);
  for (int i = 1; i < 20; i++) // @serial
    for (int j = 0; j < 20; j++) // @parallel
      h.at(i, j) += h.at(i - 1, j);
  double rows[20];
  for (int i = 0; i < 20; i++) // @parallel
    rows[i] = h.row(i);
  std::vector<Vec3> p(N), q(N);
  for (int i = 0; i < N; i++) // @parallel
    p[i] = {1.0 * i, 2.0 * i, 3.0};
  for (int i = 0; i < N; i++) // @parallel
    q[i] = p[i] + p[N - 1 - i];
  Vec3 c{0, 0, 0};
  for (const auto &v : q) // @clauses
    c += v;
  double dots = 0;
  for (int i = 0; i < N; i++) // @clauses
    dots += p[i].dot(q[i]);
  Random r(5);
  for (int i = 0; i < N; i++) // @serial
    p[i].x = r() % 7;
  for (int i = 0; i < N; i++) { // @parallel
    Random own(i);
    p[i].y = own() % 7;
  }
  std::printf("%d %g %g %g %g\n", total, sum, rows[4], dots, c.x + p[3].x);
}
static void algorithms() {
  std::vector<int> v(N), w(N), u;
  std::iota(v.begin(), v.end(), 3);
  for (int i = 0; i < N; i++) // @parallel
    w[i] = std::accumulate(v.begin(), v.begin() + i, 0);
  for (int i = 0; i < N; i++) // @parallel
    w[i] = *std::max_element(v.begin(), v.end()) - i;
  int cnt = 0;
  for (int i = 0; i < N; i++) // @clauses
    cnt += std::count(v.begin(), v.end(), i);
  for (int i = 0; i < N; i++) // @parallel
    w[i] = std::binary_search(v.begin(), v.end(), i * 3);
  for (int i = 0; i < N; i++) { // @parallel
    auto it = std::lower_bound(v.begin(), v.end(), i);
    w[i] = it == v.end() ? -1 : *it;
  }
  std::vector<std::vector<int>> rows(12, std::vector<int>(16));
  for (auto &row : rows) // @parallel
    std::iota(row.begin(), row.end(), 1);
  for (auto &row : rows) // @parallel
    std::reverse(row.begin(), row.end());
  for (auto &row : rows) // @parallel
    std::sort(row.begin(), row.end());
  for (auto &row : rows) // @parallel
    std::transform(row.begin(), row.end(), row.begin(), [](int x) { return 3 * x; });
  for (std::size_t i = 1; i < rows.size(); i++) // @serial
    std::transform(rows[i].begin(), rows[i].end(), rows[i - 1].begin(), rows[i].begin(), std::plus<int>());
  for (std::size_t i = 0; i < rows.size(); i++) // @parallel
    rows[i].assign(5, int(i));
  for (std::size_t i = 0; i < rows.size(); i++) // @serial
    std::copy(rows[i].begin(), rows[i].end(), std::back_inserter(u));
  for (int x : v | std::views::filter([](int k) { return k % 2; }))
    cnt += x;
  for (int i : std::views::iota(0, N)) // @parallel
    w[i] = i;
  std::function<int(int)> f = [&](int i) { return v[i] * 2; };
  for (int i = 0; i < N; i++) // @parallel
    w[i] = f(i);
  int state = 0;
  std::function<int(int)> g = [&state](int i) { return state += i; };
  for (int i = 0; i < N; i++) // @serial
    w[i] = g(i);
  auto h = [n = 0](int x) mutable { return n += x; };
  for (int i = 0; i < N; i++) // @serial
    w[i] = h(i);
  std::span<int> s(w);
  for (int &x : s) // @parallel
    x++;
  for (std::size_t i = 0; i < s.size(); i++) // @parallel
    s[i] = v[i];
  auto view = s.subspan(3, 20);
  for (std::size_t i = 0; i < view.size(); i++) // @serial
    view[i] = s[i] + 1;
  std::for_each(v.begin(), v.end(), [](int &x) { x *= 2; });
  std::printf("%d %d %zu\n", cnt, w[5], u.size());
}
static void containers() {
  std::map<int, int> m;
  for (int i = 0; i < N; i++) // @serial
    m[i % 9] += i;
  std::unordered_map<int, int> um;
  for (int i = 0; i < N; i++) // @serial
    um[i] = i;
  int s = 0;
  for (auto &[k, v] : m) // @serial
    s += k * v;
  int t = 0;
  for (int i = 0; i < N; i++) // @clauses
    if (auto it = m.find(i); it != m.end()) t += it->second;
  int found = 0;
  for (int i = 0; i < N; i++) // @clauses
    found += um.count(i * 2);
  std::set<int> seen;
  for (int i = 0; i < N; i++) // @serial
    seen.insert(i * i % 17);
  std::list<int> l;
  for (int i = 0; i < N; i++) // @serial
    l.push_front(i);
  for (int &x : l) // @serial
    x += 1;
  std::deque<int> d(N);
  for (int i = 0; i < N; i++) // @parallel
    d[i] = i * 2;
  for (int i = 1; i < N; i++) // @serial
    d[i] += d[i - 1];
  std::vector<std::map<int, int>> maps(10);
  for (int i = 0; i < 10; i++) // @parallel
    for (int k = 0; k < 5; k++) maps[i][k] = i * k; // @serial
  std::vector<bool> bits(N);
  for (int i = 0; i < N; i++) // @serial
    bits[i] = i % 3 == 0;
  std::array<std::array<double, 8>, 8> a{};
  for (auto &row : a) // @parallel
    for (auto &x : row) // @parallel
      x = 1.5;
  std::vector<std::pair<int, double>> pairs(N);
  for (int i = 0; i < N; i++) // @parallel
    pairs[i] = {i, i * 0.5};
  double w = 0;
  for (auto [i, x] : pairs) // @clauses
    w += i * x;
  std::vector<std::tuple<int, int, int>> tuples(N);
  for (int i = 0; i < N; i++) // @parallel
    std::get<1>(tuples[i]) = i;
  std::vector<std::optional<int>> maybe(N);
  for (int i = 0; i < N; i++) // @parallel
    if (i % 2) maybe[i] = i;
  int present = 0;
  for (auto &o : maybe) // @clauses
    if (o) present += *o;
  std::vector<std::variant<int, double>> vars(N);
  for (int i = 0; i < N; i++) // @parallel
    if (i % 2) vars[i] = i; else vars[i] = 0.5 * i;
  std::vector<std::shared_ptr<int>> sp(N);
  for (int i = 0; i < N; i++) // @parallel
    sp[i] = std::make_shared<int>(i);
  auto shared = std::make_shared<int>(0);
  for (int i = 0; i < N; i++) // @clauses
    *shared += *sp[i];
  std::printf("%d %d %d %g %d %d %d\n", s, t, found, w, present, *shared, d[4]);
}
static void strings() {
  std::vector<std::string> words;
  for (int i = 0; i < N; i++) // @serial
    words.push_back("word" + std::to_string(i));
  std::size_t length = 0;
  for (const auto &w : words) // @clauses
    length += w.size();
  for (auto &w : words) // @parallel
    w += "!";
  for (auto &w : words) // @parallel
    w[0] = 'W';
  std::string all;
  for (const auto &w : words) // @serial
    all += w;
  int vowels = 0;
  for (char c : all) // @clauses
    if (std::strchr("aeiou", c)) vowels++;
  for (auto &c : all) // @parallel
    if (c == 'o') c = '0';
  for (std::size_t i = 1; i < all.size(); i++) // @serial
    all[i] = all[i - 1] == '!' ? '?' : all[i];
  std::vector<std::string> copy(words.size());
  for (std::size_t i = 0; i < words.size(); i++) // @parallel
    copy[i] = words[i];
  for (std::size_t i = 0; i < words.size(); i++) // @parallel
    copy[i] = words[i].substr(1, 3);
  std::string_view view(all);
  int q = 0;
  for (std::size_t i = 0; i < view.size(); i++) // @clauses
    q += view[i] == '?';
  std::ostringstream out;
  for (int i = 0; i < 5; i++) // @serial
    out << i << ',';
  std::vector<int> parsed(N);
  for (int i = 0; i < N; i++) // @parallel
    parsed[i] = std::stoi(words[i].substr(4));
  std::printf("%zu %d %d %s %d\n", length, vowels, q, out.str().c_str(), parsed[7]);
}
static int checked(int i) { if (i % 7 == 3) throw std::runtime_error("seven"); return i; }
static void exceptions() {
  std::vector<int> v(N);
  int bad = 0;
  for (int i = 0; i < N; i++) { // @clauses
    try { v[i] = checked(i); } catch (const std::exception &) { bad++; }
  }
  for (int i = 0; i < N; i++) { // @parallel
    try { v.at(i) = checked(i); } catch (...) { v[i] = -1; }
  }
  try {
    for (int i = 0; i < N; i++)
      v[i] = checked(i);
  } catch (const std::runtime_error &) { bad += 100; }
  int tries = 0;
  for (int i = 0; i < N; i++) { // @clauses
    try { if (tries++ % 3 == 0) throw i; v[i] = 0; } catch (int k) { v[k] = k; }
  }
  std::printf("%d %d\n", bad, v[5]);
}
int main() { classes(); algorithms(); containers(); strings(); exceptions(); }
