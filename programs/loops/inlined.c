/* Loops of functions that want to be inlined: each has its own line, whoever calls the function. */
#include <alloca.h>
#include <stdio.h>
#include <string.h>

#define N 64
#define INLINE static inline __attribute__((always_inline))

static double a[N], b[N];

/* Small, without a loop: read as if it stood in the loop. */
INLINE double twice(double x) { return x + x; }

INLINE void fill(double *p, int n, double step)
{
  for (int i = 0; i < n; i++) p[i] = i * step; /* @parallel */
}

INLINE double total(const double *p, int n)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += p[i]; /* @clauses */
  return sum;
}

INLINE void prefix(double *p, int n)
{
  for (int i = 1; i < n; i++) p[i] += p[i - 1]; /* @serial */
}

/* Calls another one of them. */
INLINE double both(double *p, int n)
{
  prefix(p, n);
  double most = 0;
  for (int i = 0; i < n; i++) /* @clauses */
    if (p[i] > most) most = p[i];
  return most + total(p, n);
}

/* Its memory is its caller's: it has to be inlined. */
INLINE char *room(int n)
{
  char *p = alloca(n);
  memset(p, 'x', n - 1);
  p[n - 1] = 0;
  return p;
}

/* With assembly that needs a constant. */
INLINE int plus(int x, const int constant)
{
  __asm__("" : "+r"(x) : "i"(constant));
  return x + constant;
}

int main(void)
{
  fill(a, N, 0.5);
  for (int i = 0; i < N; i++) b[i] = twice(a[i]); /* @parallel */
  int count = 0;
  for (int i = 0; i < N; i++) count += plus(i, 3); /* @clauses */
  char *text = room(9);
  printf("%g %g %s %d\n", total(b, N), both(a, N), text, count);
  return 0;
}
