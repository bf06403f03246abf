/* Calls through pointers: tables of functions, callbacks, machines with states, an interpreter. Labels as in arrays.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 60 };
typedef int (*op)(int);
static int twice(int x) { return 2 * x; }
static int inc(int x) { return x + 1; }
static int calls;
static int counted(int x) { calls++; return x; }
static op pure[2] = { twice, inc }, impure[2] = { counted, inc };
static int in[N], out[N];
static void each(int *a, int n, void (*visit)(int *, void *), void *state) {
  for (int i = 0; i < n; i++) visit(a + i, state);                       /* @serial */
}
static void add_one(int *x, void *s) { *x += 1; (void)s; }
static void into(int *x, void *s) { *(long *)s += *x; }
static int state, seen[4];
static void step(int c) { switch (state) { case 0: state = c & 1 ? 1 : 2; break; case 1: state = 0; break; default: state = c & 2 ? 0 : 2; } seen[state]++; }
struct vm { int stack[32], top; long steps; };
static void push(struct vm *v, int x) { v->stack[v->top++] = x; }
static int pop(struct vm *v) { return v->stack[--v->top]; }
static int run(const char *code) {
  struct vm v = { { 0 }, 0, 0 };
  for (const char *p = code; *p; p++) {                                  /* @serial */
    v.steps++;
    if (*p >= '0' && *p <= '9') push(&v, *p - '0');
    else { int b = pop(&v), a = pop(&v); push(&v, *p == '+' ? a + b : a * b); }
  }
  return pop(&v);
}
int main(void) {
  for (int i = 0; i < N; i++) in[i] = i;                                 /* @parallel */
  for (int i = 0; i < N; i++) out[i] = pure[i & 1](in[i]);               /* @parallel */
  for (int i = 0; i < N; i++) out[i] = impure[i & 1](in[i]);             /* @clauses */
  each(in, N, add_one, NULL);
  long total = 0;
  each(in, N, into, &total);
  for (int i = 0; i < N; i++) step(in[i]);                               /* @serial */
  const char *codes[8] = { "12+", "34*5+", "99*", "12+3*", "11+1+1+", "7", "23*4*", "55+5+" };
  int results[8];
  for (int i = 0; i < 8; i++) results[i] = run(codes[i]);                /* @parallel */
  op f = inc;
  int x = 0;
  for (int i = 0; i < N; i++) { x = f(x); f = x % 3 ? twice : inc; x %= 1000; }   /* @serial */
  printf("%d %ld %d %d %d\n", out[5], total, seen[2], results[3], x + calls);
  return 0;
}
