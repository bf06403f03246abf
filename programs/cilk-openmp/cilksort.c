/*
 * Merge sort with a merge in parallel: the halves are sorted beside each other, each into the other one of two arrays,
 * and merged back. To merge, the longer run is cut in its middle, the shorter one where that element would be, and the
 * two pairs are merged beside each other. Up to cutoff elements no tasks are made. Size is the number of elements.
 *
 * Work Θ(n log n), span Θ(log³ n).
 */
#include "cilk.h"

/* What is sorted by insertion. */
enum { FEW = 32 };

struct run {
    const uint64_t *items;
    size_t count;
};

/* The first this number of elements. */
static struct run first(struct run run, size_t count)
{
    return (struct run){run.items, count};
}

/* The others. */
static struct run after(struct run run, size_t count)
{
    return (struct run){run.items + count, run.count - count};
}

/* How many elements are less than `item`. */
static size_t count_below(struct run run, uint64_t item)
{
    size_t low = 0, high = run.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (run.items[middle] < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void merge_serially(struct run a, struct run b, uint64_t *to)
{
    size_t i = 0, j = 0;
    for (size_t k = 0; k < a.count + b.count; k++)
        to[k] = j == b.count || (i < a.count && a.items[i] <= b.items[j]) ? a.items[i++] : b.items[j++];
}

static void merge(struct run a, struct run b, uint64_t *to, size_t cutoff)
{
    if (a.count + b.count <= cutoff) {
        merge_serially(a, b, to);
        return;
    }
    struct run longer = a.count >= b.count ? a : b, shorter = a.count >= b.count ? b : a;
    size_t middle = longer.count / 2, at = count_below(shorter, longer.items[middle]);
#pragma omp task
    merge(first(longer, middle), first(shorter, at), to, cutoff);
    merge(after(longer, middle), after(shorter, at), to + middle + at, cutoff);
#pragma omp taskwait
}

static void sort_by_insertion(uint64_t *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1] > item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Sorts `items`, into `spare` or where they are. */
static void sort(uint64_t *items, uint64_t *spare, size_t count, bool into_spare, size_t cutoff)
{
    size_t half = count / 2;
    if (count <= FEW) {
        sort_by_insertion(items, count);
        if (into_spare)
            memcpy(spare, items, count * sizeof *items);
        return;
    }
    if (count > cutoff) {
#pragma omp task
        sort(items, spare, half, !into_spare, cutoff);
        sort(items + half, spare + half, count - half, !into_spare, cutoff);
#pragma omp taskwait
    } else {
        sort(items, spare, half, !into_spare, cutoff);
        sort(items + half, spare + half, count - half, !into_spare, cutoff);
    }
    struct run from = {into_spare ? items : spare, count};
    merge(first(from, half), after(from, half), into_spare ? spare : items, cutoff);
}

static bool run(size_t n, size_t cutoff)
{
    struct numbers numbers = first_numbers;
    uint64_t *items = zeros(n, sizeof *items), *spare = zeros(n, sizeof *spare), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += items[i] = next_number(&numbers);
#pragma omp parallel
#pragma omp single
    sort(items, spare, n, false, larger(cutoff, FEW));
    bool right = true;
    for (size_t i = 0; i < n; i++) {
        right = right && (i == 0 || items[i - 1] <= items[i]);
        sum -= items[i];
    }
    free(items), free(spare);
    return right && sum == 0;
}

int main(int count, char **arguments)
{
    return run_program(count, arguments, 4000000, 4096, run);
}
