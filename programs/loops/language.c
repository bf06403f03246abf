/* The language: complex numbers, bit-fields, unions, pointers to functions, jumps, nested structures, arrays of variable length. Labels as in arrays.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <complex.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#define N 40
/* complex, bit-fields, unions, function pointers, restrict, goto, do while, switch, nested structs */
static double complex zc[N], wc[N];
struct flags { unsigned a : 3, b : 5, c : 8; };
static struct flags fl[N], one;
union both { uint64_t all; uint8_t part[8]; float f[2]; };
static union both un[N], u1;
struct inner { double v[4]; int n; };
struct outer { struct inner in[3]; struct inner *p; double total; };
static struct outer ou[N];
static struct inner pool[N];
typedef double (*fn)(double);
static double twice(double x) { return 2 * x; }
static double half(double x) { return x / 2; }
static double accu_state;
static double running(double x) { accu_state += x; return accu_state; }
static double count_calls(double x) { static int calls; calls++; return x + calls; }
static double root(double x) { return sqrt(x); }
static fn table[3] = { twice, half, root };
static double d[N], e[N], f[N + 1];
static int ki[N], kj[N];

static void cplx(void) {
  for (int i = 0; i < N; i++) /* @parallel */
    zc[i] = i + 2 * I * i;
  for (int i = 0; i < N; i++) /* @parallel */
    wc[i] = zc[i] * conj(zc[i]) + cexp(I * i);
  double complex s = 0, p = 1;
  for (int i = 0; i < N; i++) /* @clauses */
    s += zc[i];
  for (int i = 0; i < N; i++) /* @serial */
    p *= 1 + wc[i] / 100000.0;
  for (int i = 1; i < N; i++) /* @serial */
    zc[i] += zc[i - 1] * I;
  double mag = 0;
  for (int i = 0; i < N; i++) /* @clauses */
    mag = fmax(mag, cabs(zc[i]));
  for (int i = 0; i < N; i++) { /* @parallel */
    double re = creal(wc[i]), im = cimag(wc[i]);
    wc[i] = im + I * re;
  }
  printf("%g %g %g\n", creal(s), cimag(p), mag);
}
static void bitfields(void) {
  for (int i = 0; i < N; i++) { /* @parallel */
    fl[i].a = i;
    fl[i].b = i * 3;
    fl[i].c = i * 5;
  }
  for (int i = 0; i < N; i++) /* @parallel */
    fl[i].a++;
  for (int i = 1; i < N; i++) /* @serial */
    fl[i].c = fl[i - 1].c + fl[i].b;
  for (int i = 0; i < N; i++) /* @serial */
    one.c += fl[i].a;
  int on = 0;
  for (int i = 0; i < N; i++) /* @clauses */
    if (fl[i].b & 1) on++;
  printf("%d %d\n", one.c, on);
}
static void unions(void) {
  for (int i = 0; i < N; i++) /* @parallel */
    un[i].all = i * 0x0101010101ull;
  for (int i = 0; i < N; i++) /* @parallel */
    un[i].part[7] = un[i].part[0];
  for (int i = 1; i < N; i++) /* @serial */
    un[i].part[1] = (uint8_t)(un[i - 1].all + 1) ;
  int sum = 0;
  for (int i = 0; i < N; i++) { /* @clauses */
    u1.all = un[i].all;
    sum += u1.part[2];
  }
  union both t;
  for (int i = 0; i < N; i++) { /* @clauses */
    t.f[0] = i;
    t.f[1] = 1;
    un[i].all = t.all;
  }
  printf("%d %llu\n", sum, (unsigned long long)un[3].all);
}
static void pointers(void) {
  for (int i = 0; i < N; i++) /* @parallel */
    d[i] = table[i % 3](i);
  for (int i = 0; i < N; i++) /* @serial */
    e[i] = running(d[i]);
  for (int i = 0; i < N; i++) /* @serial */
    e[i] = count_calls(d[i]);
  fn now = twice;
  for (int i = 0; i < N; i++) { /* @serial */
    e[i] = now(d[i]);
    now = now == twice ? half : twice;
  }
  for (int i = 0; i < N; i++) { /* @parallel */
    fn g = i & 1 ? twice : half;
    f[i] = g(e[i]);
  }
}
static void nested(void) {
  for (int i = 0; i < N; i++) { /* @parallel */
    ou[i].p = &pool[i];
    for (int k = 0; k < 3; k++) /* @parallel */
      for (int m = 0; m < 4; m++) /* @parallel */
        ou[i].in[k].v[m] = i + k * m;
  }
  for (int i = 0; i < N; i++) /* @parallel */
    for (int m = 0; m < 4; m++) /* @parallel */
      ou[i].p->v[m] = ou[i].in[1].v[m];
  for (int i = 0; i < N; i++) /* @parallel */
    for (int k = 0; k < 3; k++) /* @clauses */
      ou[i].total += ou[i].in[k].v[1];
  for (int i = 1; i < N; i++) /* @serial */
    ou[i].p->v[0] += ou[i - 1].p->v[0];
  for (int i = 0; i < N; i++) /* @parallel */
    ou[i].p = &pool[0];
  for (int i = 0; i < N; i++) /* @clauses */
    ou[i].p->n += i;
  for (int i = 0; i < N; i++) /* @clauses */
    ou[i].p->v[2] = i;
  printf("%g %d %g\n", ou[5].total, pool[0].n, pool[0].v[2]);
}
static void jumps(void) {
  int i = 0;
top:
  d[i] = i * 2;
  i++;
  if (i < N) goto top; 
  i = 0;
  do { /* @parallel */
    e[i] = d[i] + 1;
    i++;
  } while (i < N);
  int found = -1;
  for (i = 0; i < N; i++) { /* @serial */
    if (d[i] > 50) { found = i; goto out; }
  }
out:
  for (i = 0; i < N; i++) { /* @parallel */
    switch (i % 4) {
    case 0: e[i] = 1; break;
    case 1: e[i] = d[i]; /* fall through */
    case 2: e[i] += 1; break;
    default: continue;
    }
    e[i] *= 2;
  }
  int state = 0, changes = 0;
  for (i = 0; i < N; i++) { /* @serial */
    switch (state) {
    case 0: if (d[i] > 10) state = 1; break;
    case 1: if (d[i] > 30) { state = 2; changes++; } break;
    case 2: state = 0; break;
    }
  }
  for (i = 0; i < N; i++) { /* @parallel */
    if (d[i] < 20) goto skip;
    e[i] = -e[i];
  skip:;
  }
  int n = 0;
  while (n < N) { /* @serial */
    n += 1 + (ki[n] & 1);
    e[n % N] = n;
  }
  printf("%d %d %d %g\n", found, state, changes, e[7]);
}
static void restricted(int n, double *restrict to, const double *restrict from) {
  for (int i = 0; i < n; i++) /* @parallel */
    to[i] = from[i] + 1;
}
static void shifted(int n, double *to, const double *from) {
  for (int i = 0; i < n; i++) /* @serial */
    to[i] = from[i] + 1;
}
static void vla(int n, int m, double a[n][m]) {
  double row[m];
  for (int i = 0; i < n; i++) { /* @clauses */
    for (int j = 0; j < m; j++) /* @parallel */
      row[j] = a[i][j] * 2;
    for (int j = 0; j < m; j++) /* @parallel */
      a[i][j] = row[m - 1 - j];
  }
  for (int i = 1; i < n; i++) /* @serial */
    for (int j = 0; j < m; j++) /* @parallel */
      a[i][j] += a[i - 1][j];
  double sums[n];
  for (int i = 0; i < n; i++) { /* @parallel */
    sums[i] = 0;
    for (int j = 0; j < m; j++) /* @clauses */
      sums[i] += a[i][j];
  }
  double best = -1; 
  for (int i = 0; i < n; i++) /* @clauses */
    if (sums[i] > best) best = sums[i];
  printf("%g\n", best);
}
static atomic_long total, tickets;
static atomic_int bits;
static void atomics(int *own) {
  for (int i = 0; i < N; i++) /* @clauses */
    atomic_fetch_add(&total, i);
  for (int i = 0; i < N; i++) { /* @clauses */
    total -= i / 2;
    atomic_fetch_or_explicit(&bits, i, memory_order_relaxed);
  }
  for (int i = 0; i < N; i++) /* @serial */
    own[i] = (int)atomic_fetch_add(&tickets, 1);
  for (int i = 0; i < N; i++) /* @serial */
    if (atomic_fetch_xor(&bits, i) > 3) own[i]++;
  printf("%ld %d %d\n", (long)total, own[N - 1], (int)bits);
}
int main(void) {
  static int own[N];
  atomics(own);
  cplx(); bitfields(); unions(); pointers(); nested(); jumps();
  restricted(N, d, e);
  shifted(N, f + 1, f);
  double (*grid)[12] = malloc(sizeof(double[N][12]));
  for (int i = 0; i < N; i++) /* @parallel */
    for (int j = 0; j < 12; j++) /* @parallel */
      grid[i][j] = i * j;
  vla(N, 12, grid);
  free(grid);
  return 0;
}
