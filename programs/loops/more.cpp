// Loops of C++ over containers, with lambdas and algorithms. A label says what a careful reader finds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

struct Cell {
  double value = 0;
  int hits = 0;
  void hit(double by) { value += by; hits++; }
};

static double clamp(double x) { return std::min(std::max(x, 0.0), 10.0); }

static double values(std::vector<double> &v, std::vector<double> &w) {
  for (std::size_t i = 0; i < v.size(); i++) v[i] = i * 0.25; // @parallel
  for (double &x : v) x = clamp(x); // @parallel
  for (std::size_t i = 1; i < v.size(); ++i) v[i] += v[i - 1]; // @serial
  double high = 0, low = 1e9, total = 0;
  for (std::size_t i = 0; i < v.size(); i++) high = std::max({high, v[i], w[i]}); // @clauses
  for (std::size_t i = 0; i < v.size(); i++) low = std::min({low, v[i], w[i], 3.0}); // @clauses
  for (double x : v) total += std::fabs(x); // @clauses
  for (auto it = v.begin(); it != v.end(); ++it) *it *= 2; // @parallel
  for (auto it = w.rbegin(); it != w.rend(); ++it) *it += 1; // @parallel
  for (std::size_t i = 0; i + 1 < v.size(); i++) std::swap(v[i], v[i + 1]); // @serial
  for (std::size_t i = 0; i < v.size() / 2; i++) std::swap(v[i], v[v.size() - 1 - i]); // @parallel
  return high + low + total;
}

static double cells(std::vector<Cell> &all) {
  for (auto &cell : all) cell.hit(2); // @parallel
  for (std::size_t i = 0; i < all.size(); i++) all[i % 5].hit(1); // @clauses
  double scale = 1.5, sum = 0;
  auto weigh = [&](const Cell &cell) { return cell.value * scale; };
  for (const auto &cell : all) sum += weigh(cell); // @clauses
  auto next = [&] { return scale *= 1.01; };
  for (auto &cell : all) cell.value = next(); // @serial
  std::vector<Cell> picked;
  for (const auto &cell : all) if (cell.hits > 3) picked.push_back(cell); // @serial
  for (std::size_t i = 1; i < all.size(); i++) all[i] = all[i - 1]; // @serial
  return sum + picked.size();
}

static double arrays(std::array<std::array<int, 20>, 20> &m) {
  for (auto &row : m) // @parallel
    std::fill(row.begin(), row.end(), 1);
  for (std::size_t i = 0; i < m.size(); i++) // @parallel
    for (std::size_t j = 0; j < m[i].size(); j++) m[i][j] += i * j; // @parallel
  std::pair<int, int> best{0, 0};
  for (const auto &row : m) // @serial
    for (int x : row) if (x > best.first) best = {x, x % 7}; // @serial
  std::array<int, 20> sums{};
  for (std::size_t i = 0; i < m.size(); i++) sums[i] = std::accumulate(m[i].begin(), m[i].end(), 0); // @parallel
  for (std::size_t i = 0; i < m.size(); i++) { // @parallel
    std::array<int, 20> copy = m[i];
    std::sort(copy.begin(), copy.end());
    m[i][0] = copy[10];
  }
  return best.second + sums[4];
}

int main() {
  std::vector<double> v(40), w(40, 2.5);
  std::vector<Cell> all(30);
  std::array<std::array<int, 20>, 20> m;
  double result = values(v, w) + cells(all) + arrays(m);
  std::printf("%g\n", result + v[3] + w[4] + all[7].value + m[3][0]);
}
