/*
 * Fibonacci numbers by their recurrence: fib(n) = fib(n - 1) + fib(n - 2), the two beside each other.
 *
 * Size is n; calls below the cutoff make no tasks. Next to no work but that of making tasks.
 *
 * Work Θ(φⁿ), span Θ(n).
 */
#include "cilk.h"

static uint64_t parallel(uint64_t n)
{
    uint64_t a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = parallel(n - 1);
    b = parallel(n - 2);
#pragma omp taskwait
    return a + b;
}

static uint64_t serial(uint64_t n)
{
    return n < 2 ? n : serial(n - 1) + serial(n - 2);
}

static uint64_t with_cutoff(uint64_t n, uint64_t cutoff)
{
    uint64_t a, b;
    if (n < cutoff)
        return serial(n);
#pragma omp task shared(a)
    a = with_cutoff(n - 1, cutoff);
    b = with_cutoff(n - 2, cutoff);
#pragma omp taskwait
    return a + b;
}

static bool run(size_t n, size_t cutoff)
{
    uint64_t expected = 0, next = 1, found = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = expected + next;
        expected = next;
        next = sum;
    }
#pragma omp parallel
#pragma omp single
    found = cutoff < 2 ? parallel(n) : with_cutoff(n, cutoff);
    return found == expected;
}

int main(int count, char **arguments)
{
    return run_program(count, arguments, 32, 0, run);
}
