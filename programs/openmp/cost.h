/*
 * What programs of this folder are made of: costs of this number of units, and cases with a closed-form answer.
 *
 * A program PROG of cases:
 *   PROG list          the cases, one a line: name, work and span in units, and how the answer is to be taken
 *   PROG CASE          runs one; a unit is a tick of the virtual clock, and the units are counted and compared
 *   PROG CASE NANOS    runs one; a unit is this number of nanoseconds of CPU time
 *
 * How an answer is to be taken:
 *   exact   work and span, with any number of threads
 *   loop    the span holds if every chunk runs by itself, as with as many virtual cores as there are iterations
 *   lock    the span is what a lock was held, which is more than the longest chain
 *   runs    the program must run to its end; the runtime reports too little about it
 *   native  it runs only with the runtime of its compiler, gcc's libgomp, and therefore not under Workspan
 */
#ifndef COST_H
#define COST_H

#include <inttypes.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workspan.h"

/* Nanoseconds of CPU time per unit; 0 for the virtual clock. */
static uint64_t unit_nanos;
/* Units so far, with the virtual clock. */
static uint64_t units_spent;

/* CPU time of this thread. */
static inline uint64_t cpu_nanos(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

/* Computes until the thread has used this number of nanoseconds of CPU time. */
static inline void spin(uint64_t nanos)
{
    volatile uint64_t sink = 1;
    uint64_t end = cpu_nanos() + nanos;
    while (cpu_nanos() < end) {
        uint64_t x = sink;
        for (int i = 0; i < 200; i++)
            x = x * 6364136223846793005u + 1;
        sink = x;
    }
}

/* Takes this number of units. */
static inline void cost(uint64_t units)
{
    if (unit_nanos) {
        spin(units * unit_nanos);
    } else {
        __atomic_fetch_add(&units_spent, units, __ATOMIC_RELAXED);
        workspan_tick(units);
    }
}

/* A program with a known answer. */
struct test_case {
    const char *name, *how;
    void (*run)(void);
    /* Work and span in units, given the number of threads of a team. */
    void (*answer)(uint64_t p, uint64_t *work, uint64_t *span);
};

static struct test_case cases[256];
static int case_count;

/* Begins a case; `work_units` and `span_units` may use `p`, the number of threads of a team. Cases list themselves. */
#define CASE(case_name, case_how, work_units, span_units)                                                              \
    static void case_name(void);                                                                                       \
    static void case_name##_answer(uint64_t p, uint64_t *work, uint64_t *span)                                         \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        *work = (work_units);                                                                                          \
        *span = (span_units);                                                                                          \
    }                                                                                                                  \
    __attribute__((constructor)) static void case_name##_is_listed(void)                                               \
    {                                                                                                                  \
        struct test_case one = {#case_name, #case_how, case_name, case_name##_answer};                                 \
        cases[case_count++] = one;                                                                                     \
    }                                                                                                                  \
    static void case_name(void)

/* Threads of a team. Asks the environment first, so that a case without OpenMP remains one. */
static inline uint64_t team_size(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    uint64_t threads = text ? strtoull(text, NULL, 10) : 0;
    return threads ? threads : (uint64_t)omp_get_max_threads();
}

/* The team, and the code that spins, are warm when a case begins. */
static inline void warm_up(void)
{
#pragma omp parallel
#pragma omp single
#pragma omp task
    spin(1000);
}

/* What `main` does. */
static inline int run_cases(int count, char **arguments)
{
    uint64_t work, span;
    if (count == 2 && strcmp(arguments[1], "list") == 0) {
        for (int i = 0; i < case_count; i++) {
            cases[i].answer(team_size(), &work, &span);
            printf("%s %" PRIu64 " %" PRIu64 " %s\n", cases[i].name, work, span, cases[i].how);
        }
        return 0;
    }
    for (int i = 0; i < case_count && count >= 2; i++) {
        if (strcmp(arguments[1], cases[i].name) != 0)
            continue;
        unit_nanos = count > 2 ? strtoull(arguments[2], NULL, 10) : 0;
        if (unit_nanos)
            warm_up();
        cases[i].run();
        if (unit_nanos)
            return 0;
        cases[i].answer(team_size(), &work, &span);
        if (units_spent == work)
            return 0;
        fprintf(stderr, "%s: %" PRIu64 " units, not %" PRIu64 "\n", cases[i].name, units_spent, work);
        return 1;
    }
    fprintf(stderr, "usage: %s list | %s CASE [NANOS]\n", arguments[0], arguments[0]);
    return 2;
}

#endif
