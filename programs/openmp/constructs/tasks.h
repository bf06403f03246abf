/* Tasks: creation, `taskwait`, recursion. */

/* ---- Serial code, tasks, taskwait ---- */

/* No OpenMP at all. */
CASE(serial, exact, 7, 7)
{
    cost(7);
}

/* 5 before the first OpenMP call, 3 | 3, 4 afterwards. */
CASE(prefix_suffix, exact, 15, 12)
{
    cost(5);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task // tasks: 1
        cost(3);
#pragma omp task // tasks: 1
        cost(3);
    }
    cost(4);
}

/* 1 + (4 | 3) + 2. */
CASE(task_pair, exact, 10, 7)
{
#pragma omp parallel
#pragma omp single
    {
        cost(1);
#pragma omp task // tasks: 1
        cost(4);
        cost(3);
#pragma omp taskwait
        cost(2);
    }
}

CASE(tasks_flat, exact, 20, 1)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task // tasks: 20
        cost(1);
    }
}

/* The tenth task begins at 10. */
CASE(tasks_staggered, exact, 60, 15)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 10; i++) {
        cost(1);
#pragma omp task // tasks: 10
        cost(5);
    }
}

/* Tasks of 1 to 8. */
CASE(tasks_unequal, exact, 36, 8)
{
#pragma omp parallel
#pragma omp single
    for (int i = 1; i <= 8; i++) {
#pragma omp task // tasks: 8
        cost((uint64_t)i);
    }
}

/* More tasks than a queue holds: some are executed at once, though deferred by the program. */
CASE(tasks_many, exact, 2000, 1)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2000; i++) {
#pragma omp task // tasks: 2000
        cost(1);
    }
}

/* The child ends at 2, its own child at 1 + 10; the parent goes on to 2 + 2. */
CASE(taskwait_only_children, exact, 14, 11)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task // tasks: 1
        {
            cost(1);
#pragma omp task // tasks: 1
            cost(10);
            cost(1);
        }
#pragma omp taskwait
        cost(2);
    }
}

/* Ten times 1 | 2. */
CASE(taskwait_chain, exact, 30, 20)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task // tasks: 10
        cost(1);
#pragma omp task // tasks: 10
        cost(2);
#pragma omp taskwait
    }
}

/* What `taskwait` has waited for once it does not wait for again: 1 | 6, + 1, | 2, + 1. */
CASE(taskwait_twice, exact, 11, 10)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task // tasks: 1
        cost(6);
        cost(1);
#pragma omp taskwait
        cost(1);
#pragma omp task // tasks: 1
        cost(2);
#pragma omp taskwait
        cost(1);
    }
}

/* Nobody waits but the barrier: 1 + 1 + 20, though the thread has got to 4; then 1. */
CASE(tasks_orphaned, exact, 26, 23)
{
#pragma omp parallel
#pragma omp single
    {
        cost(1);
#pragma omp task // tasks: 1
        {
            cost(1);
#pragma omp task // tasks: 1
            cost(20);
        }
        cost(3);
    }
    cost(1);
}

/* The creation is the function's last act, so that a compiler makes a jump of it. */
__attribute__((noinline)) static void create_and_return(void)
{
#pragma omp task // tasks: 4
    cost(3);
}

CASE(task_in_tail_position, exact, 12, 3)
{
#pragma omp parallel
#pragma omp single
    {
        create_and_return();
        create_and_return();
        create_and_return();
        create_and_return();
    }
}

/* From the initial thread, outside any parallel region: 1 + (4 | 3) + 1. */
CASE(tasks_outside_parallel, exact, 9, 6)
{
    cost(1);
#pragma omp task // tasks: 1
    cost(4);
    cost(3);
#pragma omp taskwait
    cost(1);
}

/* Nobody waits for them but the end of the program: 9 | 2, and in the group (1 + 3) | 2, + 1. */
CASE(tasks_outside_unwaited, exact, 18, 9)
{
#pragma omp task // tasks: 1
    cost(9);
    cost(2);
#pragma omp taskgroup
    {
#pragma omp task // tasks: 1
        {
            cost(1);
#pragma omp task // tasks: 1
            cost(3);
        }
        cost(2);
    }
    cost(1);
}

/* ---- Recursion ---- */

static int fib(int n)
{
    int a, b;
    cost(1);
    if (n < 2)
        return n;
#pragma omp task shared(a) // tasks: 88
    a = fib(n - 1);
#pragma omp task shared(b) // tasks: 88
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

/* 2 fib(11) - 1 calls of 1, at most ten in a chain. */
CASE(recursion_fib, exact, 177, 10)
{
    int result = 0;
#pragma omp parallel
#pragma omp single
    result = fib(10);
    if (result != 55)
        abort();
}

static void leaves(int depth)
{
    if (depth == 0) {
        cost(1);
        return;
    }
#pragma omp task // tasks: 255
    leaves(depth - 1);
#pragma omp task // tasks: 255
    leaves(depth - 1);
#pragma omp taskwait
}

/* 2^8 leaves. */
CASE(recursion_tree, exact, 256, 1)
{
#pragma omp parallel
#pragma omp single
    leaves(8);
}

static void skewed(int n)
{
    if (n == 0)
        return;
    cost(1);
#pragma omp task // tasks: 8
    skewed(n - 1);
    cost((uint64_t)n);
#pragma omp taskwait
}

/* s(n) = 1 + max(n, s(n - 1)), s(0) = 0: n + 1. Work 8 + 36. */
CASE(recursion_skewed, exact, 44, 9)
{
#pragma omp parallel
#pragma omp single
    skewed(8);
}

static void descend(int n)
{
    cost(1);
    if (n > 1) {
#pragma omp task // tasks: 199
        descend(n - 1);
#pragma omp taskwait
    }
}

CASE(recursion_deep, exact, 200, 200)
{
#pragma omp parallel
#pragma omp single
    descend(200);
}
