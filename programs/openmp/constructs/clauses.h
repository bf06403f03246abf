/* Groups of tasks, and clauses of tasks. */

/* ---- Groups ---- */

/* 1 + 10 in the group, then 2. */
CASE(taskgroup_grandchildren, exact, 14, 13)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task // tasks: 1
            {
                cost(1);
#pragma omp task // tasks: 1
                cost(10);
                cost(1);
            }
        }
        cost(2);
    }
}

/* 1 + ((2 + 5 + 1) | 3) + 1. */
CASE(taskgroup_nested, exact, 13, 10)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
            cost(1);
#pragma omp task // tasks: 1
            {
                cost(2);
#pragma omp taskgroup
                {
#pragma omp task // tasks: 1
                    cost(5);
                }
                cost(1);
            }
            cost(3);
        }
        cost(1);
    }
}

/* The group waits for 2, not for 9; then 1, and at last all: 9 + 1. */
CASE(taskgroup_not_earlier_tasks, exact, 13, 10)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task // tasks: 1
        cost(9);
#pragma omp taskgroup
        {
#pragma omp task // tasks: 1
            cost(2);
        }
        cost(1);
#pragma omp taskwait
        cost(1);
    }
}

/* In the group: `taskwait` waits for 2, the end for 2 + 7. Then 1. */
CASE(taskgroup_with_taskwait, exact, 14, 10)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task // tasks: 1
            {
                cost(2);
#pragma omp task // tasks: 1
                cost(7);
            }
#pragma omp taskwait
            cost(4);
        }
        cost(1);
    }
}

/* Reductions over the tasks of a group: 1 to 6 beside one another, then 2. */
CASE(taskgroup_reduction, exact, 23, 8)
{
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum)
        for (int i = 1; i <= 6; i++) {
#pragma omp task in_reduction(+ : sum) // tasks: 6
            {
                sum += i;
                cost((uint64_t)i);
            }
        }
        cost(2);
    }
    if (sum != 21)
        abort();
}

/* A reduction over the tasks of a region: 1 to 4. */
CASE(parallel_task_reduction, exact, 10, 4)
{
    int sum = 0;
#pragma omp parallel reduction(task, + : sum)
#pragma omp single
    for (int i = 1; i <= 4; i++) {
#pragma omp task in_reduction(+ : sum) // tasks: 4
        {
            sum += i;
            cost((uint64_t)i);
        }
    }
    if (sum != 10)
        abort();
}

/* ---- Clauses of tasks ---- */

/* 3 | (5 + 2). */
CASE(undeferred, exact, 10, 7)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task // tasks: 1
        cost(3);
#pragma omp task if (0) // tasks: 1
        cost(5);
        cost(2);
    }
}

/* (2 + (10 | 1)) of the child, and 3 + 4: its own child is deferred, and nobody waits for it. */
CASE(undeferred_with_child, exact, 17, 12)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task if (0) // tasks: 1
        {
            cost(2);
#pragma omp task // tasks: 1
            cost(10);
            cost(1);
        }
        cost(4);
    }
}

/* By a condition that is known when the program runs: of 1 to 6 the even ones, 2 + 4 + 6, are in the chain; the last one
   beside begins at 2 + 4 and takes 5. */
CASE(undeferred_sometimes, exact, 21, 12)
{
#pragma omp parallel
#pragma omp single
    for (int i = 1; i <= 6; i++) {
#pragma omp task if (i % 2) // tasks: 6
        cost((uint64_t)i);
    }
}

/* 1 + 4 + 2 + 1 | 3: what a final task creates is part of it. */
CASE(final_included, exact, 11, 8)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task final(1) // tasks: 1
        {
            cost(1);
#pragma omp task // tasks: 1
            cost(4);
#pragma omp task // tasks: 1
            cost(2);
#pragma omp taskwait
            cost(1);
        }
        cost(3);
    }
}

static void fib_final(int n)
{
    cost(1);
    if (n < 2)
        return;
#pragma omp task final(n <= 5) // tasks: 33
    fib_final(n - 1);
#pragma omp task final(n <= 6) // tasks: 33
    fib_final(n - 2);
#pragma omp taskwait
}

/* Of 2 fib(9) - 1 = 67 calls, those below fib(4), which are 9 of them, are one chain: 4 + 9. */
CASE(final_recursion, exact, 67, 13)
{
#pragma omp parallel
#pragma omp single
    fib_final(8);
}

/* 4 | (2 + 1). */
CASE(mergeable, exact, 7, 4)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task mergeable // tasks: 1
        cost(4);
#pragma omp task mergeable if (0) // tasks: 1
        cost(2);
        cost(1);
    }
}

/* Each 2 + 3 + 1 + 1. */
CASE(untied, exact, 28, 7)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task untied // tasks: 4
        {
            cost(2);
#pragma omp task // tasks: 4
            cost(3);
#pragma omp taskwait
            cost(1);
#pragma omp taskyield
            cost(1);
        }
    }
}

static void untied_tree(int depth)
{
    cost(1);
    if (depth == 0)
        return;
#pragma omp task untied // tasks: 31
    untied_tree(depth - 1);
#pragma omp task untied // tasks: 31
    untied_tree(depth - 1);
#pragma omp taskwait
    cost(1);
}

/* 63 nodes of 1, 31 of them twice; the chain down and up: 6 + 5. */
CASE(untied_recursion, exact, 94, 11)
{
#pragma omp parallel
#pragma omp single
    untied_tree(5);
}

/* 1 + 1 each. */
CASE(taskyield, exact, 12, 2)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 6; i++) {
#pragma omp task // tasks: 6
        {
            cost(1);
#pragma omp taskyield
            cost(1);
        }
    }
}

/* Of 1 to 10, the longest. */
CASE(priorities, exact, 55, 10)
{
#pragma omp parallel
#pragma omp single
    for (int i = 1; i <= 10; i++) {
#pragma omp task priority(i) // tasks: 10
        cost((uint64_t)i);
    }
}
