/* What calls remember: results, random numbers, sets that are joined. Labels as in arrays.c. */
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
enum { N = 64 };
static long memo[N]; static int hits;
static long fib(int n) { if (n < 2) return n; if (memo[n]) { hits++; return memo[n]; } return memo[n] = fib(n - 1) + fib(n - 2); }
static uint64_t state = 88172645463325252ull;
static uint64_t next(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
static uint64_t next_of(uint64_t *s) { *s ^= *s << 13; *s ^= *s >> 7; *s ^= *s << 17; return *s; }
static int cached_key = -1, cached_value;
static int expensive(int k) { int s = 0; for (int i = 0; i < 20; i++) s += i * k; return s; }   /* @clauses */
static int cached(int k) { if (k == cached_key) return cached_value; cached_key = k; return cached_value = expensive(k); }
static long values[N], sums[N]; static double pi[N];
static int parent[N];
static int find(int x) { while (parent[x] != x) x = parent[x] = parent[parent[x]]; return x; }  /* @serial */
int main(void) {
  for (int i = 0; i < N; i++) values[i] = fib(i);                     /* @serial */
  for (int i = 0; i < N; i++) values[i] = (long)(next() % 100);       /* @serial */
  for (int i = 0; i < N; i++) {                                       /* @parallel */
    uint64_t s = 1234567u + (unsigned)i; int inside = 0;
    for (int k = 0; k < 50; k++) {                                    /* @serial */
      double x = (double)(next_of(&s) % 1000) / 1000, y = (double)(next_of(&s) % 1000) / 1000;
      if (x * x + y * y < 1) inside++;
    }
    pi[i] = 4.0 * inside / 50;
  }
  for (int i = 0; i < N; i++) sums[i] = cached(i / 8);                /* @serial */
  for (int i = 0; i < N; i++) parent[i] = i;                          /* @parallel */
  for (int i = 0; i < N; i++) { int a = find((int)(values[i] % N)), b = find(i); parent[a] = b; }   /* @serial */
  int roots = 0;
  for (int i = 0; i < N; i++) roots += parent[i] == i;                /* @clauses */
  double mean = 0;
  for (int i = 0; i < N; i++) mean += pi[i] / N;                      /* @clauses */
  long fact[20] = { 1 };
  for (int i = 1; i < 20; i++) fact[i] = fact[i - 1] * i;             /* @serial */
  srand(7);
  for (int i = 0; i < N; i++) values[i] = rand() % 7;                 /* @serial */
  for (int i = N - 1; i > 0; i--) { int j = (int)(next() % (unsigned)(i + 1)); long t = values[i]; values[i] = values[j]; values[j] = t; }  /* @serial */
  printf("%ld %d %g %ld %d\n", values[3], roots, mean, fact[9], hits);
  return 0;
}
