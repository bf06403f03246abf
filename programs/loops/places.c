/* Places of one array that each have an operator of their own, and those that only seem to. Labels as in arrays.c. */
#include <stdio.h>
enum { N = 200 };
static double d[N], r[4], out[N];
static long counts[3];
struct summary { double of[3]; long n; };
static void all(double *s, const double *x, int n) {
  for (int i = 0; i < n; i++) {                                               /* @clauses */
    s[0] += x[i];
    s[1] = x[i] > s[1] ? x[i] : s[1];
    if (x[i] < s[2]) s[2] = x[i];
  }
}
static void at(double *s, int a, int b, const double *x) {
  for (int i = 0; i < N; i++) { s[a] += x[i]; if (x[i] > s[b]) s[b] = x[i]; } /* @clauses */
}
static void one(double *s, int a, int b, const double *x) {
  for (int i = 0; i < N; i++) { s[a] += x[i]; s[b] *= 1.001; }                /* @serial */
}
static void into(struct summary *s, const double *x) {
  for (int i = 0; i < N; i++) {                                               /* @clauses */
    s->of[0] += x[i];
    s->of[1] = s->of[1] < x[i] ? x[i] : s->of[1];
    s->n++;
  }
}
int main(void) {
  for (int i = 0; i < N; i++) d[i] = (i * 7919) % 211;                        /* @parallel */
  for (int i = 0; i < N; i++) { r[0] += d[i]; if (d[i] > r[1]) r[1] = d[i]; } /* @clauses */
  double s[4] = {0, -1, 1e9}, q[3] = {0, 1, 0};
  all(s, d, N);
  at(s, 3, 1, d);
  one(q, 2, 2, d);
  for (int i = 0; i < N; i++) { q[0] += d[i]; q[1] = q[1] > q[0] ? q[1] : q[0]; } /* @serial */
  for (int i = 0; i < N; i++) { q[0] += d[i]; q[1] *= 1.001; out[i] = q[0]; }     /* @serial */
  for (int i = 0; i < N; i++) { q[0] += d[i]; q[0] = q[0] > 5 ? q[0] : 5; }       /* @serial */
  for (int i = 0; i < N; i++) { counts[0]++; counts[1] |= (long)d[i]; counts[2] ^= i; } /* @clauses */
  for (int i = 0; i < N; i++) { counts[0]++; counts[i % 3] |= (long)d[i]; }       /* @serial */
  struct summary t = {{0, 0, 0}, 0};
  into(&t, d);
  printf("%g %g %g %g %g %g %g %ld %g %g %ld\n", r[0], r[1], s[1], s[3], q[0], q[1], q[2], counts[0] + counts[1] + counts[2], out[3], t.of[1], t.n);
  return 0;
}
