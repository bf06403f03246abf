/* Loops with scalars: private variables, reductions, counters, last values. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 80
static double a[N], b[N];
static int k[N];
static int total;
static double best;

static void reductions(void) {
  double s = 0, pr = 1, lo = 1e9, hi = -1e9, f = 0, d = 0;
  int n = 0, all = 1, any = 0, an = -1, o = 0, x = 0, sub = 0;
  long long wide = 0;
  for (int i = 0; i < N; i++) s += a[i]; /* @clauses */
  for (int i = 0; i < N; i++) pr *= 1 + a[i] / 1e6; /* @clauses */
  for (int i = 0; i < N; i++) s = s + a[i] * b[i]; /* @clauses */
  for (int i = 0; i < N; i++) s = a[i] + s; /* @clauses */
  for (int i = 0; i < N; i++) d -= a[i]; /* @clauses */
  for (int i = 0; i < N; i++) sub = sub - k[i]; /* @clauses */
  for (int i = 0; i < N; i++) an &= k[i] | 1; /* @clauses */
  for (int i = 0; i < N; i++) o |= k[i]; /* @clauses */
  for (int i = 0; i < N; i++) x ^= k[i]; /* @clauses */
  for (int i = 0; i < N; i++) all = all && k[i] >= 0; /* @clauses */
  for (int i = 0; i < N; i++) any = any || k[i] == 7; /* @clauses */
  for (int i = 0; i < N; i++) if (a[i] > hi) hi = a[i]; /* @clauses */
  for (int i = 0; i < N; i++) if (a[i] < lo) lo = a[i]; /* @clauses */
  for (int i = 0; i < N; i++) hi = a[i] > hi ? a[i] : hi; /* @clauses */
  for (int i = 0; i < N; i++) lo = lo < b[i] ? lo : b[i]; /* @clauses */
  for (int i = 0; i < N; i++) hi = fmax(hi, b[i]); /* @clauses */
  for (int i = 0; i < N; i++) lo = fmin(a[i], lo); /* @clauses */
  for (int i = 0; i < N; i++) f = fma(a[i], b[i], f); /* @clauses */
  for (int i = 0; i < N; i++) if (k[i] % 3 == 0) n++; /* @clauses */
  for (int i = 0; i < N; i++) n += k[i] > 2; /* @clauses */
  for (int i = 0; i < N; i++) wide += (long long)k[i] * k[i]; /* @clauses */
  for (int i = 0; i < N; i++) total += k[i]; /* @clauses */
  for (int i = 0; i < N; i++) { s += a[i]; n += 2; } /* @clauses */
  for (int i = 0; i < N; i++) { s += a[i]; s += b[i]; } /* @clauses */
  for (int i = 0; i < N; i++) for (int j = 0; j < 4; j++) s += a[i] * j; /* @clauses */
  for (int i = 0; i < N; i++) if (fabs(a[i]) > best) best = fabs(a[i]); /* @clauses */
  for (int i = 0; i < N; i++) { s += a[i]; b[i] = s; } /* @serial */
  for (int i = 0; i < N; i++) s = a[i] - s; /* @serial */
  for (int i = 0; i < N; i++) s = s / 2 + a[i]; /* @serial */
  for (int i = 0; i < N; i++) { s += a[i]; s *= 0.5; } /* @serial */
  for (int i = 0; i < N; i++) { n += k[i]; if (n > 50) n = 0; } /* @serial */
  for (int i = 0; i < N; i++) if (s < 1000) s += a[i]; /* @serial */
  printf("%g %g %g %g %g %g %d %d %d %d %d %d %d %lld\n", s, pr, lo, hi, f, d, n, all, any, an, o, x, sub, wide);
}

static void search(void) {
  int at = -1, found = 0, i;
  double hi = -1;
  for (i = 0; i < N; i++) if (k[i] == 5) { at = i; break; } /* @serial */
  for (i = 0; i < N; i++) if (a[i] > hi) { hi = a[i]; at = i; } /* @serial */
  for (i = 0; i < N && !found; i++) found = k[i] == 9; /* @serial */
  for (i = 0; k[i] != 6; i++) ; /* @serial */
  for (i = 0; i < N; i++) { if (k[i] < 0) return; b[i] = 1; } /* @serial */
  for (i = 0; i < N; i++) { if (k[i] == 8) goto out; b[i] = 2; } /* @serial */
out:
  while (i > 0 && k[i] != 1) i--; /* @serial */
  for (i = 0; i < N; i++) { if (a[i] < -1e9) exit(3); b[i] = 3; } /* @parallel */
  for (i = 0; i < N; i++) { if (a[i] < -1e9) abort(); b[i] += 1; } /* @clauses */
  printf("%d %d %g\n", at, i, hi);
}

