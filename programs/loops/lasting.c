/* What iterations leave behind: last values, flags, buffers that each of them fills anew. Labels as in arrays.c. */
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
enum { N = 40 };
static int a[N], b[N], tmp[8], log_[N]; static double work[N], res[N]; static int last_seen;
static int classify(int x) { static const int lut[4] = { 3, 1, 4, 1 }; return lut[x & 3]; }
static void use(int *buffer, int i) { for (int k = 0; k < 8; k++) buffer[k] = i + k; }    /* @parallel */
int main(void) {
  for (int i = 0; i < N; i++) a[i] = i * 13 % 17;                           /* @parallel */
  int t = 0, u = 0, v = -1, f = 0, g = 1;
  for (int i = 0; i < N; i++) { t = a[i] * 2; b[i] = t + 1; }               /* @clauses */
  for (int i = 0; i < N; i++) { u = a[i]; if (u > 5) b[i] += u; }           /* @clauses */
  for (int i = 0; i < N; i++) if (a[i] == 3) v = i;                         /* @serial */
  for (int i = 0; i < N; i++) if (a[i] == 99) f = 1;                        /* @parallel */
  for (int i = 0; i < N; i++) if (a[i] == 4) f = 1;                         /* @clauses */
  for (int i = 0; i < N; i++) g = g && a[i] >= 0;                           /* @clauses */
  for (int i = 0; i < N; i++) { use(tmp, i); b[i] = tmp[3] + tmp[i % 8]; }  /* @clauses */
  for (int i = 0; i < N; i++) { int own[8]; use(own, i); b[i] += own[7]; }  /* @parallel */
  int *heap = malloc(8 * sizeof *heap);
  for (int i = 0; i < N; i++) { use(heap, i); b[i] += heap[2]; }            /* @clauses */
  for (int i = 0; i < N; i++) { int *each = malloc(8 * sizeof *each); use(each, i); b[i] += each[1]; free(each); }   /* @parallel */
  for (int i = 0; i < N; i++) last_seen = a[i];                             /* @clauses */
  for (int i = 0; i < N; i++) { if (i % 2 == 0) work[i / 2] = i; res[i] = i; }  /* @parallel */
  for (int i = 0; i < N; i++) { work[0] = i; res[i] = work[0] * 2; }        /* @clauses */
  int prev = a[0];
  for (int i = 1; i < N; i++) { log_[i] = a[i] - prev; prev = a[i]; }       /* @serial */
  int mode = 0;
  for (int i = 0; i < N; i++) { if (i == N / 2) mode = 1; res[i] = mode ? a[i] : -a[i]; }  /* @serial */
  struct { int x, y; } pt = { 0, 0 };
  for (int i = 0; i < N; i++) { pt.x = i; pt.y = a[i]; b[i] = pt.x * pt.y; }    /* @clauses */
  int count[4] = { 0 };
  for (int i = 0; i < N; i++) count[classify(a[i])  & 3]++;                 /* @clauses */
  int and_ = ~0, or_ = 0, prod = 1, diff = 100;
  for (int i = 0; i < N; i++) { and_ &= a[i] | 8; or_ |= a[i]; prod *= 1 + a[i] % 2; diff -= a[i]; }   /* @clauses */
  for (int i = 0; i < N; i++) memset(tmp, i, sizeof tmp);                   /* @clauses */
  printf("%d %d %d %d %d %d %d %g %d %d\n", t, v, f, g, tmp[0], last_seen, prev, work[0] + res[3], pt.x, count[1] + and_ + or_ + prod + diff + u + b[3] + log_[4]);
  return 0;
}
