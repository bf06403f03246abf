/* Loops over arrays. A label says what a careful reader finds: parallel, clauses, serial. */
#include <stdio.h>
#include <stdlib.h>

#define N 60
static double a[N + 4], b[N + 4], c[N + 4], m[N][N], p[N][N], q[N][N];
static int idx[N + 4], perm[N + 4], hist[16];
static char text[256];

static void fill(void) {
  int i, j;
  for (i = 0; i < N + 4; i++) {
    a[i] = i * 0.5;
    b[i] = N - i;
    c[i] = 1;
    idx[i] = (i * 7) % 16;
    perm[i] = (i * 7) % N;
  }
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) m[i][j] = i + 2 * j, p[i][j] = i - j, q[i][j] = 0;
}

static void plain(void) {
  for (int i = 0; i < N; i++) a[i] = b[i] + c[i]; /* @parallel */
  for (int i = 0; i < N; i++) a[i] = a[i] * 2; /* @parallel */
  for (int i = N - 1; i >= 0; i--) a[i] += b[i]; /* @parallel */
  for (int i = 0; i < N; i += 2) a[i] = a[i + 1]; /* @parallel */
  for (int i = 0; i < N / 2; i++) a[i] = a[i + N / 2]; /* @parallel */
  for (int i = 0; i < N / 2; i++) a[2 * i] = b[i]; /* @parallel */
  for (int i = 0; i < N; i++) if (b[i] > 10) a[i] = 0; else c[i] = 1; /* @parallel */
  for (double *s = a; s < a + N; s++) *s = 1; /* @parallel */
  for (int i = 0; i < N; i++) { /* @parallel */
    double t = b[i], u = t * t;
    a[i] = t + u;
  }
  for (unsigned i = 0; i < N; i++) a[i] = i; /* @parallel */
  for (long i = 0; i < N; i++) { if (i % 3 == 0) continue; a[i] = i; } /* @parallel */
}

static void chains(void) {
  for (int i = 1; i < N; i++) a[i] = a[i - 1] + 1; /* @serial */
  for (int i = 2; i < N; i++) a[i] = a[i - 2] + a[i]; /* @serial */
  for (int i = 0; i < N; i++) a[i] = a[i + 1]; /* @serial */
  for (int i = N - 2; i >= 0; i--) a[i] = a[i + 1] * 0.5; /* @serial */
  for (int i = 1; i < N; i++) a[i] += a[0] = i; /* @serial */
  for (int i = 0; i < N - 1; i++) { a[i] = b[i]; a[i + 1] = c[i]; } /* @serial */
  for (int i = 1; i < N; i++) { b[i] = a[i - 1]; a[i] = c[i]; } /* @serial */
  for (int i = 0; i < N; i++) a[i % 8] = b[i]; /* @serial */
  for (int i = 0; i < N; i++) a[0] = a[0] * 0.5 + b[i]; /* @serial */
  for (int i = 10; i < N; i++) a[i] = a[i - 10] + 1; /* @serial */
  for (int i = 0; i < N / 2; i++) a[i] = a[N - 1 - i] + a[i / 2]; /* @serial */
}

static void matrices(void) {
  for (int i = 0; i < N; i++) /* @parallel */
    for (int j = 0; j < N; j++) /* @parallel */
      q[i][j] = m[i][j] + p[i][j];
  for (int i = 0; i < N; i++) /* @parallel */
    for (int j = 0; j < N; j++) { /* @parallel */
      double s = 0;
      for (int k = 0; k < N; k++) s += m[i][k] * p[k][j]; /* @clauses */
      q[i][j] = s;
    }
  for (int i = 0; i < N; i++) /* @parallel */
    for (int j = 0; j < N; j++) /* @parallel */
      for (int k = 0; k < 8; k++) q[i][j] += m[i][k] * p[k][j]; /* @clauses */
  for (int i = 0; i < N; i++) /* @parallel */
    for (int j = 0; j <= i; j++) /* @parallel */
      q[i][j] = m[j][i];
  for (int i = 0; i < N; i++) /* @parallel */
    for (int j = i + 1; j < N; j++) /* @parallel */
      q[i][j] = q[j][i];
  for (int i = 1; i < N; i++) /* @serial */
    for (int j = 0; j < N; j++) /* @parallel */
      m[i][j] = m[i - 1][j] + 1;
  for (int i = 0; i < N; i++) /* @parallel */
    for (int j = 1; j < N; j++) /* @serial */
      m[i][j] = m[i][j - 1] + 1;
  for (int i = 1; i < N; i++) /* @serial */
    for (int j = 1; j < N; j++) /* @serial */
      m[i][j] = m[i - 1][j] + m[i][j - 1];
  for (int k = 0; k < 12; k++) /* @serial */
    for (int i = k + 1; i < 12; i++) { /* @parallel */
      m[i][k] = m[i][k] / (m[k][k] + 1);
      for (int j = k + 1; j < 12; j++) m[i][j] -= m[i][k] * m[k][j]; /* @parallel */
    }
}

