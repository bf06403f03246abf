/* Parallel regions: teams of threads, barriers, what one thread does, leagues, targets without a device. */

/* ---- Parallel regions, barriers, one thread ---- */

CASE(parallel_all, exact, 3 * p, 3)
{
#pragma omp parallel
    cost(3);
}

/* 1 | 2 | 3 | 4. */
CASE(parallel_four, exact, 10, 4)
{
#pragma omp parallel num_threads(4)
    cost((uint64_t)omp_get_thread_num() + 1);
}

/* 1 + 2 + 3 + 2 + 1, with 2 from each of two threads. */
CASE(parallel_twice, exact, 13, 9)
{
    cost(1);
#pragma omp parallel num_threads(2)
    cost(2);
    cost(3);
#pragma omp parallel num_threads(2)
    cost(2);
    cost(1);
}

CASE(parallel_often, exact, 200, 100)
{
    for (int i = 0; i < 100; i++) {
#pragma omp parallel num_threads(2)
        cost(1);
    }
}

/* A team of one, and a task beside its thread: 2 + (3 | 1). */
CASE(parallel_undeferred, exact, 6, 5)
{
#pragma omp parallel if (0)
    {
        cost(2);
#pragma omp task // tasks: 1
        cost(3);
        cost(1);
    }
}

/* Four tasks in a team of one. */
CASE(parallel_of_one, exact, 12, 3)
{
#pragma omp parallel num_threads(1)
    for (int i = 0; i < 4; i++) {
#pragma omp task // tasks: 4
        cost(3);
    }
}

/* Of two threads each 1 + (2 | 3) + 1. */
CASE(parallel_nested, exact, 14, 5)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        cost(1);
#pragma omp parallel num_threads(2)
        cost((uint64_t)omp_get_thread_num() + 2);
        cost(1);
    }
}

/* The inner regions have a team of one each, of which the tasks might still run beside: 1 + (3 | 2). */
CASE(parallel_nested_inactive, exact, 12, 4)
{
    omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
    {
        cost(1);
#pragma omp parallel num_threads(2)
        {
#pragma omp task // tasks: 2
            cost(3);
            cost(2);
        }
    }
}

/* A region in each of two tasks: (1 + 3 + 1), and 4 in the one that creates them. */
CASE(parallel_in_tasks, exact, 20, 5)
{
    omp_set_max_active_levels(2);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 2; i++) {
#pragma omp task // tasks: 2
            {
                cost(1);
#pragma omp parallel num_threads(2)
                cost(3);
                cost(1);
            }
        }
        cost(4);
    }
}

/* Regions that begin and end at the same time: libomp may report the end of one with the data of another. Each 2 + 3. */
CASE(parallel_in_many_tasks, exact, 180, 5)
{
    omp_set_max_active_levels(2);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 12; i++) {
#pragma omp task // tasks: 12
        {
#pragma omp parallel num_threads(3)
            {
                cost(2);
#pragma omp task // tasks: 36
                cost(3);
            }
        }
    }
}

/* A task of an inner region ends with that region: 1 + 6 + 1. */
CASE(parallel_nested_tasks, exact, 16, 8)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        cost(1);
#pragma omp parallel num_threads(2)
#pragma omp single
        {
#pragma omp task // tasks: 2
            cost(6);
        }
        cost(1);
    }
}

/* Two tasks of each thread; 3 | 3 | 1. */
CASE(parallel_tasks_of_all, exact, 7 * p, 3)
{
#pragma omp parallel
    {
#pragma omp task
        cost(3);
#pragma omp task
        cost(3);
        cost(1);
    }
}

/* Tasks created by the iterations of a loop that costs nothing itself. */
CASE(parallel_loop_of_tasks, exact, 48, 3)
{
#pragma omp parallel
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 16; i++) {
#pragma omp task // tasks: 16
        cost(3);
    }
}

/* 3 by one, then 2 by all. */
CASE(single, exact, 3 + 2 * p, 5)
{
#pragma omp parallel
    {
#pragma omp single
        cost(3);
        cost(2);
    }
}

/* The others do not wait, but the one takes 3 + 2. */
CASE(single_nowait, exact, 3 + 2 * p, 5)
{
#pragma omp parallel
    {
#pragma omp single nowait
        cost(3);
        cost(2);
    }
}

