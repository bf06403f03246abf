/* Serial code around a parallel loop, in functions that the report has to name.
 *
 * phases         read_input, loop, write_output, loop, summarise
 * phases twice   the same, and order between the same two runs of the loop
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 40000000, PARTS = 16, ITEMS = 1200000 };

static volatile uint64_t sink;

static inline uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    return x ^ x >> 29;
}

__attribute__((noinline)) static void read_input(void) {
    uint64_t sum = 1;
    for (long i = 0; i < STEPS; i++)
        sum = mix(sum + i);
    sink = sum;
}

__attribute__((noinline)) static uint64_t escape(long steps) {
    uint64_t sum = 2;
    for (long i = 0; i < steps; i++)
        sum = mix(sum ^ i);
    return sum;
}

__attribute__((noinline)) static void write_output(void) {
    uint64_t sum = escape(STEPS / 2);
    for (long i = 0; i < STEPS / 2; i++)
        sum = mix(sum + i);
    sink = sum;
}

static int less(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

__attribute__((noinline)) static void order(void) {
    int *items = malloc(ITEMS * sizeof *items);
    for (long i = 0; i < ITEMS; i++)
        items[i] = (int)mix(i);
    qsort(items, ITEMS, sizeof *items, less);
    sink = items[ITEMS / 2];
    free(items);
}

__attribute__((noinline)) static void summarise(void) {
    uint64_t sum = 3;
    for (long i = 0; i < STEPS; i++)
        sum = mix(sum ^ 2 * i);
    sink = sum;
}

static void parallel_part(void) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int part = 0; part < PARTS; part++) {
        uint64_t sum = part;
        for (long i = 0; i < STEPS / PARTS; i++)
            sum = mix(sum + i);
        sink = sum;
    }
}

int main(int argc, char **argv) {
    read_input();
    parallel_part();
    write_output();
    if (argc > 1 && strcmp(argv[1], "twice") == 0) {
        order();
    }
    parallel_part();
    summarise();
    return 0;
}