static void privates(void) {
  double t, u = 0;
  int i, j, last = 0, keep = 0;
  double tmp[8];
  static double shared[8];
  double *heap = malloc(8 * sizeof *heap);
  for (i = 0; i < N; i++) { t = a[i]; b[i] = t * t; } /* @clauses */
  for (i = 0; i < N; i++) { t = a[i]; if (t > 3) t = 3; b[i] = t; } /* @clauses */
  for (i = 0; i < N; i++) { if (a[i] > 2) t = 1; else t = 2; b[i] = t; } /* @clauses */
  for (i = 0; i < N; i++) for (j = 0; j < 5; j++) b[i] += j; /* @clauses */
  for (i = 0; i < N; i++) { for (j = 0; j < 8; j++) tmp[j] = a[i] + j; b[i] = tmp[3] + tmp[7]; } /* @clauses */
  for (i = 0; i < N; i++) { for (j = 0; j < 8; j++) shared[j] = a[i] * j; b[i] = shared[2]; } /* @clauses */
  for (i = 0; i < N; i++) { for (j = 0; j < 8; j++) heap[j] = a[i] * j; b[i] = heap[5]; } /* @clauses */
  for (i = 0; i < N; i++) { double local[4]; for (j = 0; j < 4; j++) local[j] = a[i]; b[i] = local[i % 4]; } /* @clauses */
  for (int r = 0; r < N; r++) { double local[4]; for (int s = 0; s < 4; s++) local[s] = a[r]; b[r] = local[r % 4]; } /* @parallel */
  for (i = 0; i < N; i++) { last = k[i] * 2; b[i] = last; } /* @clauses */
  u += last;
  for (i = 0; i < N; i++) { if (k[i] % 4 == 1) keep = i; b[i] = 1; } /* @serial */
  u += keep;
  for (i = 0; i < N; i++) { b[i] = u; u = a[i]; } /* @serial */
  for (i = 0; i < N; i++) { if (i % 2 == 0) t = a[i]; b[i] = t; } /* @serial */
  for (i = 0; i < N; i++) { tmp[i % 8] += a[i]; b[i] = tmp[i % 8]; } /* @serial */
  double x0 = 0, x1 = 1;
  for (i = 0; i < N; i++) { double x2 = x0 + x1; x0 = x1; x1 = x2 * 1e-3; b[i] = x2; } /* @serial */
  free(heap);
  printf("%g %g %d\n", u, x1, i);
}

static void counters(void) {
  int i, j, n = 0;
  unsigned seed = 1;
  j = 0;
  for (i = 0; i < N / 2; i++) { b[j] = a[i]; j += 2; } /* @clauses */
  j = N - 1;
  for (i = 0; i < N; i++) { b[j] = a[i]; j--; } /* @clauses */
  for (i = 0, j = N - 1; i < j; i++, j--) b[i] = a[j]; /* @clauses */
  i = 0;
  while (i < N) { b[i] = 2; i++; } /* @parallel */
  i = 0;
  do { b[i] = 3; i += 4; } while (i < N); /* @parallel */
  for (i = 0; i < N; i++) if (k[i] > 4) b[n++] = a[i]; /* @serial */
  for (i = 0; i < N; i++) { seed = seed * 1103515245u + 12345u; b[i] = seed >> 16; } /* @serial */
  for (j = 1, i = 0; i < 20; i++) { b[i] = j; j *= 2; j %= 1000; } /* @serial */
  for (i = 1; i < N; i *= 2) b[i] = 0; /* @serial */
  for (i = 0; i < N;) { b[i] = 1; i += 1 + k[i] % 2; } /* @serial */
  for (i = N; i-- > 0;) b[i] += 1; /* @parallel */
  double *w = b;
  for (i = 0; i < N; i++) *w++ = a[i]; /* @clauses */
  printf("%d %d %u\n", n, j, seed);
}

int main(void) {
  int i;
  for (i = 0; i < N; i++) { a[i] = (i * 37) % 101 / 10.0; b[i] = i; k[i] = (i * 11) % 13; }
  reductions(); search(); privates(); counters();
  double s = 0;
  for (i = 0; i < N; i++) s += b[i];
  printf("%g %d %g\n", s, total, best);
  return 0;
}
