/*
 * Product of square matrices by Strassen: seven products of sums of quarters, beside each other, each a task that also
 * makes its sums; the quarters of the result are sums of the products, made serially. Matrices of no more than cutoff
 * rows, or of an odd number of them, are left to serial loops. Size is the number of rows.
 *
 * Work Θ(n^log₂7), span Θ(n²) for the sums.
 */
#include "tile.h"

/* What a product takes of each quarter of A, and of each of B. */
static const double products_of[7][2][4] = {
    {{1, 0, 0, 1}, {1, 0, 0, 1}},
    {{0, 0, 1, 1}, {1, 0, 0, 0}},
    {{1, 0, 0, 0}, {0, 1, 0, -1}},
    {{0, 0, 0, 1}, {-1, 0, 1, 0}},
    {{1, 1, 0, 0}, {0, 0, 0, 1}},
    {{-1, 0, 1, 0}, {1, 1, 0, 0}},
    {{0, 1, 0, -1}, {0, 0, 1, 1}},
};

/* What a quarter of the result takes of each product. */
static const double sums_of[4][7] = {
    {1, 0, 0, 1, -1, 0, 1},
    {0, 0, 1, 0, 1, 0, 0},
    {0, 1, 0, 1, 0, 0, 0},
    {1, -1, 1, 0, 0, 1, 0},
};

static struct tile quarter(struct tile tile, size_t at)
{
    struct tile half = at < 2 ? top(tile) : bottom(tile);
    return at % 2 == 0 ? left(half) : right(half);
}

static void add_tile(struct tile to, double factor, struct tile from)
{
    for (size_t i = 0; i < to.rows && factor != 0; i++)
        add(row(to, i), factor, row(from, i), to.columns);
}

/* A sum of quarters. */
static struct tile sum(struct tile tile, const double factors[4])
{
    struct tile sum = zero_matrix(tile.rows / 2, tile.rows / 2);
    for (size_t i = 0; i < 4; i++)
        add_tile(sum, factors[i], quarter(tile, i));
    return sum;
}

/* `c += a · b`. */
static void multiply(struct tile c, struct tile a, struct tile b, size_t cutoff)
{
    if (c.rows <= cutoff || c.rows % 2 == 1) {
        add_product(c, 1, a, b);
        return;
    }
    struct tile products[7];
    for (size_t i = 0; i < 7; i++) {
        struct tile product = products[i] = zero_matrix(c.rows / 2, c.rows / 2);
#pragma omp task
        {
            struct tile of_a = sum(a, products_of[i][0]), of_b = sum(b, products_of[i][1]);
            multiply(product, of_a, of_b, cutoff);
            free(of_a.at), free(of_b.at);
        }
    }
#pragma omp taskwait
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 7; j++)
            add_tile(quarter(c, i), sums_of[i][j], products[j]);
    }
    for (size_t i = 0; i < 7; i++)
        free(products[i].at);
}

static bool run(size_t n, size_t cutoff)
{
    struct numbers numbers = first_numbers;
    struct tile a = random_matrix(n, n, &numbers), b = random_matrix(n, n, &numbers), c = zero_matrix(n, n);
#pragma omp parallel
#pragma omp single
    multiply(c, a, b, larger(cutoff, 1));
    bool right = is_product(c, a, b, &numbers);
    free(a.at), free(b.at), free(c.at);
    return right;
}

int main(int count, char **arguments)
{
    return run_program(count, arguments, 1280, 80, run);
}
