/*
 * Static loops whose iterations cost the same: their span with an iteration each, whatever the team and the compiler, which may
 * put the loop's header into the program.
 */
#include "cost.h"

/* What nobody knows when it is compiled. */
static volatile int known_late = 1;

CASE(even, loop, 1000 * 100, 100)
{
#pragma omp parallel for
    for (int i = 0; i < 1000; i++)
        cost(100);
}

CASE(twelve, loop, 50 + 12 * 1000, 50 + 1000)
{
    cost(50);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 12; i++)
        cost(1000);
}

CASE(sum, loop, 96 * 10, 10)
{
    int count = 96 * known_late;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < count; i++) {
        cost(10);
        sum += i;
    }
    if (sum != 96 * 95 / 2)
        exit(1);
}

/* Dealt out by chunks, of a size that is known or not: 32 chunks of four, seven of fifteen. */
CASE(chunks, loop, 128 * 10, 4 * 10)
{
    int count = 128 * known_late;
#pragma omp parallel for schedule(static, 4)
    for (int i = 0; i < count; i++)
        cost(10);
}

CASE(one_by_one, loop, 64 * 30, 30)
{
    long count = 64 * (long)known_late;
#pragma omp parallel for schedule(static, 1)
    for (long i = count; i > 0; i--)
        cost(30);
}

CASE(late_chunks, loop, 105 * 6, 15 * 6)
{
    int size = 15 * known_late, count = 105 * known_late;
#pragma omp parallel for schedule(static, size)
    for (int i = 0; i < count; i++)
        cost(6);
}

/* No member of a team of two or more has a second one. */
CASE(few_chunks, loop, 100 * 6, 50 * 6)
{
    int size = 50 * known_late, count = 100 * known_late;
#pragma omp parallel for schedule(static, size)
    for (int i = 0; i < count; i++)
        cost(6);
}

CASE(sections, loop, 3 * 500, 500)
{
#pragma omp parallel sections
    {
#pragma omp section
        cost(500);
#pragma omp section
        cost(500);
#pragma omp section
        cost(500);
    }
}

/* From and to what is not known, in steps. */
CASE(steps, loop, 64 * 7, 7)
{
    long from = 5 * known_late, to = from + 3 * 64;
#pragma omp parallel for
    for (long i = from; i < to; i += 3)
        cost(7);
}

CASE(collapsed, loop, 8 * 16 * 5, 5)
{
    unsigned long rows = 8 * (unsigned long)known_late, columns = 16 * (unsigned long)known_late;
#pragma omp parallel for collapse(2)
    for (unsigned long i = 0; i < rows; i++)
        for (unsigned long j = 0; j < columns; j++)
            cost(5);
}

/* A region with several loops, barriers between. */
CASE(stages, loop, 3 * 64 * 10, 3 * 10)
{
    int first = 64 * known_late, second = 64 * known_late, third = 64 * known_late;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < first; i++)
            cost(10);
#pragma omp for
        for (int i = 0; i < second; i++)
            cost(10);
#pragma omp for
        for (int i = 0; i < third; i++)
            cost(10);
    }
}

/* Headers that are computed once, for all rounds. */
CASE(rounds, loop, 20 * (64 * 10 + 5), 20 * (10 + 5))
{
    int count = 64 * known_late;
#pragma omp parallel
    for (int round = 0; round < 20; round++) {
#pragma omp for
        for (int i = 0; i < count; i++)
            cost(10);
#pragma omp single
        cost(5);
    }
}

/* The same, dealt out by chunks: behind the barriers nothing is compared. */
CASE(chunk_rounds, loop, 20 * 64 * 10, 20 * 2 * 10)
{
#pragma omp parallel
    for (int round = 0; round < 20; round++) {
#pragma omp for schedule(static, 2)
        for (int i = 0; i < 64; i++)
            cost(10);
    }
}

CASE(chunk_rounds_single, loop, 20 * (64 * 10 + 5), 20 * (10 + 5))
{
    int count = 64 * known_late, rounds = 20 * known_late;
#pragma omp parallel
    for (int round = 0; round < rounds; round++) {
#pragma omp for schedule(static, 1)
        for (int i = 0; i < count; i++)
            cost(10);
#pragma omp single
        cost(5);
    }
}

/* The program divides the iterations itself. */
CASE(by_hand, loop, 64 * 10, 10)
{
    int count = 64 * known_late;
#pragma omp parallel
    {
        int members = omp_get_num_threads(), member = omp_get_thread_num();
        int each = count / members;
        for (int i = member * each; i < (member + 1) * each; i++)
            cost(10);
    }
}

/* Region after region. */
CASE(often, loop, 200 * 4 * 50, 200 * 50)
{
    for (int run = 0; run < 200; run++) {
#pragma omp parallel for
        for (int i = 0; i < 4; i++)
            cost(50);
    }
}

int main(int count, char **arguments)
{
    return run_cases(count, arguments);
}
