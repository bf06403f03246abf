/* Loops that `longjmp` leaves; iterations that read what was there before the loop. Labels as in arrays.c. */
#include <setjmp.h>
#include <stdio.h>

enum { N = 40 };
static jmp_buf env;

static void must(int i) { if (i == 25) longjmp(env, 1); }
static void may(int i) { if (i == 1000) longjmp(env, 1); }

static int jumps(const int *a, int *b)
{
    int bad = 0;
    if (!setjmp(env))
        for (int i = 0; i < N; i++) { must(i); b[i] = a[i]; }                         /* @serial */
    else
        bad = 1;
    if (!setjmp(env))
        for (int i = 0; i < N; i++) { may(i); b[i] += a[i]; }                         /* @parallel */
    for (int i = 0; i < N; i++) b[i] += i;                                            /* @parallel */
    return bad;
}

static void before(const int *a, int *c)
{
    int s = 3, t = 5, u = 7, v = 1, w[4] = {1, 2, 3, 4};
    for (int i = 0; i < N; i++) { if (i > 0) s = a[i]; else s = s + t; c[i] = s; }    /* @serial */
    for (int i = 0; i < N; i++) { c[i] += i == 0 ? t : 0; t = a[i] * 2; c[i] += t; }  /* @serial */
    for (int i = 0; i < N; i++) { u = i > 0 ? a[i] : u + v; c[i] += u; }              /* @serial */
    for (int i = 0; i < N; i++) { v = a[i] + 1; c[i] += v * v; }                      /* @clauses */
    for (int i = 0; i < N; i++) { w[1] = a[i]; c[i] += w[1] + w[0]; }                 /* @serial */
    for (int i = 0; i < N; i++) { w[0] = a[i]; w[1] = i; c[i] += w[1] * w[0]; }       /* @clauses */
    printf("%d\n", u);
}

int main(void)
{
    int a[N], b[N] = {0}, c[N] = {0}, sum = 0;
    for (int i = 0; i < N; i++) a[i] = i * 31 % 43;                                   /* @parallel */
    int bad = jumps(a, b);
    before(a, c);
    for (int i = 0; i < N; i++) sum += b[i] * c[i];                                   /* @clauses */
    printf("%d %d\n", bad, sum);
    return 0;
}
