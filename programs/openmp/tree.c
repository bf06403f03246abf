/*
 * A balanced tree of tasks, whose parallelism is its number of leaves.
 *
 *   tree NANOS          256 leaves of this number of nanoseconds
 *   tree DEPTH STEPS    2^DEPTH leaves of this number of steps of arithmetic
 *   tree DEPTH STEPS two        the same with two tasks a node, in place of one
 *   tree DEPTH STEPS two-cold   the same without a tree before it, so that runtime, code and stacks are used for the first time
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

static void tree_of_two(uint64_t depth, uint64_t steps)
{
    if (depth == 0) {
        run_steps(steps);
        __atomic_fetch_add(&leaves_done, 1, __ATOMIC_RELAXED);
        return;
    }
#pragma omp task
    tree_of_two(depth - 1, steps);
#pragma omp task
    tree_of_two(depth - 1, steps);
#pragma omp taskwait
}

int main(int count, char **arguments)
{
    uint64_t depth = 8, steps;
    int two = count == 4 && strncmp(arguments[3], "two", 3) == 0;
    int cold = two && strcmp(arguments[3], "two-cold") == 0;
    if (count == 2 && strcmp(arguments[1], "rate") == 0) {
        printf("%" PRIu64 "\n", steps_per_microsecond());
        return 0;
    } else if (count == 2) {
        steps = argument(count, arguments, 1, 0) * steps_per_microsecond() / 1000;
    } else if (count == 3 || two) {
        depth = argument(count, arguments, 1, 0);
        steps = argument(count, arguments, 2, 0);
    } else {
        fprintf(stderr, "usage: %s NANOS | %s DEPTH STEPS [two | two-cold] | %s rate\n", arguments[0], arguments[0], arguments[0]);
        return 2;
    }
    /* The team, the code and what the runtime keeps for tasks are warm when the tree begins. */
    if (!cold) {
#pragma omp parallel
        {
#pragma omp single
            (two ? tree_of_two : tree)(depth, 1);
            (two ? tree_of_two : tree)(2, 1);
        }
        leaves_done = 0;
    }
#pragma omp parallel
#pragma omp single
    (two ? tree_of_two : tree)(depth, steps);
    check(leaves_done == (uint64_t)1 << depth);
    return 0;
}
