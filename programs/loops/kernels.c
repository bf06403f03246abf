/* Kernels of linear algebra, sorting, images, vectors. Labels as in arrays.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#define N 48
#define M 16
/* kernels of the kinds of PolyBench, NPB, Rodinia, TSVC, with calls and pointers */
static double A[N][N], B[N][N], C[N][N], x[N], y[N], z[N], w[3 * N];
static int idx[N], inv[N], key[N], hist[M], offs[M + 1], out[N];
static float img[N][N], res[N][N];
static double q3[4][4][4];
static jmp_buf jb;
static double dot(int n, const double *a, const double *b) {
  double s = 0;
  for (int i = 0; i < n; i++) s += a[i] * b[i]; /* @clauses */
  return s;
}
static void axpy(int n, double k, const double *a, double *b) {
  for (int i = 0; i < n; i++) b[i] += k * a[i]; /* @parallel */
}
static double norm(const double *v, int n) { double m = 0; for (int i = 0; i < n; i++) m = fabs(v[i]) > m ? fabs(v[i]) : m; return m; } /* @clauses */
static int sum_of(int n, ...) { va_list l; va_start(l, n); int s = 0; for (int i = 0; i < n; i++) s += va_arg(l, int); va_end(l); return s; } /* @serial */
static void kernels(void) {
  for (int i = 0; i < N; i++) /* @parallel */
    for (int j = 0; j < N; j++) /* @parallel */
      A[i][j] = (i * j % 7) + 1, B[i][j] = i == j ? N : 0.1;
  for (int i = 0; i < N; i++) x[i] = 1.0 / (i + 1), idx[i] = (i * 5) % N, key[i] = i * 13 % M; /* @parallel */
  for (int i = 0; i < N; i++) { /* @parallel */
    y[i] = 0;
    for (int j = 0; j < N; j++) y[i] += A[i][j] * x[j]; /* @clauses */
  }
  for (int j = 0; j < N; j++) z[j] = 0; /* @parallel */
  for (int i = 0; i < N; i++) /* @clauses */
    for (int j = 0; j < N; j++) /* @parallel */
      z[j] += A[i][j] * y[i];
  for (int i = 0; i < N; i++) /* @parallel */
    for (int j = 0; j <= i; j++) { /* @parallel */
      C[i][j] = 0;
      for (int k = 0; k < N; k++) C[i][j] += A[i][k] * A[j][k]; /* @clauses */
    }
  for (int j = 0; j < N; j++) { /* @serial */
    for (int i = 0; i < j; i++) B[j][j] -= B[j][i] * B[j][i]; /* @clauses */
    B[j][j] = sqrt(B[j][j]);
    for (int i = j + 1; i < N; i++) { /* @parallel */
      for (int k = 0; k < j; k++) B[i][j] -= B[i][k] * B[j][k]; /* @clauses */
      B[i][j] /= B[j][j];
    }
  }
  for (int i = 0; i < N; i++) { /* @serial */
    double s = y[i];
    for (int j = 0; j < i; j++) s -= B[i][j] * x[j]; /* @clauses */
    x[i] = s / B[i][i];
  }
  for (int t = 0; t < 3; t++) /* @serial */
    for (int i = 1; i < N - 1; i++) /* @serial */
      for (int j = 1; j < N - 1; j++) /* @serial */
        A[i][j] = (A[i][j] + A[i][j - 1] + A[i - 1][j]) / 3;
  for (int k = 0; k < N; k++) /* @clauses */
    axpy(N, 0.5, A[k], y);
  double s = 0;
  for (int k = 0; k < N; k++) /* @clauses */
    s += dot(N, A[k], B[k]);
  for (int k = 0; k < N; k++) /* @parallel */
    z[k] = norm(A[k], N);
  for (int k = 1; k < N; k++) /* @serial */
    axpy(N, 0.1, A[k - 1], A[k]);
  for (int k = 0; k < N; k++) /* @parallel */
    axpy(N, 0.1, B[k], A[k]);
  printf("%g %g %g\n", s, z[3], x[4] + C[4][3]);
}
static void sorting(void) {
  for (int i = 0; i < M; i++) hist[i] = 0; /* @parallel */
  for (int i = 0; i < N; i++) hist[key[i]]++; /* @clauses */
  offs[0] = 0;
  for (int i = 0; i < M; i++) offs[i + 1] = offs[i] + hist[i]; /* @serial */
  for (int i = 0; i < N; i++) out[offs[key[i]]++] = i; /* @serial */
  for (int i = 0; i < N; i++) inv[idx[i]] = i; /* @parallel */
  for (int i = 0; i < N; i++) /* @parallel */
    for (int j = 0; j < N - 1; j++) /* @serial */
      if (A[i][j] > A[i][j + 1]) { double t = A[i][j]; A[i][j] = A[i][j + 1]; A[i][j + 1] = t; }
  for (int pass = 0; pass < N; pass++) /* @serial */
    for (int i = pass % 2; i + 1 < N; i += 2) /* @parallel */
      if (key[i] > key[i + 1]) { int t = key[i]; key[i] = key[i + 1]; key[i + 1] = t; }
  for (int i = 1; i < N; i++) { /* @serial */
    int v = out[i], j = i - 1;
    while (j >= 0 && out[j] > v) { out[j + 1] = out[j]; j--; } /* @serial */
    out[j + 1] = v;
  }
  for (int width = 1; width < N; width *= 2) { /* @serial */
    for (int lo = 0; lo < N; lo += 2 * width) { /* @parallel */
      int mid = lo + width < N ? lo + width : N, hi = lo + 2 * width < N ? lo + 2 * width : N, a = lo, b = mid;
      for (int k = lo; k < hi; k++) inv[k] = a < mid && (b >= hi || out[a] <= out[b]) ? out[a++] : out[b++]; /* @serial */
    }
    memcpy(out, inv, sizeof out);
  }
}
static void image(void) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) img[i][j] = (i ^ j) & 15; /* @parallel */
  for (int i = 1; i < N - 1; i++) /* @parallel */
    for (int j = 1; j < N - 1; j++) { /* @parallel */
      float acc = 0;
      for (int di = -1; di <= 1; di++) /* @clauses */
        for (int dj = -1; dj <= 1; dj++) acc += img[i + di][j + dj]; /* @clauses */
      res[i][j] = acc / 9;
    }
  float lo = 1e9f, hi = -1;
  for (int i = 0; i < N; i++) /* @clauses */
    for (int j = 0; j < N; j++) { if (res[i][j] < lo) lo = res[i][j]; if (res[i][j] > hi) hi = res[i][j]; } /* @clauses */
  for (int i = 0; i < N; i++) for (int j = 0; j < N / 2; j++) { float t = img[i][j]; img[i][j] = img[i][N - 1 - j]; img[i][N - 1 - j] = t; } /* @parallel */
  for (int i = 1; i < N; i++) img[i][0] += img[i - 1][0]; /* @serial */
  for (int j = 1; j < N; j++) img[0][j] = img[0][j - 1] > res[0][j] ? img[0][j - 1] : res[0][j]; /* @serial */
  int labels[N], next = 0;
  for (int i = 0; i < N; i++) labels[i] = img[i][i] > 5 ? next++ : -1; /* @serial */
  double window[5] = {0};
  for (int i = 0; i < N; i++) { /* @serial */
    window[i % 5] = res[i][3];
    double m = 0;
    for (int k = 0; k < 5; k++) m += window[k]; /* @clauses */
    z[i] = m / 5;
  }
  double window2[5];
  for (int i = 2; i < N - 2; i++) { /* @clauses */
    for (int k = 0; k < 5; k++) window2[k] = res[i - 2 + k][3]; /* @parallel */
    double m = 0;
    for (int k = 0; k < 5; k++) m += window2[k]; /* @clauses */
    z[i] = m / 5;
  }
  printf("%g %g %d %g\n", lo, hi, labels[3], z[5]);
}
static void vectors(void) {
  for (int i = 0; i < N - 1; i++) y[i] = y[i + 1] + 1; /* @serial */
  for (int i = 0; i < N; i += 2) y[i] = y[i + 1] + 1; /* @parallel */
  for (int i = 0; i < N / 2; i++) y[i] = y[i + N / 2]; /* @parallel */
  for (int i = 0; i < N - 3; i++) y[i + 3] = y[i] * 0.5; /* @serial */
  for (int i = N - 1; i >= 0; i--) y[i] += z[i]; /* @parallel */
  for (int i = N - 2; i >= 0; i--) y[i] += y[i + 1]; /* @serial */
  int j = 0;
  for (int i = 0; i < N; i++) { w[j] = x[i]; j += 3; } /* @clauses */
  j = -1;
  for (int i = 0; i < N; i++) { j++; w[j] += x[i]; } /* @clauses */
  int k = N - 1;
  for (int i = 0; i < N; i++) { z[i] = y[k]; k--; } /* @clauses */
  double prev = x[N - 1];
  for (int i = 0; i < N; i++) { z[i] = (x[i] + prev) / 2; prev = x[i]; } /* @serial */
  double t = 0;
  for (int i = 0; i < N; i++) { t = x[i] + y[i]; z[i] = t * t; } /* @clauses */
  for (int i = 0; i < N; i++) { t = x[i] + y[i]; z[i] = t * t; } /* @clauses */
  z[0] += t;
  for (int i = 0; i < N; i++) { if (x[i] > 0.1) t = x[i]; z[i] = t; }
  for (int i = 0; i < N; i++) { t = z[i]; for (int m = 0; m < 3; m++) t *= 0.5; y[i] = t; } /* @clauses */
  double *p = y, *e = y + N;
  while (p < e) *p++ = 1; /* @clauses */
  for (double *r = y; r != e; r++) *r += 1; /* @parallel */
  for (double *r = y + 1; r < e; r++) *r += r[-1]; /* @serial */
  double *src = x, *dst = z;
  for (int i = 0; i < N; i++) *dst++ = *src++; /* @clauses */
  for (int i = 0, b = N - 1; i < b; i++, b--) { double u = y[i]; y[i] = y[b]; y[b] = u; } /* @clauses */
  bool ok = true, any = false;
  for (int i = 0; i < N; i++) ok &= y[i] > 0; /* @clauses */
  for (int i = 0; i < N; i++) any = any || y[i] > 5; /* @clauses */
  for (int i = 0; i < N; i++) if (y[i] < 0) ok = false; /* @parallel */
  for (int i = 0; i < N; i++) if (y[i] > 0) any = true; /* @clauses */
  int cnt[3] = {0};
  for (int i = 0; i < N; i++) { if (y[i] > 1) cnt[0]++; else cnt[1]++; cnt[2] += i; } /* @clauses */
  for (int i = 0; i < 4; i++) for (int m = 0; m < 4; m++) for (int n = 0; n < 4; n++) q3[i][m][n] = i + m * n; /* @parallel */
  for (int m = 0; m < 4; m++) for (int i = 1; i < 4; i++) for (int n = 0; n < 4; n++) q3[i][m][n] += q3[i - 1][m][n]; /* @parallel */
  long f = 1;
  for (int i = 1; i < 10; i++) f *= i; /* @clauses */
  int a0 = 0, a1 = 1;
  for (int i = 0; i < 20; i++) { int nx = a0 + a1; a0 = a1; a1 = nx; } /* @serial */
  unsigned g = 48, h = 36;
  while (h) { unsigned r = g % h; g = h; h = r; } /* @serial */
  int va = 0;
  for (int i = 0; i < 5; i++) va += sum_of(3, i, i, i); /* @clauses */
  if (!setjmp(jb)) for (int i = 0; i < N; i++) { y[i] = i; if (i == 20) longjmp(jb, 1); }
  for (int i = 0; i < N; i++) { /* @parallel */
    double buf[4] = {x[i], y[i], 0, 0};
    double *bp = buf;
    bp[2] = bp[0] + bp[1];
    z[i] = buf[2];
  }
  double *heap[4];
  for (int i = 0; i < 4; i++) { heap[i] = malloc(N * sizeof(double)); for (int m = 0; m < N; m++) heap[i][m] = i * m; } /* @parallel */
  for (int i = 0; i < 4; i++) heap[i][3] = heap[(i + 1) % 4][4]; /* @parallel */
  for (int i = 0; i < 3; i++) heap[i + 1][3] = heap[i][3]; /* @serial */
  for (int i = 0; i < 4; i++) heap[i] = realloc(heap[i], 2 * N * sizeof(double)); /* @parallel */
  for (int i = 0; i < 4; i++) free(heap[i]); /* @parallel */
  printf("%d %d %d %ld %d %u %d %g\n", ok, any, cnt[1], f, a1, g, va, z[7] + q3[3][2][1]);
}
int main(void) { kernels(); sorting(); image(); vectors(); }
