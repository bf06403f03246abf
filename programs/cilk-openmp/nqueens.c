/*
 * In how many ways n queens stand on a board of n × n, none of them in reach of another: row by row, every place that
 * is out of reach is tried, all of them beside each other. Size is n, 16 at most; with no more than cutoff rows left no
 * tasks are made.
 *
 * Work as the number of boards without queens in reach, below n!; span Θ(n²).
 */
#include "cilk.h"

/* The answers, from n = 0 on. */
static const uint64_t ways_of[] = {1,  1,   0,   0,    2,     10,    4,      40,      92,
                                   352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

/* Places of a row in reach of the queens above it, one bit each, by the direction in which they reach them. */
struct board {
    uint32_t down, left, right;
};

/* Places out of reach, of those of `all`. */
static uint32_t free_places(struct board board, uint32_t all)
{
    return all & ~(board.down | board.left | board.right);
}

/* The next row, after a queen was put on `place`. */
static struct board put(struct board board, uint32_t place)
{
    return (struct board){board.down | place, (board.left | place) << 1, (board.right | place) >> 1};
}

static uint64_t count_serially(struct board board, uint32_t all, size_t rows)
{
    uint64_t ways = 0;
    if (rows == 0)
        return 1;
    for (uint32_t free = free_places(board, all); free; free &= free - 1)
        ways += count_serially(put(board, free & -free), all, rows - 1);
    return ways;
}

/* Ways to fill the last `rows` rows. */
static uint64_t count_ways(struct board board, uint32_t all, size_t rows, size_t cutoff)
{
    uint64_t ways[32] = {0}, sum = 0;
    size_t tried = 0;
    if (rows <= cutoff)
        return count_serially(board, all, rows);
    if (rows == 0)
        return 1;
    for (uint32_t free = free_places(board, all); free; free &= free - 1, tried++) {
#pragma omp task shared(ways)
        ways[tried] = count_ways(put(board, free & -free), all, rows - 1, cutoff);
    }
#pragma omp taskwait
    for (size_t i = 0; i < tried; i++)
        sum += ways[i];
    return sum;
}

static bool run(size_t n, size_t cutoff)
{
    struct board board = {0, 0, 0};
    uint64_t ways = 0;
    if (n >= sizeof ways_of / sizeof *ways_of)
        return false;
#pragma omp parallel
#pragma omp single
    ways = count_ways(board, ((uint32_t)1 << n) - 1, n, cutoff);
    return ways == ways_of[n];
}

int main(int count, char **arguments)
{
    return run_program(count, arguments, 14, 7, run);
}
