/* Loops that nearly are reductions, counters, private variables. Labels as in arrays.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <stdint.h>
#define N 40
static double a[N + 4], b[N + 4], c[N + 4], s, t;
static int k[N], w[N], top, stack[N], flags[N];
static struct { int n; double sum, items[N]; } ctx;
static double *p, *q;
static int m, lo, hi;
static double get(void) { return s; }
static void put(double x) { s += x; }
static void bump(double *x, double by) { *x += by; }
static int *pick(int i) { return &w[i % 3]; }
static void push(int x) { stack[top++] = x; }
static int pop(void) { return stack[--top]; }
int main(void) {
  for (int i = 0; i < N; i++) a[i] = i % 7, k[i] = i * 3 % 11; /* @parallel */
  s = 0;
  for (int i = 0; i < N; i++) /* @serial */
    b[i] = s += a[i];
  s = 0;
  for (int i = 0; i < N; i++) /* @serial */
    b[i] = (s += a[i]) * 2;
  s = 0;
  for (int i = 0; i < N; i++) { /* @serial */
    s += a[i];
    b[i] = s;
  }
  for (int i = 0; i < N; i++) { /* @serial */
    s += a[i];
    if (s > 20) b[i] = 1;
  }
  for (int i = 0; i < N; i++) { /* @serial */
    s += a[i];
    if (get() > 100) b[i] = 2;
  }
  for (int i = 0; i < N; i++) { /* @serial */
    put(a[i]);
    b[i] = get();
  }
  t = 0;
  for (int i = 0; i < N; i++)
    bump(&t, a[i]);
  m = -1;
  for (int i = 0; i < N; i++) /* @serial */
    if (a[i] > m) { m = a[i]; top = i; }
  m = -1;
  for (int i = 0; i < N; i++) /* @serial */
    b[i] = m = a[i] > m ? a[i] : m;
  int n = 0;
  for (int i = 0; i < N; i++) /* @serial */
    w[i] = n += k[i];
  for (int i = 0; i < N; i++) /* @clauses */
    w[i] = n++;
  n = 0;
  for (int i = 0; i < N; i++) /* @serial */
    if (k[i] > 3) w[n++] = i;
  for (int i = 0; i < N; i++) /* @serial */
    (*pick(i))++, b[i] = *pick(i + 1);
  for (int i = 0; i < N; i++) /* @serial */
    *pick(i) = i;
  top = 0;
  for (int i = 0; i < N; i++) /* @serial */
    push(i);
  for (int i = 0; i < N; i++) /* @serial */
    k[i] = pop();
  for (int i = 0; i < N; i++) { /* @serial */
    push(i);
    w[i] = pop();
  }
  p = a; q = b;
  for (int i = 0; i < 5; i++) { /* @serial */
    for (int j = 0; j < N; j++) q[j] = p[j] + 1; /* @parallel */
    double *x = p; p = q; q = x;
  }
  for (int i = 0; i < N; i++) { /* @serial */
    ctx.items[ctx.n] = a[i];
    ctx.n++;
    ctx.sum += a[i];
  }
  ctx.n = 0;
  for (int i = 0; i < N; i++) { /* @clauses */
    ctx.sum += a[i];
  }
  double d = 0, e = 0;
  for (int i = 0; i < N; i++) { /* @serial */
    d += a[i];
    e += d;
  }
  for (int i = 0; i < N; i++) { /* @serial */
    d += e;
    e += a[i];
  }
  for (int i = 0; i < N; i++) { /* @serial */
    d += a[i];
    d *= 2;
  }
  for (int i = 0; i < N; i++) { /* @serial */
    if (i & 1) d += a[i]; else d *= 1.01;
  }
  for (int i = 0; i < N; i++) /* @serial */
    d = a[i] - d;
  for (int i = 0; i < N; i++) /* @serial */
    d = a[i] / (1 + d);
  for (int i = 0; i < N; i++) /* @serial */
    d = d / (1 + a[i]);
  unsigned u = 1;
  for (int i = 0; i < N; i++) /* @serial */
    u = u << 1 | (k[i] & 1);
  for (int i = 0; i < N; i++) /* @serial */
    u = (u ^ k[i]) * 16777619u;
  for (int i = 0; i < N; i++) /* @serial */
    u = k[i] - u;
  uint8_t sat = 0;
  for (int i = 0; i < N; i++) /* @serial */
    sat = sat + k[i] > 255 ? 255 : sat + k[i];
  int prev = 0;
  for (int i = 0; i < N; i++) { /* @serial */
    w[i] = k[i] - prev;
    prev = k[i];
  }
  int seen = 0;
  for (int i = 0; i < N; i++) { /* @serial */
    if (!seen && k[i] == 5) { seen = 1; w[0] = i; }
  }
  for (int i = 0; i < N; i++) /* @clauses */
    if (k[i] == 4) seen = 1;
  int last = -1;
  for (int i = 0; i < N; i++) /* @clauses */
    if (k[i] >= 0) last = i;
  int hit = -1;
  for (int i = 0; i < N; i++) /* @serial */
    if (k[i] == 4) hit = i;
  for (int i = 0; i < N; i++) { /* @serial */
    if (i + 1 < N) w[i] = w[i + 1];
  }
  for (int i = 0; i < N - 2; i++) { /* @serial */
    c[i] = a[i]; c[i + 2] = b[i];
  }
  for (int i = 0; i < N; i++) /* @serial */
    if (!flags[k[i] & 3]) { flags[k[i] & 3] = 1; w[i] = 1; }
  for (int i = 0; i < N; i++) /* @clauses */
    flags[k[i] & 3] += i;
  for (int i = 0; i < N; i++) { /* @serial */
    flags[k[i] & 3] += i;
    w[i] = flags[0];
  }
  for (int i = 0; i < N; i++) { /* @serial */
    w[i] = flags[k[i] & 3]++;
  }
  lo = 0; hi = N;
  for (int i = 0; i < 6; i++) { /* @serial */
    int mid = (lo + hi) / 2;
    if (k[mid] < 5) lo = mid; else hi = mid;
  }
  double x = 1;
  for (int i = 0; i < 20; i++) /* @serial */
    x = x - (x * x - 2) / (2 * x);
  char buf[64]; int len = 0;
  for (int i = 0; i < 10; i++) /* @serial */
    len += snprintf(buf + len, sizeof buf - len, "%d", i);
  double mx = 0, mn = 1e9; int count = 0;
  for (int i = 0; i < N; i++) { /* @serial */
    if (a[i] > mx) mx = a[i];
    b[i] = mx;
  }
  for (int i = 0; i < N; i++) { /* @serial */
    if (a[i] > mx) { mx = a[i]; count = 1; } else if (a[i] == mx) count++;
  }
  for (int i = 0; i < N; i++) { /* @clauses */
    mx = fmax(mx, b[i]); mn = fmin(mn, b[i]);
  }
  for (int i = 0; i < N; i++) /* @serial */
    mx = fmax(mx * 0.5, a[i]);
  for (int i = 0; i < N; i++) /* @serial */
    mx = fmax(a[i], mx) + 1;
  int64_t acc = 0;
  for (int i = 0; i < N; i++) /* @clauses */
    acc += k[i] * (int64_t)i;
  for (int i = 0; i < N; i++) /* @serial */
    acc = (int)(acc + (int64_t)a[i]) / 2;
  short sh = 0;
  for (int i = 0; i < N; i++) /* @clauses */
    sh += k[i];
  float f = 0;
  for (int i = 0; i < N; i++) /* @clauses */
    f += a[i];
  int r = 0;
  for (int i = 0; i < N; i++) /* @serial */
    f = (int)(f + a[i]);
  for (int i = 0; i < N; i++) /* @serial */
    r = r + a[i];
  for (int i = 0; i < N; i++) /* @serial */
    r *= 1.5;
  printf("%g %g %d %d %g %g %u %d %d %d %g %s %d %d %lld %d %g %d %g\n", s, t, m, n, d, e, u, sat, seen, last, x, buf, hit, count, (long long)acc, sh, f, r, ctx.sum + b[3] + c[4] + w[5]);
}
