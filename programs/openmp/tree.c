/*
 * A balanced tree of tasks, whose parallelism is its number of leaves.
 *
 *   tree NANOS          256 leaves of this number of nanoseconds
 *   tree DEPTH STEPS    2^DEPTH leaves of this number of steps of arithmetic
 *   tree rate           steps per microsecond
 */
#include "bench.h"

static uint64_t leaves_done;

static void tree(uint64_t depth, uint64_t steps)
{
    if (depth == 0) {
        run_steps(steps);
        __atomic_fetch_add(&leaves_done, 1, __ATOMIC_RELAXED);
        return;
    }
#pragma omp task
    tree(depth - 1, steps);
    tree(depth - 1, steps);
#pragma omp taskwait
}

int main(int count, char **arguments)
{
    uint64_t depth = 8, steps;
    if (count == 2 && strcmp(arguments[1], "rate") == 0) {
        printf("%" PRIu64 "\n", steps_per_microsecond());
        return 0;
    } else if (count == 2) {
        steps = argument(count, arguments, 1, 0) * steps_per_microsecond() / 1000;
    } else if (count == 3) {
        depth = argument(count, arguments, 1, 0);
        steps = argument(count, arguments, 2, 0);
    } else {
        fprintf(stderr, "usage: %s NANOS | %s DEPTH STEPS | %s rate\n", arguments[0], arguments[0], arguments[0]);
        return 2;
    }
    /* The team, the code and what the runtime keeps for tasks are warm when the tree begins. */
#pragma omp parallel
    {
#pragma omp single
        tree(depth, 1);
        tree(2, 1);
    }
    leaves_done = 0;
#pragma omp parallel
#pragma omp single
    tree(depth, steps);
    check(leaves_done == (uint64_t)1 << depth);
    return 0;
}