/* 2 by one, then by each what it has been given. */
CASE(single_copyprivate, exact, 2 + 4 * p, 6)
{
#pragma omp parallel
    {
        uint64_t units;
#pragma omp single copyprivate(units)
        {
            cost(2);
            units = 4;
        }
        cost(units);
    }
}

/* The first thread takes 3 + 2. */
CASE(master, exact, 3 + 2 * p, 5)
{
#pragma omp parallel
    {
#pragma omp master
        cost(3);
        cost(2);
    }
}

/* The third of four threads takes 3 + 2, the first 1 + 2. */
CASE(masked, exact, 12, 5)
{
#pragma omp parallel num_threads(4)
    {
#pragma omp masked filter(2)
        cost(3);
#pragma omp masked
        cost(1);
        cost(2);
    }
}

/* A region, its first thread and a loop of tasks in one directive; clang 19 does nothing in `masked taskloop`. */
CASE(parallel_master_taskloop, exact, 32, 4)
{
#pragma omp parallel master taskloop grainsize(1) // tasks: 8
    for (int i = 0; i < 8; i++)
        cost(4);
}

/* (1 | 2 | 3 | 4) + (4 | 3 | 2 | 1). */
CASE(barrier, exact, 20, 8)
{
#pragma omp parallel num_threads(4)
    {
        uint64_t thread = (uint64_t)omp_get_thread_num();
        cost(thread + 1);
#pragma omp barrier
        cost(4 - thread);
    }
}

/* The barrier waits for 9 and for its child, 2: 9 + 2. */
CASE(barrier_tasks, exact, 23, 11)
{
#pragma omp parallel num_threads(4)
    {
#pragma omp single nowait
        {
#pragma omp task // tasks: 1
            {
                cost(7);
#pragma omp task // tasks: 1
                cost(2);
                cost(2);
            }
        }
        cost(1);
#pragma omp barrier
        cost(2);
    }
}

/* Many barriers, each after what one thread is the slowest in: 20 times 3. */
CASE(barrier_often, exact, 100, 60)
{
#pragma omp parallel num_threads(3)
    for (int i = 0; i < 20; i++) {
        cost(omp_get_thread_num() == i % 3 ? 3 : 1);
#pragma omp barrier
    }
}

/* ---- Teams and targets, on the host ---- */

CASE(teams, exact, 6, 3)
{
#pragma omp teams num_teams(2)
    cost(3);
}

/* 1 + (1 + (3 | 2)) of two teams, + 1. */
CASE(teams_parallel, exact, 14, 6)
{
    cost(1);
#pragma omp teams num_teams(2)
#pragma omp parallel num_threads(1)
    {
        cost(1);
#pragma omp task // tasks: 2
        cost(3);
        cost(2);
    }
    cost(1);
}

/* A team for each of four iterations. */
CASE(teams_distribute, exact, 10, 4)
{
#pragma omp teams distribute num_teams(4)
    for (int i = 1; i <= 4; i++)
        cost((uint64_t)i);
}

/* Two teams, and in each a chunk for its one thread. */
CASE(teams_distribute_parallel, exact, 8, 4)
{
#pragma omp teams distribute parallel for num_teams(2) num_threads(1)
    for (int i = 0; i < 4; i++)
        cost(2);
}

/* One team of one thread: 1 + 8 + 1. */
CASE(teams_of_one, exact, 10, 10)
{
    cost(1);
#pragma omp teams distribute parallel for num_teams(1) num_threads(1)
    for (int i = 0; i < 4; i++)
        cost(2);
    cost(1);
}

/* One team, with a chunk for each of its two threads: 1 + 4 + 1. */
CASE(target_teams, loop, 10, 6)
{
    cost(1);
#pragma omp target teams distribute parallel for num_teams(1) num_threads(2)
    for (int i = 0; i < 4; i++)
        cost(2);
    cost(1);
}

/* 1 + 3 + 1: code of a target region, without a device. */
CASE(target, exact, 5, 5)
{
    int x = 1;
    cost(1);
#pragma omp target map(tofrom : x)
    {
        cost(3);
        x += 1;
    }
    cost(1);
    if (x != 2)
        abort();
}

/* 1 + (2 | 2). */
CASE(target_parallel, exact, 5, 3)
{
    cost(1);
#pragma omp target parallel num_threads(2)
    cost(2);
}

/* A target region as a task: 3 | 5, + 1. */
CASE_AS(target_nowait, TARGET_TASK, 9, 6)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp target nowait // tasks: 1
        cost(3);
        cost(5);
#pragma omp taskwait
        cost(1);
    }
}
