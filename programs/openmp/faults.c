// Page faults at a known place: one loop is the first to touch memory, another computes on memory that is there.
//
// faults [ROUNDS]: each round takes 2000 pages anew. Printed is how many faults the kernel has counted for the process while
// the first loop ran, in all rounds: at least a page each, 2000 a round.

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { PAGE = 4096, PAGES = 2000 };

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static void touch(char *memory) {
#pragma omp parallel for schedule(static)
    for (int page = 0; page < PAGES; page++)
        memory[(size_t)page * PAGE] = 1;
}

static long compute(const char *memory, int round) {
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < 256; i++)
        for (int byte = 0; byte < 16 * PAGE; byte++)
            sum += (memory[byte] ^ i ^ round) % 7;
    return sum;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    char *there = malloc(16 * PAGE);
    for (int i = 0; i < 16 * PAGE; i++)
        there[i] = 1;
    // The team is there before anything is counted.
    long sum = compute(there, 0), counted = 0;
    for (int round = 0; round < rounds; round++) {
        size_t length = (size_t)PAGES * PAGE;
        char *fresh = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (fresh == MAP_FAILED)
            return 1;
        madvise(fresh, length, MADV_NOHUGEPAGE);
        long before = faults();
        touch(fresh);
        counted += faults() - before;
        sum += compute(there, round);
        munmap(fresh, length);
    }
    printf("%ld %ld\n", counted, sum);
    return 0;
}
