/*
 * Tasks that are all made, in a loop, before the one wait for them.
 *
 *   spawns COUNT    prints `peak_kib`
 */
#include "bench.h"

int main(int count, char **arguments)
{
    uint64_t tasks = argument(count, arguments, 1, 1000000), sum = 0;
#pragma omp parallel
#pragma omp single
    {
        for (uint64_t i = 0; i < tasks; i++) {
#pragma omp task shared(sum) firstprivate(i)
            __atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
        }
#pragma omp taskwait
    }
    check(sum == tasks * (tasks - 1) / 2);
    print_peak();
    return 0;
}
