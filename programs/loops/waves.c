/* Wavefronts, dynamic programming, sweeps in place, tiles. Labels as in arrays.c. */
#include <stdio.h>
#include <string.h>
enum { N = 24 };
static int d[N][N], best[N * 4], cost[N]; static double u[N][N], w[N][N], x[N], rhs[N], lower[N], diag[N], upper[N];
static int min3(int a, int b, int c) { int m = a < b ? a : b; return m < c ? m : c; }
int main(void) {
  const char *s = "kitten sitting mitten sit", *t = "sitting kitten smitten it";
  for (int i = 0; i < N; i++) d[i][0] = d[0][i] = i;                                     /* @parallel */
  for (int i = 1; i < N; i++)                                                            /* @serial */
    for (int j = 1; j < N; j++)                                                          /* @serial */
      d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (s[i - 1] != t[j - 1]));
  for (int k = 2; k < 2 * N - 1; k++)                                                    /* @serial */
    for (int i = k < N ? 1 : k - N + 1; i < (k < N ? k : N); i++)                        /* @parallel */
      d[i][k - i] = min3(d[i - 1][k - i] + 1, d[i][k - i - 1] + 1, d[i - 1][k - i - 1]);
  for (int i = 0; i < N; i++) cost[i] = 1 + i % 5;                                       /* @parallel */
  for (int i = 0; i < N; i++)                                                            /* @serial */
    for (int c = 4 * N - 1; c >= cost[i]; c--)                                           /* @serial */
      if (best[c - cost[i]] + i > best[c]) best[c] = best[c - cost[i]] + i;
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) u[i][j] = i ^ j;               /* @parallel */
  for (int it = 0; it < 4; it++) {                                                       /* @serial */
    for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) w[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;  /* @parallel */
    memcpy(u, w, sizeof u);
  }
  for (int c = 0; c < 2; c++)                                                            /* @serial */
    for (int i = 1; i < N - 1; i++)                                                      /* @parallel */
      for (int j = 1 + (i + c) % 2; j < N - 1; j += 2)                                   /* @parallel */
        u[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;
  for (int i = 1; i < N - 1; i++)                                                        /* @serial */
    for (int j = 1; j < N - 1; j++)                                                      /* @serial */
      u[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;
  for (int i = 0; i < N; i++) { lower[i] = 1; diag[i] = 4; upper[i] = 1; rhs[i] = i; }   /* @parallel */
  for (int i = 1; i < N; i++) { double m = lower[i] / diag[i - 1]; diag[i] -= m * upper[i - 1]; rhs[i] -= m * rhs[i - 1]; }  /* @serial */
  x[N - 1] = rhs[N - 1] / diag[N - 1];
  for (int i = N - 2; i >= 0; i--) x[i] = (rhs[i] - upper[i] * x[i + 1]) / diag[i];      /* @serial */
  for (int bi = 0; bi < N; bi += 8)                                                      /* @parallel */
    for (int bj = 0; bj < N; bj += 8)                                                    /* @parallel */
      for (int i = bi; i < bi + 8; i++)                                                  /* @parallel */
        for (int j = bj; j < bj + 8; j++) w[i][j] = u[j][i];                             /* @parallel */
  for (int i = 0; i < N; i++)                                                            /* @parallel */
    for (int j = 0; j < i; j++) { double v = w[i][j]; w[i][j] = w[j][i]; w[j][i] = v; }  /* @parallel */
  for (int i = 0; i < N - 4; i++) x[i] = x[i + 4] * 0.5;                                 /* @serial */
  for (int i = 4; i < N; i++) x[i] = x[i - 4] * 0.5;                                     /* @serial */
  for (int i = 0; i < N / 2; i++) x[i] = x[i + N / 2];                                   /* @parallel */
  printf("%d %d %g %g %g\n", d[N - 1][N - 1], best[4 * N - 1], u[3][4], x[2], w[5][6]);
  return 0;
}
