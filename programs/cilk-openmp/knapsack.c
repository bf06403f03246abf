/*
 * The most valuable set of items that a knapsack can carry, by branch and bound: an item is taken or left, the two
 * beside each other, unless the room that is left, filled at the value per weight of that item, would not beat the best
 * set so far, which all tasks share. Items come in order of that ratio, and the search begins with the set that takes
 * whatever fits in that order. Size is the number of items; with no more than cutoff of them left no tasks are made.
 *
 * What is cut off depends on what was found before, and so on the order in which tasks run: with several workers the
 * work differs from run to run.
 *
 * Work O(2ⁿ), span O(n).
 */
#include "cilk.h"

struct item {
    uint64_t weight, value;
};

/* The value of the best set so far. */
static uint64_t best;

/* Notes a set, with `count` items to come; true if they may lead to a better one. */
static bool is_open(const struct item *items, size_t count, uint64_t room, uint64_t value)
{
    uint64_t known = __atomic_load_n(&best, __ATOMIC_RELAXED);
    while (value > known) {
        if (__atomic_compare_exchange_n(&best, &known, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            known = value;
    }
    return count > 0 && value + room * items->value / items->weight > known;
}

/* Notes the best of a set of this value and what can be added to it. */
static void search(const struct item *items, size_t count, uint64_t room, uint64_t value)
{
    if (!is_open(items, count, room, value))
        return;
#pragma omp task
    if (items->weight <= room)
        search(items + 1, count - 1, room - items->weight, value + items->value);
    search(items + 1, count - 1, room, value);
#pragma omp taskwait
}

static void search_serially(const struct item *items, size_t count, uint64_t room, uint64_t value)
{
    if (!is_open(items, count, room, value))
        return;
    if (items->weight <= room)
        search_serially(items + 1, count - 1, room - items->weight, value + items->value);
    search_serially(items + 1, count - 1, room, value);
}

static void search_with_cutoff(const struct item *items, size_t count, uint64_t room, uint64_t value, size_t cutoff)
{
    if (count <= cutoff) {
        search_serially(items, count, room, value);
        return;
    }
    if (!is_open(items, count, room, value))
        return;
#pragma omp task
    if (items->weight <= room)
        search_with_cutoff(items + 1, count - 1, room - items->weight, value + items->value, cutoff);
    search_with_cutoff(items + 1, count - 1, room, value, cutoff);
#pragma omp taskwait
}

/* By value per weight, the best first. */
static int compare_items(const void *a, const void *b)
{
    const struct item *first = a, *second = b;
    uint64_t x = first->value * second->weight, y = second->value * first->weight;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The value of the set that takes whatever fits. */
static uint64_t greedy(const struct item *items, size_t count, uint64_t room)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        if (items[i].weight <= room) {
            room -= items[i].weight;
            value += items[i].value;
        }
    }
    return value;
}

/* The answer by dynamic programming: the most for each room, with ever more items. */
static uint64_t most(const struct item *items, size_t count, uint64_t room)
{
    uint64_t *most = zeros(room + 1, sizeof *most);
    for (size_t i = 0; i < count; i++) {
        for (uint64_t at = room; at >= items[i].weight; at--) {
            uint64_t with = most[at - items[i].weight] + items[i].value;
            most[at] = most[at] > with ? most[at] : with;
        }
    }
    uint64_t answer = most[room];
    free(most);
    return answer;
}

static bool run(size_t n, size_t cutoff)
{
    struct numbers numbers = first_numbers;
    struct item *items = zeros(n, sizeof *items);
    uint64_t room = 0;
    for (size_t i = 0; i < n; i++) {
        items[i].weight = 1 + next_number(&numbers) % 100;
        items[i].value = 1 + next_number(&numbers) % 100;
        room += items[i].weight;
    }
    qsort(items, n, sizeof *items, compare_items);
    room /= 2;
    best = greedy(items, n, room);
#pragma omp parallel
#pragma omp single
    if (cutoff < 2)
        search(items, n, room, 0);
    else
        search_with_cutoff(items, n, room, 0, cutoff);
    bool right = best == most(items, n, room);
    free(items);
    return right;
}

int main(int count, char **arguments)
{
    return run_program(count, arguments, 52, 0, run);
}
