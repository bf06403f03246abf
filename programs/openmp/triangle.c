/*
 * triangle NANOS [ITERATIONS]: one static `parallel for` whose iteration i takes i units of this number of nanoseconds.
 *
 * With N iterations, each of which could run by itself, its parallelism is (N + 1) / 2: 32.5 for 64.
 */
#include "bench.h"

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: %s NANOS [ITERATIONS]\n", arguments[0]);
        return 2;
    }
    uint64_t steps = argument(count, arguments, 1, 0) * steps_per_microsecond() / 1000;
    int iterations = (int)argument(count, arguments, 2, 64);
#pragma omp parallel for schedule(static)
    for (int i = 1; i <= iterations; i++)
        run_steps(steps * (uint64_t)i);
    return 0;
}
