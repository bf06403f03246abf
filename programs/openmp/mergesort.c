/*
 * mergesort [ELEMENTS [CUTOFF [REPEAT]]]: sorts numbers without order, by a task for each half above CUTOFF elements;
 * the merge is serial.
 */
#include "bench.h"

static void insertion_sort(uint64_t *items, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        uint64_t item = items[i], at = i;
        for (; at > 0 && items[at - 1] > item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static void merge(const uint64_t *from, uint64_t half, uint64_t count, uint64_t *into)
{
    uint64_t left = 0, right = half;
    for (uint64_t i = 0; i < count; i++)
        into[i] = right == count || (left < half && from[left] <= from[right]) ? from[left++] : from[right++];
}

static void sort(uint64_t *items, uint64_t *spare, uint64_t count, uint64_t cutoff)
{
    uint64_t half = count / 2;
    if (count <= 32) {
        insertion_sort(items, count);
        return;
    }
    if (count <= cutoff) {
        sort(items, spare, half, cutoff);
        sort(items + half, spare + half, count - half, cutoff);
    } else {
#pragma omp task
        sort(items, spare, half, cutoff);
#pragma omp task
        sort(items + half, spare + half, count - half, cutoff);
#pragma omp taskwait
    }
    merge(items, half, count, spare);
    memcpy(items, spare, count * sizeof *items);
}

int main(int count, char **arguments)
{
    uint64_t elements = argument(count, arguments, 1, 4000000), cutoff = argument(count, arguments, 2, 1000);
    uint64_t repeat = argument(count, arguments, 3, 1);
    uint64_t *items = malloc(elements * sizeof *items), *spare = malloc(elements * sizeof *spare);
    check(items && spare);
    for (uint64_t run = 0; run < repeat; run++) {
        uint64_t x = 1, sum = 0;
        for (uint64_t i = 0; i < elements; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            items[i] = x >> 20;
            sum += items[i];
        }
#pragma omp parallel
#pragma omp single
        sort(items, spare, elements, cutoff);
        for (uint64_t i = 0; i < elements; i++) {
            check(i == 0 || items[i - 1] <= items[i]);
            sum -= items[i];
        }
        check(sum == 0);
    }
    free(items);
    free(spare);
    print_peak();
    return 0;
}
