/* The spawn threshold of an OpenMP runtime: tasks of a parallel region of two threads. */

#include "fork.h"

static void fork_join(uint64_t iterations, uint64_t forks) {
    for (uint64_t i = 0; i < forks; i++) {
#pragma omp task firstprivate(iterations)
        task(iterations);
        task(iterations);
#pragma omp taskwait
    }
}

static uint64_t forked(uint64_t iterations, uint64_t forks) {
    uint64_t time = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        fork_join(WAKING_ITERATIONS, WAKING_FORKS);
        const uint64_t before = now();
        fork_join(iterations, forks);
        time = now() - before;
    }
    return time;
}

int main(int argc, char **argv) {
    return measure(argc, argv, forked);
}
