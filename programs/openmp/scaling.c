/*
 * Programs that do not scale to 16 processors, each for one reason, and some that do; to be run on 64 virtual cores.
 * See cost.h for the interface.
 */
#include "cost.h"

/* Half of each iteration is under one lock: 2 of 16. */
CASE(convoy, lock, 64 * 1000, 64 * 500)
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 64; i++) {
        cost(500);
#pragma omp critical
        cost(500);
    }
}

/* One iteration takes as long as 40 others: 2.6 of 16. */
CASE(uneven, loop, 64 * 100 + 4000, 4100)
{
#pragma omp parallel for schedule(static, 1) // one is longer
    for (int i = 0; i < 64; i++)
        cost(i == 20 ? 4100 : 100);
}

/* Four chunks: 4 of 16. */
CASE(coarse, loop, 64 * 100, 16 * 100)
{
#pragma omp parallel for schedule(static, 16)
    for (int i = 0; i < 64; i++)
        cost(100);
}

/* Eight long iterations, as of a program that fits eight files: 8 of 16. */
CASE(files, loop, 8 * 2000, 2000)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 8; i++)
        cost(2000);
}

/* One thread prepares what all need: 3.7 of 16. */
CASE(single, loop, 8000 + 64 * 500, 8000 + 500)
{
#pragma omp parallel // prepared by one
    {
#pragma omp single
        cost(8000);
#pragma omp for schedule(static, 1)
        for (int i = 0; i < 64; i++)
            cost(500);
    }
}

/* Code between parallel regions: 4 of 16. */
CASE(between, loop, 2 * 64 * 100 + 4000, 2 * 100 + 4000)
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 64; i++)
        cost(100);
    cost(4000);
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 64; i++)
        cost(100);
}

/* A row of tasks that depend on each other, beside some that do not: 2 of 16. */
CASE(row, exact, 64 * 100, 32 * 100)
{
#pragma omp parallel
#pragma omp single
    {
        int row = 0;
        (void)row;
        for (int i = 0; i < 32; i++) {
#pragma omp task depend(inout : row)
            cost(100);
#pragma omp task
            cost(100);
        }
    }
}

/* One thread creates tasks, for each of which it works two fifths as long as the task: 3.4 of 16. */
CASE(created, exact, 60 * (400 + 1000), 60 * 400 + 1000)
{
#pragma omp parallel // created by one
#pragma omp single
    for (int i = 0; i < 60; i++) {
        cost(400);
#pragma omp task
        cost(1000);
    }
}

/* 16 of 16. */
CASE(even, loop, 64 * 1000, 1000)
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 64; i++)
        cost(1000);
}

static void halves(int items)
{
    if (items == 1) {
        cost(100);
        return;
    }
#pragma omp task
    halves(items / 2);
    halves(items - items / 2);
#pragma omp taskwait
}

/* 16 of 16. */
CASE(tree, exact, 256 * 100, 100)
{
#pragma omp parallel
#pragma omp single
    halves(256);
}

int main(int count, char **arguments)
{
    return run_cases(count, arguments);
}