static void stencils(void) {
  for (int t = 0; t < 4; t++) { /* @serial */
    for (int i = 1; i < N - 1; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3; /* @parallel */
    for (int i = 1; i < N - 1; i++) a[i] = b[i]; /* @parallel */
  }
  for (int i = 1; i < N - 1; i++) a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3; /* @serial */
  for (int i = 1; i < N - 1; i++) /* @parallel */
    for (int j = 1; j < N - 1; j++) /* @parallel */
      q[i][j] = m[i - 1][j] + m[i + 1][j] + m[i][j - 1] + m[i][j + 1];
  for (int i = 1; i < N - 1; i++) /* @serial */
    for (int j = 1; j < N - 1; j++) /* @serial */
      m[i][j] = 0.25 * (m[i - 1][j] + m[i + 1][j] + m[i][j - 1] + m[i][j + 1]);
  for (int i = 0; i < N; i += 2) a[i] = b[i] - a[i + 1]; /* @parallel */
  for (int colour = 0; colour < 2; colour++) /* @serial */
    for (int i = 1 + colour; i < N - 1; i += 2) a[i] = a[i - 1] + a[i + 1]; /* @parallel */
}

static void indirect(void) {
  for (int i = 0; i < N; i++) a[perm[i]] = b[i]; /* @parallel */
  for (int i = 0; i < N; i++) a[i] = b[idx[i]]; /* @parallel */
  for (int i = 0; i < N; i++) a[idx[i]] = b[i]; /* @serial */
  for (int i = 0; i < N; i++) hist[idx[i]] = hist[idx[i]] * 2 + i; /* @serial */
  for (int i = 0; i < N; i++) a[i] = a[perm[i]] + 1; /* @serial */
  for (int i = 0; i < N; i++) m[idx[i] % 4][i] = b[i]; /* @parallel */
}

static void bytes(void) {
  for (int i = 0; i < 200; i++) text[i] = 'a' + i % 26; /* @parallel */
  for (int i = 0; i < 200; i++) if (text[i] == 'c') text[i] = 'C'; /* @parallel */
  for (int i = 1; i < 200; i++) text[i] ^= text[i - 1]; /* @serial */
  for (int i = 0; i < 100; i++) { char t = text[i]; text[i] = text[199 - i]; text[199 - i] = t; } /* @parallel */
  for (int i = 0; i < 199; i++) text[i] = text[i + 1]; /* @serial */
  struct { unsigned char low, high; } pair[40];
  for (int i = 0; i < 40; i++) pair[i].low = i; /* @parallel */
  for (int i = 0; i < 40; i++) pair[i].high = pair[i].low + 1; /* @parallel */
  for (int i = 1; i < 40; i++) pair[i].high = pair[i - 1].low; /* @parallel */
  for (int i = 1; i < 40; i++) pair[i].low = pair[i - 1].low + 1; /* @serial */
  if (pair[39].low == 77) puts("?");
}

static void scale(double *to, const double *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i] * 2; /* @serial */
}
static void copy(double *restrict to, const double *restrict from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i]; /* @parallel */
}
static void vla(int n) {
  double v[n], w[n][n];
  for (int i = 0; i < n; i++) v[i] = i; /* @parallel */
  for (int i = 1; i < n; i++) v[i] += v[i - 1]; /* @serial */
  for (int i = 0; i < n; i++) /* @parallel */
    for (int j = 0; j < n; j++) w[i][j] = v[i] + v[j]; /* @parallel */
  for (int i = 1; i < n; i++) /* @serial */
    for (int j = 0; j < n; j++) w[i][j] += w[i - 1][j]; /* @parallel */
  for (int i = 0; i < n; i++) a[i] = w[i][n - 1 - i]; /* @parallel */
}

int main(void) {
  fill(); plain(); fill(); chains(); fill(); matrices(); fill(); stencils(); fill(); indirect(); bytes();
  scale(a + 1, a, N);
  copy(b, a, N);
  vla(30);
  double s = 0;
  for (int i = 0; i < N; i++) {
    s += a[i] + b[i] + c[i] + hist[i % 16];
    for (int j = 0; j < N; j++) s += m[i][j] + q[i][j] + p[i][j];
  }
  printf("%g %.20s\n", s, text);
  return 0;
}
