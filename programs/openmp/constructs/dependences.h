/* Tasks that depend on others, and tasks that end by an event. */

/* ---- Dependences ---- */

/* 2 to create them; then five times 3. */
CASE(depend_chain, exact, 17, 17)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
        cost(2);
        for (int i = 0; i < 5; i++) {
#pragma omp task depend(inout : x) // tasks: 5
            cost(3);
        }
    }
}

/* 2 + (3 | 5) + 1. */
CASE(depend_diamond, exact, 11, 8)
{
    int x = 0, y = 0, z = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) // tasks: 1
        cost(2);
#pragma omp task depend(in : x) depend(out : y) // tasks: 1
        cost(3);
#pragma omp task depend(in : x) depend(out : z) // tasks: 1
        cost(5);
#pragma omp task depend(in : y, z) // tasks: 1
        cost(1);
    }
}

/* 2 + (3 | 3 | 3 | 3) + 4 + 1: readers beside one another, the next writer after all of them. */
CASE(depend_readers, exact, 19, 10)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) // tasks: 1
        cost(2);
        for (int i = 0; i < 4; i++) {
#pragma omp task depend(in : x) // tasks: 4
            cost(3);
        }
#pragma omp task depend(out : x) // tasks: 1
        cost(4);
#pragma omp task depend(in : x) // tasks: 1
        cost(1);
    }
}

/* The second is created at 10, long after what it depends on: 10 + 3. */
CASE(depend_on_what_is_over, exact, 15, 13)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) // tasks: 1
        cost(2);
        cost(10);
#pragma omp task depend(in : x) // tasks: 1
        cost(3);
    }
}

/* A wavefront over 4 x 4: 7 from corner to corner. */
CASE(depend_wavefront, exact, 16, 7)
{
    int a[5][5] = {{0}};
#pragma omp parallel
#pragma omp single
    for (int i = 1; i < 5; i++) {
        for (int j = 1; j < 5; j++) {
#pragma omp task depend(in : a[i - 1][j], a[i][j - 1]) depend(out : a[i][j]) // tasks: 16
            cost(1);
        }
    }
}

/* Dependences are among siblings: these are cousins, 5 | 3. */
CASE(depend_not_among_cousins, exact, 8, 5)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(x) // tasks: 1
        {
#pragma omp task depend(out : x) // tasks: 1
            cost(5);
#pragma omp taskwait
        }
#pragma omp task shared(x) // tasks: 1
        {
#pragma omp task depend(in : x) // tasks: 1
            cost(3);
#pragma omp taskwait
        }
    }
}

/* The predecessor's own child, 9, is not waited for: (2 + 3) | (1 + 9). */
CASE(depend_not_on_grandchildren, exact, 14, 10)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) // tasks: 1
        {
            cost(1);
#pragma omp task // tasks: 1
            cost(9);
            cost(1);
        }
#pragma omp task depend(in : x) // tasks: 1
        cost(3);
    }
}

/* 2 + (4 | 4 | 4) + 30: mutual exclusion is no order, and 12 together are less than that. */
CASE(depend_mutexinoutset, exact, 44, 36)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) // tasks: 1
        cost(2);
        for (int i = 0; i < 3; i++) {
#pragma omp task depend(mutexinoutset : x) // tasks: 3
            cost(4);
        }
#pragma omp task depend(in : x) // tasks: 1
        cost(30);
    }
}

/* 4, three times, but never at the same time: more than the longest chain, 2 + 4. */
CASE(depend_mutexinoutset_bound, lock, 14, 12)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) // tasks: 1
        cost(2);
        for (int i = 0; i < 3; i++) {
#pragma omp task depend(mutexinoutset : x) // tasks: 3
            cost(4);
        }
    }
}

#ifdef HAVE_OPENMP_5_1
/* 2 + (1 | 2 | 3) + 4. */
CASE(depend_inoutset, exact, 12, 9)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) // tasks: 1
        cost(2);
        for (int i = 1; i <= 3; i++) {
#pragma omp task depend(inoutset : x) // tasks: 3
            cost((uint64_t)i);
        }
#pragma omp task depend(in : x) // tasks: 1
        cost(4);
    }
}

/* One set of readers, then one of `inoutset`, then readers: 1 + 2 + 1. */
CASE(depend_sets_in_turn, exact, 12, 4)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 3; i++) {
#pragma omp task depend(in : x) // tasks: 3
            cost(1);
        }
        for (int i = 0; i < 3; i++) {
#pragma omp task depend(inoutset : x) // tasks: 3
            cost(2);
        }
        for (int i = 0; i < 3; i++) {
#pragma omp task depend(in : x) // tasks: 3
            cost(1);
        }
    }
}

