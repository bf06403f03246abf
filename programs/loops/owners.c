// Objects that end inside a loop, parts of arrays that accumulate, globals of called functions, results of calls that a later block
// takes.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 40 };

static int copy[N];
static long steps[N + 1], table[N][N];
static double scratch[16], results[N];

// Frees what later iterations would read, if they came later: only the last iteration may.
static long last_one_frees(int *block) {
    long sum = 0;
    for (int i = 0; i < N; i++) { // @serial
        copy[i] = block[i] + 1;
        if (i == N - 1) free(block);
    }
    return sum;
}

// Each iteration owns a block.
static long own_blocks(void) {
    for (int i = 0; i < N; i++) { // @parallel
        int *own = malloc((i + 1) * sizeof *own);
        for (int j = 0; j <= i; j++) own[j] = i ^ j; // @parallel
        copy[i] = own[i / 2];
        free(own);
    }
    return copy[N / 2];
}

// One element accumulates, others are read: a copy of the array would not have them.
static long one_element(void) {
    for (int i = 0; i <= N; i++) steps[i] = i + 1; // @parallel
    for (int i = 1; i < N; i++) { // @serial
        for (int j = 0; j < i; j++) { // @clauses
            steps[i] += 3 * steps[j];
        }
    }
    return steps[N - 1] & 1023;
}

// Several elements accumulate, others are read.
static long several_elements(const int *to) {
    for (int i = 0; i < N; i++) { // @serial
        steps[to[i]] += steps[N];
        if (steps[to[i]] > 900) steps[N]++;
    }
    return steps[3] & 1023;
}

static double smooth(int x) {
    for (int k = 0; k < 16; k++) scratch[k] = x * k % 7; // @parallel
    for (int k = 1; k < 16; k++) scratch[k] += 0.5 * scratch[k - 1]; // @serial
    return scratch[15];
}

// What the function keeps in a global is its own in each iteration, but no clause of the loop reaches it.
static double global_of_a_call(void) {
    for (int i = 0; i < N; i++) { // @clauses
        results[i] = smooth(i);
    }
    return results[N / 3];
}

static long work(long x) {
    for (int k = 0; k < 200; k++) x = x * 5 + k; // @serial
    return (x & 4095) + 4;
}

// A chain: each call needs the result of the one before, which a choice has passed on.
static long chain(long a) {
    long b = a > 3 ? work(a) : 1;
    long c = b > 3 ? work(b) : 1;
    long d = c > 3 ? work(c) : 1;
    return d & 1023;
}

int main(int argc, char **argv) {
    int *block = malloc(N * sizeof *block), to[N];
    for (int i = 0; i < N; i++) { // @parallel
        block[i] = i;
        to[i] = i * 7 % N;
    }
    long sum = last_one_frees(block);
    sum += own_blocks();
    sum += one_element();
    sum += several_elements(to);
    double flat = global_of_a_call();
    long end = chain(argc + 20);
    printf("%ld %g %ld\n", sum, flat, end);
    return 0;
}
