/*
 * fib [N [CUTOFF [REPEAT]]]: Fibonacci numbers by two tasks for each call above CUTOFF, and by none below it.
 *
 * fib(32) without cutoff is 7 049 154 tasks and next to nothing else; fib(40) with cutoff 20 is 57 312 tasks.
 */
#include "bench.h"

static uint64_t serial(uint64_t n)
{
    return n < 2 ? n : serial(n - 1) + serial(n - 2);
}

static uint64_t fib(uint64_t n)
{
    uint64_t a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static uint64_t fib_with_cutoff(uint64_t n, uint64_t cutoff)
{
    uint64_t a, b;
    if (n < cutoff)
        return serial(n);
#pragma omp task shared(a)
    a = fib_with_cutoff(n - 1, cutoff);
#pragma omp task shared(b)
    b = fib_with_cutoff(n - 2, cutoff);
#pragma omp taskwait
    return a + b;
}

int main(int count, char **arguments)
{
    uint64_t n = argument(count, arguments, 1, 32), cutoff = argument(count, arguments, 2, 0);
    uint64_t repeat = argument(count, arguments, 3, 1);
    uint64_t expected = 0, next = 1;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t sum = expected + next;
        expected = next;
        next = sum;
    }
    for (uint64_t i = 0; i < repeat; i++) {
        uint64_t found = 0;
#pragma omp parallel
#pragma omp single
        found = cutoff < 2 ? fib(n) : fib_with_cutoff(n, cutoff);
        check(found == expected);
    }
    print_peak();
    return 0;
}
