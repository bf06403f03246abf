/* Counters that are real numbers: their sums are rounded on the way, so that no product gives the same. Labels as in arrays.c. */
#include <stdio.h>
#include <math.h>
static double f[200]; static float g[64];
static double fun(double x) { return x * x - 2; }
int main(void) {
  double area = 0, h = 0.05;
  for (double x = 0; x < 1; x += h) area += fun(x) * h;            /* @serial */
  int n = 0;
  for (double x = 0; x < 4; x += 0.25) { f[n] = fun(x); n++; }      /* @serial */
  for (float t = 1; t > 0.1f; t -= 0.1f) g[(int)(t * 10)] = t;      /* @serial */
  double x = 1;
  for (int i = 0; i < 20; i++) x = x - fun(x) / (2 * x);            /* @serial */
  double y = 3;
  for (int i = 0; i < 30; i++) { f[i] = y; y += 0.5; }              /* @serial */
  double z = 1;
  for (int i = 0; i < 30; i++) { f[i] = z; z *= 1.5; }              /* @serial */
  double lo = 0, hi = 2;
  while (hi - lo > 1e-6) { double mid = (lo + hi) / 2; if (fun(mid) < 0) lo = mid; else hi = mid; } /* @serial */
  double w = 0;
  for (int i = 0; i < 30; i++) { w += f[i] > 2 ? 1 : 0; }           /* @clauses */
  printf("%g %g %g %g %g %d\n", area, x, y, z + w, lo, n);
  return 0;
}
