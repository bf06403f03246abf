// Loops of small programs as they are written today; labels stand behind them.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
using std::vector;

struct Vec3 {
    double x = 0, y = 0, z = 0;
    Vec3 &operator+=(const Vec3 &o) { x += o.x; y += o.y; z += o.z; return *this; }
    friend Vec3 operator-(Vec3 a, const Vec3 &b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend Vec3 operator*(double s, const Vec3 &b) { return {s * b.x, s * b.y, s * b.z}; }
    double dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
};
struct Body { Vec3 p, v, f; double m; };

template <class T> class Matrix {
    size_t rows_, cols_;
    vector<T> data_;
public:
    Matrix(size_t r, size_t c, T v = T()) : rows_(r), cols_(c), data_(r * c, v) {}
    T &operator()(size_t i, size_t j) { return data_[i * cols_ + j]; }
    const T &operator()(size_t i, size_t j) const { return data_[i * cols_ + j]; }
    size_t rows() const { return rows_; }
    size_t cols() const { return cols_; }
    std::span<T> row(size_t i) { return {data_.data() + i * cols_, cols_}; }
};

static void nbody(vector<Body> &b) {
    for (int step = 0; step < 3; step++) { // @serial
        for (size_t i = 0; i < b.size(); i++) { // @parallel
            Vec3 f;
            for (size_t j = 0; j < b.size(); j++) { // @clauses
                if (i == j) continue;
                Vec3 d = b[j].p - b[i].p;
                double r2 = d.dot(d) + 1e-9;
                f += (b[i].m * b[j].m / (r2 * std::sqrt(r2))) * d;
            }
            b[i].f = f;
        }
        for (auto &x : b) { // @parallel
            x.v += (0.01 / x.m) * x.f;
            x.p += 0.01 * x.v;
        }
    }
}
static void nbody_sym(vector<Body> &b) {
    for (size_t i = 0; i < b.size(); i++) // @clauses
        for (size_t j = i + 1; j < b.size(); j++) { // @clauses
            Vec3 d = b[j].p - b[i].p;
            double r2 = d.dot(d) + 1e-9;
            Vec3 f = (1.0 / r2) * d;
            b[i].f += f;
            b[j].f += -1.0 * f;
        }
}
static double kmeans(const vector<double> &xs, vector<double> &c, vector<int> &assign) {
    double inertia = 0;
    for (int it = 0; it < 4; it++) { // @serial
        inertia = 0;
        for (size_t i = 0; i < xs.size(); i++) { // @clauses
            int best = 0;
            double bd = 1e300;
            for (size_t k = 0; k < c.size(); k++) { // @serial
                double d = std::abs(xs[i] - c[k]);
                if (d < bd) { bd = d; best = (int)k; }
            }
            assign[i] = best;
            inertia += bd * bd;
        }
        vector<double> sum(c.size());
        vector<int> n(c.size());
        for (size_t i = 0; i < xs.size(); i++) { // @clauses
            sum[assign[i]] += xs[i];
            n[assign[i]]++;
        }
        for (size_t k = 0; k < c.size(); k++) // @parallel
            if (n[k]) c[k] = sum[k] / n[k];
    }
    return inertia;
}
static void lu(Matrix<double> &a) {
    size_t n = a.rows();
    for (size_t k = 0; k < n; k++) // @serial
        for (size_t i = k + 1; i < n; i++) { // @parallel
            a(i, k) /= a(k, k);
            for (size_t j = k + 1; j < n; j++) // @parallel
                a(i, j) -= a(i, k) * a(k, j);
        }
}
static void floyd(Matrix<int> &d) {
    size_t n = d.rows();
    for (size_t k = 0; k < n; k++) // @serial
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                d(i, j) = std::min(d(i, j), d(i, k) + d(k, j));
}
static int mandel(int w, int h, vector<unsigned char> &img) {
    int total = 0;
    for (int y = 0; y < h; y++) // @clauses
        for (int x = 0; x < w; x++) { // @clauses
            std::complex<double> z, c(-2.0 + 3.0 * x / w, -1.0 + 2.0 * y / h);
            int n = 0;
            while (n < 50 && std::norm(z) < 4) { // @serial
                z = z * z + c;
                n++;
            }
            img[y * w + x] = (unsigned char)n;
            total += n;
        }
    return total;
}
static double pi_mt(int n) {
    std::mt19937 g(42);
    std::uniform_real_distribution<double> u(0, 1);
    int in = 0;
    for (int i = 0; i < n; i++) { // @serial
        double x = u(g), y = u(g);
        if (x * x + y * y < 1) in++;
    }
    return 4.0 * in / n;
}
static void spmv(const vector<int> &ptr, const vector<int> &col, const vector<double> &val, const vector<double> &x, vector<double> &y) {
    for (size_t i = 0; i + 1 < ptr.size(); i++) { // @parallel
        double s = 0;
        for (int k = ptr[i]; k < ptr[i + 1]; k++) // @clauses
            s += val[k] * x[col[k]];
        y[i] = s;
    }
}
static void life(const Matrix<char> &a, Matrix<char> &b) {
    for (size_t i = 1; i + 1 < a.rows(); i++) // @parallel
        for (size_t j = 1; j + 1 < a.cols(); j++) { // @parallel
            int n = 0;
            for (int di = -1; di <= 1; di++) // @clauses
                for (int dj = -1; dj <= 1; dj++) // @clauses
                    if (di || dj) n += a(i + di, j + dj);
            b(i, j) = n == 3 || (n == 2 && a(i, j));
        }
}
static int lcs(const std::string &a, const std::string &b) {
    vector<vector<int>> t(a.size() + 1, vector<int>(b.size() + 1));
    for (size_t i = 1; i <= a.size(); i++) // @serial
        for (size_t j = 1; j <= b.size(); j++) // @serial
            if (a[i - 1] == b[j - 1]) t[i][j] = t[i - 1][j - 1] + 1;
            else t[i][j] = std::max(t[i - 1][j], t[i][j - 1]);
    return t[a.size()][b.size()];
}
static int sieve(int n) {
    vector<bool> comp(n + 1);
    for (int i = 2; i * i <= n; i++) // @serial
        if (!comp[i])
            for (int j = i * i; j <= n; j += i)
                comp[j] = true;
    int count = 0;
    for (int i = 2; i <= n; i++) // @clauses
        count += !comp[i];
    return count;
}
static int bfs(const vector<vector<int>> &g) {
    vector<int> dist(g.size(), -1);
    std::queue<int> q;
    q.push(0);
    dist[0] = 0;
    while (!q.empty()) { // @serial
        int u = q.front();
        q.pop();
        for (int v : g[u]) // @serial
            if (dist[v] < 0) {
                dist[v] = dist[u] + 1;
                q.push(v);
            }
    }
    int far = 0;
    for (int d : dist) far = std::max(far, d); // @clauses
    return far;
}
static void conv(const vector<float> &in, vector<float> &out, std::array<float, 5> k) {
    for (size_t i = 2; i + 2 < in.size(); ++i) { // @parallel
        float s = 0;
        for (int t = -2; t <= 2; ++t) s += in[i + t] * k[t + 2]; // @clauses
        out[i] = s;
    }
}
static std::unordered_map<std::string, int> words(const vector<std::string> &ws) {
    std::unordered_map<std::string, int> m;
    for (const auto &w : ws) m[w]++; // @serial
    return m;
}
static double lambda_sum(const vector<double> &v) {
    double s = 0;
    auto add = [&](double x) { s += x; };
    for (double x : v) add(x); // @clauses
    return s;
}
static double fn_sum(const vector<double> &v, const std::function<double(double)> &f) {
    double s = 0;
    for (double x : v) s += f(x); // @clauses
    return s;
}
static std::pair<double, double> minmax(const vector<double> &v) {
    std::pair<double, double> r{1e300, -1e300};
    for (double x : v) { // @clauses
        r.first = std::min(r.first, x);
        r.second = std::max(r.second, x);
    }
    return r;
}
static vector<int> squares(int n) {
    vector<int> out;
    for (int i = 0; i < n; i++) out.push_back(i * i); // @serial
    return out;
}
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Circle : Shape { double r; explicit Circle(double r) : r(r) {} double area() const override { return 3.14159 * r * r; } };
struct Rect : Shape { double a, b; Rect(double a, double b) : a(a), b(b) {} double area() const override { return a * b; } };
static double areas(const vector<std::unique_ptr<Shape>> &s) {
    double t = 0;
    for (const auto &p : s) t += p->area(); // @clauses
    return t;
}
using Var = std::variant<int, double>;
static double variants(const vector<Var> &vs) {
    double t = 0;
    for (const auto &v : vs) // @clauses
        t += std::visit([](auto x) { return (double)x; }, v);
    return t;
}
static void rows(Matrix<double> &m) {
    for (size_t i = 0; i < m.rows(); i++) { // @parallel
        auto r = m.row(i);
        double s = std::accumulate(r.begin(), r.end(), 0.0);
        std::transform(r.begin(), r.end(), r.begin(), [s](double x) { return x / (s + 1); });
    }
}
static void strings(vector<std::string> &ss) {
    for (auto &s : ss) { // @parallel
        std::string t(s.rbegin(), s.rend());
        s = t + "!";
    }
}
static size_t lengths(const vector<std::string> &ss) {
    size_t n = 0;
    for (std::string_view s : ss) n += s.size(); // @clauses
    return n;
}
static unsigned hash_all(const vector<int> &v) {
    unsigned h = 2166136261u;
    for (int x : v) { h ^= (unsigned)x; h *= 16777619u; } // @serial
    return h;
}
static unsigned xor_all(const vector<int> &v) {
    unsigned h = 0;
    for (int x : v) h ^= (unsigned)x * 2654435761u; // @clauses
    return h;
}
static bool any_neg(const vector<int> &v) {
    bool any = false;
    for (int x : v) any |= x < 0; // @clauses
    return any;
}
static bool all_pos(const vector<int> &v) {
    bool ok = true;
    for (int x : v) ok = ok && x >= 0; // @clauses
    return ok;
}
static int find_first(const vector<int> &v, int key) {
    for (size_t i = 0; i < v.size(); i++) // @serial
        if (v[i] == key) return (int)i;
    return -1;
}
static void jacobi(Matrix<double> &a, Matrix<double> &b) {
    for (int it = 0; it < 4; it++) { // @serial
        double err = 0;
        for (size_t i = 1; i + 1 < a.rows(); i++) // @clauses
            for (size_t j = 1; j + 1 < a.cols(); j++) { // @clauses
                b(i, j) = 0.25 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1));
                err = std::max(err, std::fabs(b(i, j) - a(i, j)));
            }
        std::swap(a, b);
    }
}
static void gs(Matrix<double> &a) {
    for (size_t i = 1; i + 1 < a.rows(); i++) // @serial
        for (size_t j = 1; j + 1 < a.cols(); j++) // @serial
            a(i, j) = 0.25 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1));
}
static void prefix(vector<int> &v) {
    for (size_t i = 1; i < v.size(); i++) v[i] += v[i - 1]; // @serial
}
static std::tuple<int, int> two(const vector<int> &v) {
    int odd = 0, even = 0;
    for (auto it = v.begin(); it != v.end(); ++it) { // @clauses
        if (*it % 2) odd++;
        else even++;
    }
    return {odd, even};
}
static void perm(const vector<int> &idx, const vector<double> &a, vector<double> &b) {
    for (size_t i = 0; i < idx.size(); i++) b[idx[i]] = a[i];
}
static void tri(Matrix<double> &a) {
    for (size_t i = 0; i < a.rows(); i++) // @parallel
        for (size_t j = 0; j < i; j++) // @parallel
            a(i, j) = a(j, i);
}
static double simpson(int n) {
    double h = 1.0 / n, s = 0;
    for (int i = 1; i < n; i++) s += (i & 1 ? 4 : 2) * std::exp(-(i * h) * (i * h)); // @clauses
    return s * h / 3;
}
static double horner(const vector<double> &c, double x) {
    double r = 0;
    for (auto it = c.rbegin(); it != c.rend(); ++it) r = r * x + *it; // @serial
    return r;
}
static double power(int n) {
    double p = 1;
    for (int i = 1; i <= n; i++) p *= 1.0 + 1.0 / (i * i); // @clauses
    return p;
}
static int collatz(int n) {
    int longest = 0;
    for (int i = 1; i < n; i++) { // @clauses
        long x = i;
        int len = 0;
        while (x != 1) { // @serial
            x = x % 2 ? 3 * x + 1 : x / 2;
            len++;
        }
        longest = std::max(longest, len);
    }
    return longest;
}
static void hist(const vector<unsigned char> &img, std::array<int, 256> &h) {
    for (auto p : img) ++h[p]; // @clauses
}
static void print(const vector<int> &v) {
    for (int x : v) std::printf("%d ", x); // @serial
    std::puts("");
}
static void transpose(const Matrix<double> &a, Matrix<double> &b) {
    for (size_t i = 0; i < a.rows(); i++) // @parallel
        for (size_t j = 0; j < a.cols(); j++) // @parallel
            b(j, i) = a(i, j);
}
static double frob(const Matrix<double> &a) {
    double s{};
    for (size_t i = 0; i < a.rows(); i++) // @clauses
        for (size_t j = 0; j < a.cols(); j++) // @clauses
            s += a(i, j) * a(i, j);
    return std::sqrt(s);
}
static double worst_row(const Matrix<double> &a) {
    double w = 0;
    for (size_t i = 0; i < a.rows(); i++) { // @clauses
        double s = 0;
        for (size_t j = 0; j < a.cols(); j++) s += std::abs(a(i, j)); // @clauses
        if (s > w) w = s;
    }
    return w;
}
static int count_if_opt(const vector<std::optional<int>> &v) {
    int n = 0;
    for (const auto &o : v) // @clauses
        if (o && *o > 3) ++n;
    return n;
}
static void bubble(vector<int> &v) {
    for (size_t i = 0; i < v.size(); i++) // @serial
        for (size_t j = 0; j + 1 < v.size() - i; j++) // @serial
            if (v[j] > v[j + 1]) std::swap(v[j], v[j + 1]);
}
static void oddeven(vector<int> &v) {
    for (size_t p = 0; p < v.size(); p++) // @serial
        for (size_t j = p % 2; j + 1 < v.size(); j += 2) // @parallel
            if (v[j] > v[j + 1]) std::swap(v[j], v[j + 1]);
}
static void sort_rows(vector<vector<int>> &vv) {
    for (auto &v : vv) std::sort(v.begin(), v.end()); // @parallel
}
static std::pair<int, int> totals(const vector<int> &v) {
    std::pair<int, int> r{1000, -1000};
    for (int x : v) { // @clauses
        r.first += x;
        r.second = std::max(r.second, x);
    }
    return r;
}
static vector<std::pair<int, int>> pairs(const vector<int> &v) {
    vector<std::pair<int, int>> r(v.size());
    for (size_t i = 0; i < v.size(); i++) { // @parallel
        r[i].first += v[i];
        r[i].second = std::max(r[i].second, v[i]);
    }
    return r;
}
static std::pair<int, int> follow(const vector<int> &v) {
    std::pair<int, int> r{0, 0};
    for (int x : v) { // @serial
        r.first = r.second + x;
        r.second = r.first / 2;
    }
    return r;
}
int main() {
    std::mt19937 g(1);
    vector<Body> b(12);
    for (auto &x : b) { x.p = {g() % 100 / 10., g() % 100 / 10., g() % 100 / 10.}; x.m = 1 + g() % 3; }
    nbody(b); nbody_sym(b);
    vector<double> xs(60), c{1, 5, 9}; vector<int> as(60);
    for (auto &x : xs) x = g() % 1000 / 100.0;
    double k = kmeans(xs, c, as);
    Matrix<double> m(10, 10), m2(10, 10);
    for (size_t i = 0; i < 10; i++) for (size_t j = 0; j < 10; j++) m(i, j) = i == j ? 20 : (i * 7 + j * 3) % 5;
    lu(m); jacobi(m, m2); gs(m); tri(m); transpose(m, m2); rows(m);
    Matrix<int> d(8, 8, 50); for (int i = 0; i < 8; i++) d(i, (i + 1) % 8) = i + 1;
    floyd(d);
    vector<unsigned char> img(20 * 10); int t = mandel(20, 10, img);
    std::array<int, 256> h{}; hist(img, h);
    double pi = pi_mt(100);
    vector<int> ptr{0, 2, 4, 7, 9}, col{0, 1, 1, 2, 0, 2, 3, 1, 3}; vector<double> val(9, 1.5), x(4, 2), y(4);
    spmv(ptr, col, val, x, y);
    Matrix<char> l1(8, 8), l2(8, 8); for (int i = 0; i < 30; i++) l1(g() % 8, g() % 8) = 1; life(l1, l2);
    int l = lcs("kitten sitting", "sitting kitten"); int s = sieve(200);
    vector<vector<int>> gr(10); for (int i = 0; i < 10; i++) { gr[i].push_back((i * 3 + 1) % 10); gr[i].push_back((i + 1) % 10); }
    int f = bfs(gr);
    vector<float> in(40, 1.f), out(40); conv(in, out, {1, 2, 3, 2, 1});
    vector<std::string> ws{"a", "b", "a", "c", "bb", "a", "b"}; auto wm = words(ws);
    double ls = lambda_sum(xs), fs = fn_sum(xs, [](double q) { return q * q; }); auto mm = minmax(xs);
    auto sq = squares(20);
    vector<std::unique_ptr<Shape>> sh; for (int i = 0; i < 8; i++) { if (i % 2) sh.push_back(std::make_unique<Circle>(i)); else sh.push_back(std::make_unique<Rect>(i, 2)); }
    double ar = areas(sh); vector<Var> vs{1, 2.5, 3, 4.5}; double va = variants(vs);
    strings(ws); size_t le = lengths(ws);
    unsigned h1 = hash_all(sq), h2 = xor_all(sq); bool an = any_neg(sq), al = all_pos(sq); int ff = find_first(sq, 100);
    prefix(sq); auto [o, e] = two(sq);
    vector<int> idx(20); std::iota(idx.begin(), idx.end(), 0); std::shuffle(idx.begin(), idx.end(), g); vector<double> pb(20); perm(idx, xs, pb);
    double si = simpson(50), ho = horner(xs, 0.5), po = power(20); int co = collatz(30);
    print(idx); double fr = frob(m), wr = worst_row(m);
    vector<std::optional<int>> op{1, std::nullopt, 5, 7}; int ci = count_if_opt(op);
    bubble(idx); std::shuffle(idx.begin(), idx.end(), g); oddeven(idx);
    vector<vector<int>> vv(5, vector<int>{3, 1, 2, 9, 7}); sort_rows(vv);
    auto tt = totals(idx), fw = follow(idx);
    auto ps = pairs(idx);
    std::printf("%d %d %d\n", tt.second, fw.first, ps[3].second);
    std::printf("%g %g %d %g %d %d %d %g %g %g %g %g %zu %u %u %d %d %d %d %d %g %g %g %d %g %g %d %zu %g\n", k, pi, t, y[1], l, s, f, ls, fs, mm.first, ar, va, le, h1, h2, an, al, ff, o, e, si, ho, po, co, fr, wr, ci, wm.size(), out[5] + pb[3]);
}
