/* Loops and sections shared by the threads of a team. */

/* Each section by itself: 4. */
CASE(sections, loop, 10, 4)
{
#pragma omp parallel
#pragma omp sections
    {
#pragma omp section
        cost(1);
#pragma omp section
        cost(2);
#pragma omp section
        cost(3);
#pragma omp section
        cost(4);
    }
}

/* (5 | 1) + 2, in one directive; a task from a section: 5 + 2. */
CASE(parallel_sections, loop, 10, 9)
{
#pragma omp parallel sections
    {
#pragma omp section
        {
            cost(5);
#pragma omp task // tasks: 1
            cost(2);
        }
#pragma omp section
        cost(1);
    }
    cost(2);
}

/* 1 to 64: the last. */
CASE(loop_static, loop, 2080, 64)
{
#pragma omp parallel for schedule(static)
    for (int i = 1; i <= 64; i++)
        cost((uint64_t)i);
}

/* Chunks of four: 61 + 62 + 63 + 64. */
CASE(loop_static_chunks, loop, 2080, 250)
{
#pragma omp parallel for schedule(static, 4)
    for (int i = 1; i <= 64; i++)
        cost((uint64_t)i);
}

/* By 64 threads two iterations each: 127 + 128. */
CASE(loop_static_two_each, loop, 8256, 255)
{
#pragma omp parallel for schedule(static) num_threads(64)
    for (int i = 1; i <= 128; i++)
        cost((uint64_t)i);
}

CASE(loop_dynamic, loop, 2080, 64)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 1; i <= 64; i++)
        cost((uint64_t)i);
}

CASE(loop_dynamic_chunks, loop, 2080, 250)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int i = 1; i <= 64; i++)
        cost((uint64_t)i);
}

/* No more iterations than threads: chunks of one. */
CASE(loop_guided, loop, 2080, 64)
{
#pragma omp parallel for schedule(guided)
    for (int i = 1; i <= 64; i++)
        cost((uint64_t)i);
}

/* 63 + 64. */
CASE(loop_runtime, loop, 2080, 127)
{
    omp_set_schedule(omp_sched_dynamic, 2);
#pragma omp parallel for schedule(runtime)
    for (int i = 1; i <= 64; i++)
        cost((uint64_t)i);
}

CASE(loop_auto, loop, 2080, 64)
{
#pragma omp parallel for schedule(auto)
    for (int i = 1; i <= 64; i++)
        cost((uint64_t)i);
}

/* 8 x 8 iterations of 3. */
CASE(loop_collapse, loop, 192, 3)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            cost(3);
}

/* A reduction: 1 + 64 + 2. */
CASE(loop_reduction, loop, 2083, 67)
{
    int sum = 0;
    cost(1);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 1; i <= 64; i++) {
        sum += i;
        cost((uint64_t)i);
    }
    cost(2);
    if (sum != 2080)
        abort();
}

/* 2 of each thread, an iteration each, 1 of each thread: 2 + 64 + 1. */
CASE(loop_in_region, loop, 2080 + 3 * p, 67)
{
#pragma omp parallel
    {
        cost(2);
#pragma omp for schedule(dynamic)
        for (int i = 1; i <= 64; i++)
            cost((uint64_t)i);
        cost(1);
    }
}

/* The first loop does not wait; of the same thread are i and 65 - i. Then the barrier, and 1. */
CASE(loop_nowait, loop, 4160 + p, 66)
{
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int i = 1; i <= 64; i++)
            cost((uint64_t)i);
#pragma omp for schedule(static)
        for (int i = 1; i <= 64; i++)
            cost(65 - (uint64_t)i);
        cost(1);
    }
}

/* With the barrier between: 64 + 64. */
CASE(loop_after_loop, loop, 4160, 128)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 1; i <= 64; i++)
            cost((uint64_t)i);
#pragma omp for schedule(dynamic)
        for (int i = 1; i <= 64; i++)
            cost(65 - (uint64_t)i);
    }
}

/* Iterations create tasks: 1 + 5, and the loop waits for none; then the barrier, and 2. */
CASE(loop_with_tasks, loop, 98, 8)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 16; i++) {
        cost(1);
#pragma omp task // tasks: 16
        cost(5);
    }
    cost(2);
}

/* Iterations wait for tasks: 1 + 5 + 1. */
CASE(loop_with_taskwait, loop, 112, 7)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 16; i++) {
        cost(1);
#pragma omp task // tasks: 16
        cost(5);
#pragma omp taskwait
        cost(1);
    }
}

/* Iterations of 10 + 1, the latter one after the other. */
CASE(loop_ordered, exact, 88, 18)
{
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < 8; i++) {
        cost(10);
#pragma omp ordered
        cost(1);
    }
}

CASE(loop_ordered_static, exact, 88, 18)
{
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 8; i++) {
        cost(10);
#pragma omp ordered
        cost(1);
    }
}

/* The same with chunks of several iterations. */
CASE(loop_ordered_in_blocks, exact, 88, 18)
{
#pragma omp parallel for ordered schedule(static)
    for (int i = 0; i < 8; i++) {
        cost(10);
#pragma omp ordered
        cost(1);
    }
}

/* What comes behind the region overlaps. */
CASE(loop_ordered_early, exact, 88, 18)
{
#pragma omp parallel for ordered schedule(dynamic, 3)
    for (int i = 0; i < 8; i++) {
#pragma omp ordered
        cost(1);
        cost(10);
    }
}

/* Iterations of 1 + 10: the ordered parts take 80 together. */
CASE(loop_ordered_bound, exact, 88, 81)
{
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < 8; i++) {
        cost(1);
#pragma omp ordered
        cost(10);
    }
}

/* The word for a loop that may be done in any way. */
CASE(loop_any, loop, 2080, 64)
{
#pragma omp parallel loop
    for (int i = 1; i <= 64; i++)
        cost((uint64_t)i);
}

/* clang 19 does not compile it. */
#ifndef __clang__
/* 3 by each thread, with a reduction. */
CASE(scope, exact, 3 * p, 3)
{
    int sum = 0;
#pragma omp parallel
    {
#pragma omp scope reduction(+ : sum)
        {
            sum += 1;
            cost(3);
        }
    }
    if (sum == 0)
        abort();
}
#endif
