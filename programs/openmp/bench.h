/* What the programs for measuring share: arguments, work of a fixed amount, and memory used. */
#ifndef BENCH_H
#define BENCH_H

#include <inttypes.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The argument at this place, or `otherwise` if there is none. */
static inline uint64_t argument(int count, char **arguments, int at, uint64_t otherwise)
{
    return at < count ? strtoull(arguments[at], NULL, 10) : otherwise;
}

/* Ends with a message unless the result is right. */
static inline void check(int right)
{
    if (!right) {
        fputs("wrong result\n", stderr);
        exit(1);
    }
}

/* This number of steps of arithmetic, each of which needs the one before; no clock is asked, no memory touched. */
static inline void run_steps(uint64_t steps)
{
    uint64_t x = 1;
    for (uint64_t i = 0; i < steps; i++) {
        x = (x ^ (x >> 29)) * 6364136223846793005u;
        __asm__ volatile("" : "+r"(x));
    }
}

static inline int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Steps per microsecond: the median, as the processor's speed varies and interruptions are no part of it. */
static inline uint64_t steps_per_microsecond(void)
{
    enum { SAMPLES = 51, STEPS = 100000 };
    uint64_t nanos[SAMPLES];
    run_steps(5000000);
    for (int i = 0; i < SAMPLES; i++) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        run_steps(STEPS);
        clock_gettime(CLOCK_MONOTONIC, &end);
        nanos[i] = (uint64_t)(end.tv_sec - start.tv_sec) * 1000000000u + (uint64_t)end.tv_nsec - (uint64_t)start.tv_nsec;
    }
    qsort(nanos, SAMPLES, sizeof nanos[0], compare_numbers);
    return STEPS * 1000u / (nanos[SAMPLES / 2] ? nanos[SAMPLES / 2] : 1);
}

/* Prints `peak_kib`, the largest resident set of this process so far. */
static inline void print_peak(void)
{
    char line[128];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        uint64_t kib;
        if (sscanf(line, "VmHWM: %" SCNu64, &kib) == 1)
            printf("peak_kib %" PRIu64 "\n", kib);
    }
    if (status)
        fclose(status);
}

#endif
