/*
 * Cholesky factorisation of a dense matrix: A = Uᵗ·U for an upper triangle U, in place.
 *
 * By quarters: the first is factored; the one to its right is solved for it, in strips of columns beside each other;
 * the last is reduced by the product of that with itself, in tiles beside each other, and factored. Tiles of no more
 * than cutoff rows and columns are left to serial loops. Size is the number of rows.
 *
 * Work Θ(n³), span Θ(n log² n).
 */
#include "tile.h"

/* Symmetric, with a diagonal that outweighs the rest. */
static void make_definite(struct tile a)
{
    for (size_t i = 0; i < a.rows; i++) {
        row(a, i)[i] = (double)a.rows;
        for (size_t j = i + 1; j < a.rows; j++)
            row(a, j)[i] = row(a, i)[j];
    }
}

/* `c -= aᵗ · b`. */
static void reduce(struct tile c, struct tile a, struct tile b, size_t cutoff)
{
    if (larger(c.rows, c.columns) <= cutoff) {
        for (size_t k = 0; k < a.rows; k++) {
            for (size_t i = 0; i < a.columns; i++)
                add(row(c, i), -row(a, k)[i], row(b, k), c.columns);
        }
    } else if (c.rows >= c.columns) {
#pragma omp task
        reduce(top(c), left(a), b, cutoff);
        reduce(bottom(c), right(a), b, cutoff);
#pragma omp taskwait
    } else {
#pragma omp task
        reduce(left(c), a, left(b), cutoff);
        reduce(right(c), a, right(b), cutoff);
#pragma omp taskwait
    }
}

/* `c -= aᵗ · a`, of which only the upper triangle matters. */
static void reduce_upper(struct tile c, struct tile a, size_t cutoff)
{
    if (c.rows <= cutoff) {
        reduce(c, a, a, cutoff);
        return;
    }
#pragma omp task
    reduce(right(top(c)), left(a), right(a), cutoff);
#pragma omp task
    reduce_upper(left(top(c)), left(a), cutoff);
    reduce_upper(right(bottom(c)), right(a), cutoff);
#pragma omp taskwait
}

/* `b` becomes the X for which `uᵗ · X = b`. */
static void solve(struct tile u, struct tile b, size_t cutoff)
{
    if (b.columns > cutoff) {
#pragma omp task
        solve(u, left(b), cutoff);
        solve(u, right(b), cutoff);
#pragma omp taskwait
    } else if (u.rows > cutoff) {
        solve(left(top(u)), top(b), cutoff);
        reduce(bottom(b), right(top(u)), top(b), cutoff);
        solve(right(bottom(u)), bottom(b), cutoff);
    } else {
        for (size_t k = 0; k < u.rows; k++) {
            for (size_t j = 0; j < b.columns; j++)
                row(b, k)[j] /= row(u, k)[k];
            for (size_t i = k + 1; i < u.rows; i++)
                add(row(b, i), -row(u, k)[i], row(b, k), b.columns);
        }
    }
}

static void factor_tile(struct tile a)
{
    for (size_t k = 0; k < a.rows; k++) {
        double *from = row(a, k), root = sqrt(from[k]);
        for (size_t j = k; j < a.rows; j++)
            from[j] /= root;
        for (size_t i = k + 1; i < a.rows; i++)
            add(row(a, i) + i, -from[i], from + i, a.rows - i);
    }
}

static void factor(struct tile a, size_t cutoff)
{
    if (a.rows <= cutoff) {
        factor_tile(a);
        return;
    }
    factor(left(top(a)), cutoff);
    solve(left(top(a)), right(top(a)), cutoff);
    reduce_upper(right(bottom(a)), right(top(a)), cutoff);
    factor(right(bottom(a)), cutoff);
}

/* `Uᵗ·(U·x)`. */
static double *times_factors(struct tile upper, const double *x)
{
    size_t n = upper.rows;
    double *product = zeros(n, sizeof *product);
    for (size_t i = 0; i < n; i++)
        add(product + i, dot(row(upper, i) + i, x + i, n - i), row(upper, i) + i, n - i);
    return product;
}

static bool run(size_t n, size_t cutoff)
{
    struct numbers numbers = first_numbers;
    struct tile a = random_matrix(n, n, &numbers);
    make_definite(a);
    double *x = reals(n, &numbers), *expected = times(a, x);
#pragma omp parallel
#pragma omp single
    factor(a, larger(cutoff, 1));
    double *found = times_factors(a, x);
    bool right = close_to(found, expected, n);
    free(a.at), free(x), free(expected), free(found);
    return right;
}

int main(int count, char **arguments)
{
    return run_program(count, arguments, 2200, 64, run);
}
