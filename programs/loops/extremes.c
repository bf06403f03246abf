/* Least and greatest values: in called functions, through pointers, in members; sums that correct themselves. Labels as in arrays.c. */
#include <stdio.h>
#include <float.h>
enum { N = 100 };
struct box { double lo, hi; int count; long hist[8]; };
static double data[N];
static double best = -DBL_MAX; static int arg;
static double maxd(double a, double b) { return a > b ? a : b; }
static int mini(int a, int b) { if (b < a) return b; return a; }
static long most(long a, long b) { long r; if (a >= b) r = a; else r = b; return r; }
static double capped(double a, double b) { return a > b ? a : b > 40 ? 40 : b; }
static void widen(struct box *b, double x) { if (x < b->lo) b->lo = x; if (x > b->hi) b->hi = x; }
static void raise_best(double x) { if (x > best) best = x; }
static void note(struct box *b, double x) { b->count++; b->hist[(int)x & 7]++; }
static void keep(double x, int i) { if (x > best) { best = x; arg = i; } }
static void least(double *m, double x) { *m = x < *m ? x : *m; }
static int skipped(const double *v) {
  int most_of_all = 0, m = 0, found = 0;
  for (int i = 0; i < N; i++) { int t = (int)(v[i] * v[i]); if (t <= most_of_all) continue; most_of_all = t; } /* @clauses */
  for (int i = 0; i < N; i++) { { int t = (int)v[i]; if (t <= m) continue; m = t; } found++; }  /* @serial */
  return most_of_all + m + found;
}
int main(void) {
  for (int i = 0; i < N; i++) data[i] = (i * 37 % 101) * 0.5;            /* @parallel */
  double m = 0;
  for (int i = 0; i < N; i++) m = maxd(m, data[i]);                      /* @clauses */
  int least_place = N; long far = 0; double cap = 0;
  for (int i = 0; i < N; i++) least_place = mini((int)data[i], least_place);     /* @clauses */
  for (int i = 0; i < N; i++) far = most(far, (i * 7) % 13);             /* @clauses */
  for (int i = 0; i < N; i++) cap = capped(data[i], cap);                /* @serial */
  struct box b = { 1e9, -1e9, 0, { 0 } };
  for (int i = 0; i < N; i++) widen(&b, data[i]);                       /* @clauses */
  for (int i = 0; i < N; i++) raise_best(data[i]);                       /* @clauses */
  best = -1;
  for (int i = 0; i < N; i++) keep(data[i], i);                          /* @serial */
  for (int i = 0; i < N; i++) note(&b, data[i]);                         /* @clauses */
  double l = 1e9;
  for (int i = 0; i < N; i++) least(&l, data[i]);                        /* @clauses */
  struct box all[4] = { { 0 } };
  for (int i = 0; i < N; i++) { struct box *p = &all[i % 4]; p->count += 1; p->hi += data[i]; }  /* @clauses */
  for (int i = 0; i < N; i++) if (data[i] > all[1].hi) all[1].hi = data[i];                      /* @parallel */
  int first = -1;
  for (int i = 0; i < N; i++) if (first < 0 && data[i] > 40) first = i;   /* @serial */
  double s = 0, c = 0;
  for (int i = 0; i < N; i++) { double y = data[i] - c, t = s + y; c = (t - s) - y; s = t; }     /* @serial */
  double mean = 0, m2 = 0; int n = 0;
  for (int i = 0; i < N; i++) { n++; double d = data[i] - mean; mean += d / n; m2 += d * (data[i] - mean); } /* @serial */
  printf("%g %g %g %d %d %g %d %g %g %d %ld %g %d\n", m, b.hi, best, arg, b.count, l, first, s, m2, least_place, far, cap, skipped(data));
  return 0;
}
