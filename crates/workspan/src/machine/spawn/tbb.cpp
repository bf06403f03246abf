// The spawn threshold of oneTBB: a task group, on the calling thread and one worker.

#include "fork.h"

#include <tbb/global_control.h>
#include <tbb/task_group.h>

static void fork_join(uint64_t iterations, uint64_t forks) {
    tbb::task_group group;
    for (uint64_t i = 0; i < forks; i++) {
        group.run([iterations] { task(iterations); });
        task(iterations);
        group.wait();
    }
}

static uint64_t forked(uint64_t iterations, uint64_t forks) {
    fork_join(WAKING_ITERATIONS, WAKING_FORKS);
    const uint64_t before = now();
    fork_join(iterations, forks);
    return now() - before;
}

int main(int argc, char **argv) {
    tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
    return measure(argc, argv, forked);
}