/* (3 | 5) + 1 + 2: everything before it, and before everything after it. */
CASE(depend_all_memory, exact, 11, 8)
{
    int x = 0, y = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) // tasks: 1
        cost(3);
#pragma omp task depend(out : y) // tasks: 1
        cost(5);
#pragma omp task depend(inout : omp_all_memory) // tasks: 1
        cost(1);
#pragma omp task depend(in : x) // tasks: 1
        cost(2);
    }
}
#endif

/* On all of 1, 2, 3, 4, by an iterator: 4 + 2. */
CASE(depend_iterator, exact, 12, 6)
{
    int x[4] = {0};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 4; i++) {
#pragma omp task depend(out : x[i]) // tasks: 4
            cost((uint64_t)i + 1);
        }
#pragma omp task depend(iterator(i = 0 : 4), in : x[i]) // tasks: 1
        cost(2);
    }
}

/* By a dependence object: 3 + 4. */
CASE(depend_object, exact, 7, 7)
{
    int x = 0;
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : x)
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(depobj : object) // tasks: 1
        cost(3);
#pragma omp task depend(depobj : object) // tasks: 1
        cost(4);
    }
#pragma omp depobj(object) destroy
}

/* An undeferred task waits for what it depends on: max(6, 1) + 2 + 3. */
CASE(depend_undeferred, exact, 12, 11)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) // tasks: 1
        cost(6);
        cost(1);
#pragma omp task if (0) depend(in : x) // tasks: 1
        cost(2);
        cost(3);
    }
}

/* Waits for 3, not for 9: 3 + 2; then for all, 9 + 1. */
CASE(depend_taskwait, exact, 15, 10)
{
    int x = 0, y = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) // tasks: 1
        cost(3);
#pragma omp task depend(out : y) // tasks: 1
        cost(9);
#pragma omp taskwait depend(in : x)
        cost(2);
#pragma omp taskwait
        cost(1);
    }
}

/* (2 + 3) in the group, + 1; a second group on the same variable: + 4. */
CASE(depend_in_groups, exact, 10, 10)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task depend(out : x) // tasks: 1
            cost(2);
#pragma omp task depend(inout : x) // tasks: 1
            cost(3);
        }
        cost(1);
#pragma omp taskgroup
        {
#pragma omp task depend(in : x) // tasks: 1
            cost(4);
        }
    }
}

/* Untied tasks that depend: 2 + (1 + 3) + 1. */
CASE(depend_untied, exact, 7, 7)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task untied depend(out : x) // tasks: 1
        cost(2);
#pragma omp task untied depend(inout : x) // tasks: 1
        {
            cost(1);
#pragma omp task // tasks: 1
            cost(3);
#pragma omp taskwait
        }
#pragma omp task untied depend(in : x) // tasks: 1
        cost(1);
    }
}

/* ---- Detached tasks ---- */

/* The event is fulfilled at 3, and the code ends at 5: 5 + 1. */
CASE_AS(detach_early, DETACH, 6, 6)
{
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) // tasks: 1
        {
            cost(3);
            omp_fulfill_event(event);
            cost(2);
        }
#pragma omp taskwait
        cost(1);
    }
}

/* The code ends at 2, and another task fulfils the event at 9: 9 + 1. */
CASE_AS(detach_late, DETACH, 12, 10)
{
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) // tasks: 1
        cost(2);
#pragma omp task firstprivate(event) // tasks: 1
        {
            cost(9);
            omp_fulfill_event(event);
        }
#pragma omp taskwait
        cost(1);
    }
}

/* The creator fulfils the event at 1, and the code takes 6: 6 + 1. */
CASE_AS(detach_by_creator, DETACH, 8, 7)
{
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) // tasks: 1
        cost(6);
        cost(1);
        omp_fulfill_event(event);
#pragma omp taskwait
        cost(1);
    }
}

/* What depends on a detached task waits for its event: 9 + 4. */
CASE_AS(detach_depend, DETACH, 15, 13)
{
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task depend(out : x) detach(event) // tasks: 1
        cost(2);
#pragma omp task firstprivate(event) // tasks: 1
        {
            cost(9);
            omp_fulfill_event(event);
        }
#pragma omp task depend(in : x) // tasks: 1
        cost(4);
    }
}

/* So does the end of a group: 7 + 1. */
CASE_AS(detach_in_group, DETACH, 10, 8)
{
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp taskgroup
        {
#pragma omp task detach(event) // tasks: 1
            cost(2);
#pragma omp task firstprivate(event) // tasks: 1
            {
                cost(7);
                omp_fulfill_event(event);
            }
        }
        cost(1);
    }
}
