// Streams of texts, and greatest values that members keep. Labels as in arrays.c.
#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>
struct Stats {
  double sum = 0, most = -1e300;
  long n = 0;
  void add(double x) { sum += x; most = std::max(most, x); ++n; }
};
struct Top {
  double most = -1e300;
  int at = -1;
  void add(double x) { if (x > most) most = x; }
  bool raise(double x) { if (x > most) { most = x; return true; } return false; }
  void keep(double x, int i) { if (x > most) { most = x; at = i; } }
  double raised(double x) { if (x > most) most = x; return most; }
};
static void put(std::ostream &out, int i) { out << i << '\n'; }
int main() {
  const int n = 90;
  std::vector<double> x(n);
  for (int i = 0; i < n; i++) x[i] = i * 37 % 101;                                             /* @parallel */
  Stats all;
  for (int i = 0; i < n; i++) all.add(x[i]);                                                   /* @clauses */
  Top top, raised, kept, seen;
  for (int i = 0; i < n; i++) top.add(x[i]);                                                   /* @clauses */
  int times = 0;
  for (int i = 0; i < n; i++) times += raised.raise(x[i]);                                     /* @serial */
  for (int i = 0; i < n; i++) kept.keep(x[i], i);                                              /* @serial */
  std::vector<double> most(n);
  for (int i = 0; i < n; i++) most[i] = seen.raised(x[i]);                                     /* @serial */
  std::vector<std::string> text(n);
  for (int i = 0; i < n; i++) { std::ostringstream out; out << i << ' ' << x[i]; text[i] = out.str(); }  /* @parallel */
  for (int i = 0; i < n; i++) { std::ostringstream out; out << std::setw(8) << i << std::endl; text[i] += out.str(); }  /* @parallel */
  double sum = 0;
  for (int i = 0; i < n; i++) { std::istringstream in(text[i]); int k; double v; in >> k >> v; sum += v; }  /* @clauses */
  for (int i = 0; i < n; i++) { std::stringstream both; both << i; int k; both >> k; most[k] += 1; }  /* @parallel */
  std::ostringstream joined;
  for (int i = 0; i < n; i++) joined << x[i] << ',';                                           /* @serial */
  std::istringstream parts("1 2 3 4 5 6 7 8 9");
  for (int i = 0; i < 9; i++) parts >> most[i];                                                /* @serial */
  for (int i = 0; i < n; i++) std::cout << x[i] << ' ';                                        /* @serial */
  for (int i = 0; i < n; i++) put(std::cout, i);                                               /* @serial */
  for (int i = 0; i < n; i++) put(joined, i);                                                  /* @serial */
  std::printf("%g %g %g %d %d %g %g %zu %s\n", all.sum, all.most, top.most, times, kept.at, most[3], sum, joined.str().size(),
              text[5].c_str());
  return 0;
}
