/* What the C and the C++ program share: the task, the plan, the clock, and the lines that they print.
 *
 * Arguments: rounds at most and at least, the limit in milliseconds and the one for the least rounds, and for each size its
 * iterations and its forks. A line for each sample: iterations, forks, nanoseconds of plain calls, nanoseconds on two threads. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t opaque_one = 1;
static volatile uint64_t result;

/* Four instructions an iteration: or, add, compare, branch. The compiler knows neither value and so keeps the loop; each
 * iteration needs the one before it, so there is nothing to vectorise. */
__attribute__((noinline)) static void task(uint64_t iterations) {
    const uint64_t mask = opaque_one, step = opaque_one;
    /* (even | 1) + 1 is the next even number. */
    const uint64_t end = 2 * iterations;
    uint64_t value = 0;
    do {
        value = (value | mask) + step;
    } while (value < end);
    result = value;
}

static uint64_t now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static uint64_t in_turn(uint64_t iterations, uint64_t forks) {
    const uint64_t before = now();
    for (uint64_t i = 0; i < forks; i++) {
        task(iterations);
        task(iterations);
    }
    return now() - before;
}

/* Forks that wake the other thread before a sample, and their iterations. */
#define WAKING_FORKS 4
#define WAKING_ITERATIONS 16384

/* The time on two threads, of the runtime that is measured. */
typedef uint64_t forked_fn(uint64_t iterations, uint64_t forks);

static int measure(int argc, char **argv, forked_fn *forked) {
    if (argc < 5)
        return 2;
    const long most = atol(argv[1]), fewest = atol(argv[2]);
    const uint64_t began = now();
    for (long round = 0; round < most; round++) {
        const uint64_t limit = began + strtoull(argv[round < fewest ? 4 : 3], NULL, 10) * 1000000u;
        for (int at = 5; at + 1 < argc && now() < limit; at += 2) {
            const uint64_t iterations = strtoull(argv[at], NULL, 10), forks = strtoull(argv[at + 1], NULL, 10);
            const uint64_t seq = in_turn(iterations, forks), p2 = forked(iterations, forks);
            printf("%llu %llu %llu %llu\n", (unsigned long long)iterations, (unsigned long long)forks,
                   (unsigned long long)seq, (unsigned long long)p2);
        }
    }
    return 0;
}
