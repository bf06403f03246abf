/*
 * What the programs of this folder share. They are the eleven by which Cilkprof was measured, each written anew from
 * its algorithm, with tasks of OpenMP; `programs/cilk` has the same in Rust, with the same structure and inputs.
 *
 *   NAME [SIZE [CUTOFF [REPEAT]]]
 *
 * runs the program this number of times, then prints `peak_kib`, the largest resident set of this process. Each run checks its
 * result. What size and cutoff are is described in the file of the program; with cutoff 0 it makes as many tasks as it can.
 */
#ifndef CILK_H
#define CILK_H

#include "../openmp/bench.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* What `main` does: `run` reports whether its result is right. */
static inline int run_program(int count, char **arguments, size_t size, size_t cutoff, bool (*run)(size_t, size_t))
{
    size = argument(count, arguments, 1, size);
    cutoff = argument(count, arguments, 2, cutoff);
    for (uint64_t repeat = argument(count, arguments, 3, 1); repeat > 0; repeat--)
        check(run(size, cutoff));
    print_peak();
    return 0;
}

static inline size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* This number of zeros. */
static inline void *zeros(size_t count, size_t size)
{
    void *items = calloc(count ? count : 1, size);
    check(items != NULL);
    return items;
}

/* ---- Inputs: numbers without order, by a linear congruence, the same in each run and in Rust ---- */

struct numbers {
    uint64_t state;
};

static const struct numbers first_numbers = {1};

/* The next number, of 44 bits. */
static inline uint64_t next_number(struct numbers *numbers)
{
    numbers->state = numbers->state * 6364136223846793005u + 1442695040888963407u;
    return numbers->state >> 20;
}

/* The next number, from -1 to 1. */
static inline double next_real(struct numbers *numbers)
{
    return (double)next_number(numbers) / (double)((uint64_t)1 << 43) - 1;
}

/* This number of of them. */
static inline double *reals(size_t count, struct numbers *numbers)
{
    double *items = zeros(count, sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i] = next_real(numbers);
    return items;
}

/* True if two results are equal but for rounding. What is no number is equal to nothing. */
static inline bool close_to(const double *found, const double *expected, size_t count)
{
    double largest = 1;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(found[i] - expected[i]) <= 1e-9 * largest))
            return false;
    }
    return true;
}

#endif
