/* Loops whose iterations become tasks. */

/* Four tasks of four iterations, then 1. */
CASE(taskloop_grainsize, exact, 17, 5)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(4) // tasks: 4
        for (int i = 0; i < 16; i++)
            cost(1);
        cost(1);
    }
}

/* Eight tasks of two iterations, (1 + 2) to (15 + 16); then 1. */
CASE(taskloop_num_tasks, exact, 137, 32)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop num_tasks(8) // tasks: 8
        for (int i = 1; i <= 16; i++)
            cost((uint64_t)i);
        cost(1);
    }
}

/* Nobody waits before the `taskwait`: (5 | 2) + 1. */
CASE(taskloop_nogroup, exact, 23, 6)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop nogroup grainsize(1) // tasks: 4
        for (int i = 0; i < 4; i++)
            cost(5);
        cost(2);
#pragma omp taskwait
        cost(1);
    }
}

/* The group around it waits: (5 | 7) + 1. */
CASE(taskloop_in_group, exact, 28, 8)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp taskloop nogroup grainsize(1) // tasks: 4
            for (int i = 0; i < 4; i++)
                cost(5);
            cost(7);
        }
        cost(1);
    }
}

/* This number of tasks that the runtime splits the loop by tasks of its own; each waits for its child: 1 + 2. */
CASE(taskloop_many, exact, 1501, 4)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(1) // tasks: 500
        for (int i = 0; i < 500; i++) {
            cost(1);
#pragma omp task // tasks: 500
            cost(2);
        }
        cost(1);
    }
}

/* The same without a group; `taskwait` waits for the iterations. 3 | 0, + 1. */
CASE(taskloop_many_nogroup, exact, 1501, 4)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop nogroup grainsize(1) // tasks: 500
        for (int i = 0; i < 500; i++)
            cost(3);
#pragma omp taskwait
        cost(1);
    }
}

/* Each iteration waits for a child: 1 + 2 + 1. */
CASE(taskloop_with_taskwait, exact, 24, 4)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1) // tasks: 6
    for (int i = 0; i < 6; i++) {
        cost(1);
#pragma omp task // tasks: 6
        cost(2);
#pragma omp taskwait
        cost(1);
    }
}

/* Undeferred: one chain of 6. */
CASE(taskloop_undeferred, exact, 7, 7)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(2) if (0)
        for (int i = 0; i < 6; i++)
            cost(1);
        cost(1);
    }
}

/* 3 x 4 iterations in twelve tasks. */
CASE(taskloop_collapse, exact, 24, 2)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop collapse(2) num_tasks(12) // tasks: 12
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            cost(2);
}

/* 1 to 8, then 2. */
CASE(taskloop_reduction, exact, 38, 10)
{
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(1) reduction(+ : sum) // tasks: 8
        for (int i = 1; i <= 8; i++) {
            sum += i;
            cost((uint64_t)i);
        }
        cost(2);
    }
    if (sum != 36)
        abort();
}

/* Two loops, one in each task: each 3, and 1 more. */
CASE(taskloop_in_tasks, exact, 32, 4)
{
#pragma omp parallel
#pragma omp single
    for (int j = 0; j < 2; j++) {
#pragma omp task // tasks: 2
        {
#pragma omp taskloop grainsize(1) untied // tasks: 10
            for (int i = 0; i < 5; i++)
                cost(3);
            cost(1);
        }
    }
}

/* Without clauses the runtime chooses, for 64 threads a task for each iteration. */
CASE(taskloop_default, loop, 192, 3)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop
    for (int i = 0; i < 64; i++)
        cost(3);
}
