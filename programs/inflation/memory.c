/* Strands that take longer where others run beside them, each for a reason in memory that is known.
 *
 *   memory false      two threads count in a cell each, and the cells are in one cache line
 *   memory true       two threads count in the same cell
 *   memory set        each thread goes over a block of its own again and again; together these do not fit into a cache of 256 KiB
 *   memory traffic    what one thread has written, the other reads, over and over
 *   memory compute    nothing of memory: the innocent memory below is all that is touched
 *   memory none       as `false`, but strands take the same in parallel
 *
 * Every strand also goes over a block that is its own and small, which explains nothing. How long strands take is what they say
 * themselves: a tick of the virtual clock in the serial runs, three in the parallel ones.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspan.h"

enum { THREADS = 2, ROUNDS = 20, CELLS = 500, INNOCENT = 4096, BLOCK = 192 << 10, PASSED = 32 << 10 };

static uint64_t ticks;

static void innocent(volatile char *own)
{
    for (int i = 0; i < INNOCENT; i++)
        own[i]++;
}

static void count(volatile char *own)
{
    volatile long *cells = aligned_alloc(64, 64);
    cells[0] = cells[1] = 0;
    #pragma omp parallel num_threads(THREADS)
    {
        int thread = omp_get_thread_num();
        for (int i = 0; i < ROUNDS * CELLS; i++)
            cells[thread]++;
        innocent(own + thread * INNOCENT);
        workspan_tick(ticks);
    }
    free((void *)cells);
}

static void count_together(volatile char *own)
{
    long *cell = aligned_alloc(64, 64);
    *cell = 0;
    #pragma omp parallel num_threads(THREADS)
    {
        for (int i = 0; i < ROUNDS * CELLS; i++)
            __atomic_fetch_add(cell, 1, __ATOMIC_RELAXED);
        innocent(own + omp_get_thread_num() * INNOCENT);
        workspan_tick(ticks);
    }
    free(cell);
}

static void go_over(volatile char *own)
{
    volatile char *blocks = aligned_alloc(64, THREADS * BLOCK);
    #pragma omp parallel num_threads(THREADS)
    {
        int thread = omp_get_thread_num();
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < BLOCK; i += 16)
                blocks[thread * BLOCK + i]++;
        innocent(own + thread * INNOCENT);
        workspan_tick(ticks);
    }
    free((void *)blocks);
}

static void pass_on(volatile char *own)
{
    volatile long *passed = aligned_alloc(64, PASSED);
    memset((void *)passed, 0, PASSED);
    #pragma omp parallel num_threads(THREADS)
    {
        int thread = omp_get_thread_num();
        long sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            if (thread == round % 2)
                for (int i = 0; i < PASSED / 8; i++)
                    passed[i] = round;
            #pragma omp barrier
            if (thread != round % 2)
                for (int i = 0; i < PASSED / 8; i++)
                    sum += passed[i];
            #pragma omp barrier
        }
        innocent(own + thread * INNOCENT);
        workspan_tick(ticks + (sum == 1));
    }
    free((void *)passed);
}

static void compute(volatile char *own)
{
    #pragma omp parallel num_threads(THREADS)
    {
        innocent(own + omp_get_thread_num() * INNOCENT);
        workspan_tick(ticks);
    }
}

int main(int count_of, char **words)
{
    static const struct { const char *name; void (*run)(volatile char *own); } cases[] = {
        { "false", count }, { "true", count_together }, { "set", go_over }, { "traffic", pass_on }, { "compute", compute }, { "none", count },
    };
    const char *name = count_of > 1 ? words[1] : "";
    /* Workspan's serial runs of OpenMP programs have this variable. */
    int serial = getenv("KMP_BLOCKTIME") != NULL;
    ticks = serial || strcmp(name, "none") == 0 ? 1000000 : 3000000;
    volatile char *own = aligned_alloc(64, THREADS * INNOCENT);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0) {
            cases[i].run(own);
            puts(name);
            return 0;
        }
    return 2;
}
