/*
 * Asks how many threads there are, and takes another path with one: 8000 ticks of work, on the other path in eight parts side by
 * side.
 */
#include <cstdio>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include "workspan.h"

int main()
{
    // So that libtbb is known before the question.
    tbb::parallel_for(0, 2, [](int) {}, tbb::simple_partitioner());
    int found = tbb::this_task_arena::max_concurrency();
    if (found == 1)
        workspan_tick(8000);
    else
        tbb::parallel_for(0, 8, [](int) { workspan_tick(1000); }, tbb::simple_partitioner());
    std::printf("%d\n", found);
}
