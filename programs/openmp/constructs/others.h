/* Locks, cancellation, threads of the program's own, marks, and everything together. */

/* ---- Locks ---- */

/* 5 + 1 each; the lock is held 4. */
CASE(critical, exact, 24, 6)
{
#pragma omp parallel num_threads(4)
    {
        cost(5);
#pragma omp critical
        cost(1);
    }
}

/* Two names, each held 6 in chains of 3 + 3, beside 7. */
CASE(critical_two_names, exact, 31, 7)
{
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 2; i++) {
#pragma omp task // tasks: 2
            {
                cost(3);
#pragma omp critical(one)
                cost(3);
            }
#pragma omp task // tasks: 2
            {
                cost(3);
#pragma omp critical(two)
                cost(3);
            }
        }
#pragma omp task // tasks: 1
        cost(7);
    }
}

/* Held 8 times 2, while the longest chain is 2. */
CASE(critical_bound, lock, 16, 16)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp task // tasks: 8
        {
#pragma omp critical(bound)
            cost(2);
        }
    }
}

/* 4 + 1 each; held 4. */
CASE(lock, exact, 20, 5)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task // tasks: 4
        {
            cost(4);
            omp_set_lock(&lock);
            cost(1);
            omp_unset_lock(&lock);
        }
    }
    omp_destroy_lock(&lock);
}

/* Two locks, held 10 and 12; the longest chain is 1 + 3. */
CASE(lock_bound, lock, 26, 12)
{
    omp_lock_t one, two;
    omp_init_lock(&one);
    omp_init_lock(&two);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task // tasks: 4
        {
            cost(1);
            omp_set_lock(i < 2 ? &one : &two);
            cost(i < 2 ? 5 : 6);
            omp_unset_lock(i < 2 ? &one : &two);
        }
    }
    omp_destroy_lock(&one);
    omp_destroy_lock(&two);
}

/* The same, side by side in memory: gcc's have four bytes each. */
CASE(lock_array, lock, 26, 12)
{
    static omp_lock_t locks[2];
    omp_init_lock(&locks[0]);
    omp_init_lock(&locks[1]);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task // tasks: 4
        {
            cost(1);
            omp_set_lock(&locks[i / 2]);
            cost(i < 2 ? 5 : 6);
            omp_unset_lock(&locks[i / 2]);
        }
    }
    omp_destroy_lock(&locks[0]);
    omp_destroy_lock(&locks[1]);
}

/* Taken twice and given back twice: held 1 + 1 each, in chains of 5. */
CASE(lock_nested, exact, 10, 5)
{
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2; i++) {
#pragma omp task // tasks: 2
        {
            omp_set_nest_lock(&lock);
            cost(1);
            omp_set_nest_lock(&lock);
            cost(1);
            omp_unset_nest_lock(&lock);
            omp_unset_nest_lock(&lock);
            cost(3);
        }
    }
    omp_destroy_nest_lock(&lock);
}

/* Asked until it is free: 3 + 1 each, held 3. */
CASE(lock_tested, exact, 12, 4)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 3; i++) {
#pragma omp task // tasks: 3
        {
            cost(3);
            while (!omp_test_lock(&lock))
                ;
            cost(1);
            omp_unset_lock(&lock);
        }
    }
    omp_destroy_lock(&lock);
}

/* ---- Cancellation, which has no effect without OMP_CANCELLATION=true ---- */

static void need_cancellation(void)
{
    if (!omp_get_cancellation()) {
        fputs("this case needs OMP_CANCELLATION=true\n", stderr);
        exit(2);
    }
}

/* The tasks that depend on the one that cancels are never executed: 3 + 1. */
CASE(cancel_taskgroup, exact, 4, 4)
{
    int x = 0;
    need_cancellation();
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task depend(out : x)
            {
                cost(3);
#pragma omp cancel taskgroup
            }
            for (int i = 0; i < 2; i++) {
#pragma omp task depend(in : x)
                cost(50);
            }
        }
        cost(1);
    }
}

/* Nobody gets past the barrier: 2, then 1. */
CASE(cancel_parallel, exact, 3, 3)
{
    need_cancellation();
#pragma omp parallel num_threads(4)
    {
        if (omp_get_thread_num() == 0) {
            cost(2);
#pragma omp cancel parallel
        }
#pragma omp barrier
        cost(100);
    }
    cost(1);
}

/* The first iteration cancels the loop after 4; those that do begin cost nothing. Then 1. */
CASE(cancel_loop, exact, 5, 5)
{
    need_cancellation();
#pragma omp parallel
    {
#pragma omp for schedule(static, 1)
        for (int i = 0; i < 16; i++) {
            if (i == 0) {
                cost(4);
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
    }
    cost(1);
}

/* ---- Threads of the program's own, marks, and all together ---- */

static void *four_tasks(void *beside)
{
    cost(2);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task // tasks: 8
        cost(3);
    }
    return beside;
}

/* Two threads, each with a team of its own: 1 + (2 + 3) + 1. */
CASE(root_threads, exact, 30, 7)
{
    pthread_t threads[2];
    cost(1);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, four_tasks, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    cost(1);
}

/* What-if regions change nothing: (1 + 4) | 2. */
CASE(marks, exact, 12, 5)
{
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 2; i++) {
#pragma omp task // tasks: 2
            {
                workspan_region_begin(1);
                cost(1);
                workspan_region_begin(2);
                cost(4);
                workspan_region_end(2);
                workspan_region_end(1);
            }
        }
        workspan_region_begin(3);
        cost(2);
        workspan_region_end(3);
    }
}

static void marked_leaf(void)
{
    WORKSPAN_FUNCTION;
    cost(2);
}

static void marked_walk(int depth)
{
    WORKSPAN_FUNCTION;
    marked_leaf();
    if (depth == 0)
        return;
#pragma omp task // tasks: 3
    marked_walk(depth - 1);
    marked_walk(depth - 1);
#pragma omp taskwait
}

/* Functions that are marked, one of them a recursion: 7 x 2, three of them one after another. */
CASE(marked_functions, exact, 14, 6)
{
#pragma omp parallel
#pragma omp single
    marked_walk(2);
}

/*
 * 1; in a group: a chain (2 + 3 + 2) of dependent tasks, of which the second waits for a loop of tasks of 3;
 * a final task, 1 + 4; an undeferred one, 2, and then at 3 a task of 9, which ends the group at 12. Then 1.
 * Work: 1 + (2 + 4 x 3 + 2) + (1 + 4) + 2 + 9 + 1.
 */
CASE(mix, exact, 34, 13)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
        cost(1);
#pragma omp taskgroup
        {
#pragma omp task depend(out : x) // tasks: 1
            cost(2);
#pragma omp task depend(inout : x) // tasks: 1
            {
#pragma omp taskloop grainsize(1) // tasks: 4
                for (int i = 0; i < 4; i++)
                    cost(3);
            }
#pragma omp task depend(in : x) // tasks: 1
            cost(2);
#pragma omp task final(1) // tasks: 1
            {
                cost(1);
#pragma omp task // tasks: 1
                cost(4);
            }
#pragma omp task if (0) // tasks: 1
            cost(2);
#pragma omp task // tasks: 1
            cost(9);
        }
        cost(1);
    }
}
