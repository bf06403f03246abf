/* Members of structures that pointers reach; counters that the loop does not declare. Labels as in arrays.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#define N 32
typedef struct { double sum; int n, hist[8]; double *buf; struct { double lo, hi; } range; } Stats;
typedef struct { int *data; int len, cap; } Vec;
static Stats st;
static Vec vec;
static double a[N], b[N], tmp[N];
static void add(Stats *s, double x) { s->sum += x; s->n++; }
static void push(Vec *v, int x) { if (v->len == v->cap) { v->cap = v->cap ? 2 * v->cap : 4; v->data = realloc(v->data, v->cap * sizeof(int)); } v->data[v->len++] = x; }
static double work(Stats *s, int i) { for (int k = 0; k < N; k++) s->buf[k] = i + k; double t = 0; for (int k = 0; k < N; k++) t += s->buf[N - 1 - k]; return t; }
static int is_prime(int n) { for (int d = 2; d * d <= n; d++) if (n % d == 0) return 0; return n > 1; } /* @serial */
static int gcd(int x, int y) { while (y) { int t = x % y; x = y; y = t; } return x; }
static double poly(double x) { static const double c[4] = {1, 2, 3, 4}; double r = 0; for (int i = 0; i < 4; i++) r = r * x + c[i]; return r; } /* @serial */
static void err(const char *m) { fprintf(stderr, "%s\n", m); exit(1); }
static void members(Stats *s) {
  for (int i = 0; i < N; i++) s->sum += a[i]; /* @clauses */
  for (int i = 0; i < N; i++) s->hist[i & 7]++; /* @clauses */
  for (int i = 0; i < N; i++) { if (a[i] < s->range.lo) s->range.lo = a[i]; if (a[i] > s->range.hi) s->range.hi = a[i]; } /* @clauses */
  for (int i = 0; i < N; i++) s->buf[i] = a[i]; /* @parallel */
  for (int i = 1; i < N; i++) s->buf[i] += s->buf[i - 1]; /* @serial */
  for (int i = 0; i < N; i++) { s->n = i; b[i] = s->n * 2; } /* @clauses */
  for (int i = 0; i < N; i++) s->range.hi = fmax(s->range.hi, b[i]); /* @clauses */
  for (int i = 0; i < N; i++) { s->sum += a[i]; if (s->sum > 100) s->n++; } /* @serial */
}
int main(void) {
  st.buf = tmp;
  st.range.lo = 1e9;
  for (int i = 0; i < N; i++) a[i] = i * 0.25; /* @parallel */
  members(&st);
  for (int i = 0; i < N; i++) add(&st, a[i]);
  for (int i = 0; i < N; i++) push(&vec, i); /* @serial */
  for (int i = 0; i < N; i++) b[i] = work(&st, i);
  for (int i = 0; i < N; i++) b[i] = is_prime(i); /* @parallel */
  for (int i = 0; i < N; i++) b[i] = gcd(i, 12); /* @parallel */
  for (int i = 0; i < N; i++) b[i] = poly(i); /* @parallel */
  for (int i = 0; i < N; i++) { if (a[i] < 0) err("negative"); b[i] = sqrt(a[i]); } /* @parallel */
  for (int i = 0; i < N; i++) { if (a[i] < 0) break; b[i] = sqrt(a[i]); } /* @serial */
  int i, j, k, n = N;
  double t, s = 0;
  for (i = 0; i < n; i++) { t = a[i] + 1; b[i] = t; } /* @clauses */
  for (i = 0; i < n; i++) for (j = 0; j < 3; j++) b[i] += j; /* @clauses */
  for (i = 0; i < n; i++) { for (j = 0; j < 3; j++) { t = a[i] * j; b[i] += t; } } /* @clauses */
  for (i = 0; i < n; i++) { k = (i * 7) % n; b[k] = a[i]; } /* @clauses */
  for (i = 0; i < n; i++) { k = (i * 7) % 5; b[k] = a[i]; } /* @serial */
  for (i = 0; i < n; i++) { k = i; while (k > 3) k /= 2; b[i] = k; } /* @clauses */
  for (i = 0; i < n; i++) { double u = 0; for (j = 0; j <= i; j++) u += a[j]; s += u; } /* @clauses */
  for (i = 0, j = n - 1; i < j; i++, j--) { t = b[i]; b[i] = b[j]; b[j] = t; } /* @clauses */
  for (i = n; i-- > 0;) b[i] += 1; /* @parallel */
  for (i = 0; i < n; ++i) if (i % 2) continue; else b[i] = 0; /* @parallel */
  i = 0;
  while (i < n) { b[i] = a[i]; i++; } /* @parallel */
  i = n;
  do b[--i] = 1; while (i > 0); /* @parallel */
  for (i = 0; i < n; i++) { int *p = malloc(sizeof(int)); *p = i; b[i] = *p; free(p); } /* @parallel */
  char text[] = "the quick brown fox";
  int words = 1;
  for (i = 0; text[i]; i++) if (text[i] == ' ') words++; /* @serial */
  size_t len = strlen(text);
  for (size_t z = 0; z < len; z++) if (text[z] == ' ') words++; /* @clauses */
  for (size_t z = 0; z < strlen(text); z++) text[z] = text[z] == 'o' ? '0' : text[z];
  double m[3][3] = {{2, 1, 0}, {1, 3, 1}, {0, 1, 4}}, inv[3][3];
  for (i = 0; i < 3; i++) for (j = 0; j < 3; j++) inv[i][j] = m[j][i]; /* @clauses */
  double norm = 0;
  for (i = 0; i < 3; i++) for (j = 0; j < 3; j++) norm += inv[i][j] * inv[i][j]; /* @clauses */
  norm = sqrt(norm);
  for (i = 0; i < 10; i++) { /* @serial */
    double next[3] = {0};
    for (j = 0; j < 3; j++) for (k = 0; k < 3; k++) next[j] += m[j][k] * a[k]; /* @clauses */
    for (j = 0; j < 3; j++) a[j] = next[j] / 10; /* @parallel */
  }
  printf("%g %d %g %d %g %d %g %g\n", st.sum, vec.len, b[3], words, norm, k, s, st.range.hi);
  exit(0);
}
