/*
 * LU decomposition of a dense matrix without pivots, in place: A = L·U, L with ones on its diagonal.
 *
 * By quarters: the first is decomposed; the one to its right is solved for L and the one below for U, beside each
 * other; the last is reduced by the product of the two, in tiles beside each other, and decomposed. Tiles of no more
 * than cutoff rows and columns are left to serial loops. Size is the number of rows.
 *
 * Work Θ(n³), span Θ(n log² n).
 */
#include "tile.h"

/* `c -= a · b`. */
static void reduce(struct tile c, struct tile a, struct tile b, size_t cutoff)
{
    if (larger(c.rows, c.columns) <= cutoff) {
        add_product(c, -1, a, b);
    } else if (c.rows >= c.columns) {
#pragma omp task
        reduce(top(c), top(a), b, cutoff);
        reduce(bottom(c), bottom(a), b, cutoff);
#pragma omp taskwait
    } else {
#pragma omp task
        reduce(left(c), a, left(b), cutoff);
        reduce(right(c), a, right(b), cutoff);
#pragma omp taskwait
    }
}

/* `b` becomes the X for which `l · X = b`. */
static void solve_lower(struct tile l, struct tile b, size_t cutoff)
{
    if (b.columns > cutoff) {
#pragma omp task
        solve_lower(l, left(b), cutoff);
        solve_lower(l, right(b), cutoff);
#pragma omp taskwait
    } else if (l.rows > cutoff) {
        solve_lower(left(top(l)), top(b), cutoff);
        reduce(bottom(b), left(bottom(l)), top(b), cutoff);
        solve_lower(right(bottom(l)), bottom(b), cutoff);
    } else {
        for (size_t i = 1; i < l.rows; i++) {
            for (size_t k = 0; k < i; k++)
                add(row(b, i), -row(l, i)[k], row(b, k), b.columns);
        }
    }
}

/* `b` becomes the X for which `X · u = b`. */
static void solve_upper(struct tile u, struct tile b, size_t cutoff)
{
    if (b.rows > cutoff) {
#pragma omp task
        solve_upper(u, top(b), cutoff);
        solve_upper(u, bottom(b), cutoff);
#pragma omp taskwait
    } else if (u.rows > cutoff) {
        solve_upper(left(top(u)), left(b), cutoff);
        reduce(right(b), left(b), right(top(u)), cutoff);
        solve_upper(right(bottom(u)), right(b), cutoff);
    } else {
        for (size_t i = 0; i < b.rows; i++) {
            double *to = row(b, i);
            for (size_t k = 0; k < u.rows; k++) {
                to[k] /= row(u, k)[k];
                add(to + k + 1, -to[k], row(u, k) + k + 1, u.rows - k - 1);
            }
        }
    }
}

static void decompose_tile(struct tile a)
{
    for (size_t k = 0; k < a.rows; k++) {
        double *from = row(a, k);
        for (size_t i = k + 1; i < a.rows; i++) {
            double *to = row(a, i);
            to[k] /= from[k];
            add(to + k + 1, -to[k], from + k + 1, a.rows - k - 1);
        }
    }
}

static void decompose(struct tile a, size_t cutoff)
{
    if (a.rows <= cutoff) {
        decompose_tile(a);
        return;
    }
    struct tile first = left(top(a)), beside = right(top(a)), below = left(bottom(a)), last = right(bottom(a));
    decompose(first, cutoff);
#pragma omp task
    solve_lower(first, beside, cutoff);
    solve_upper(first, below, cutoff);
#pragma omp taskwait
    reduce(last, below, beside, cutoff);
    decompose(last, cutoff);
}

/* `L·(U·x)`. */
static double *times_factors(struct tile factors, const double *x)
{
    size_t n = factors.rows;
    double *upper = zeros(n, sizeof *upper), *product = zeros(n, sizeof *product);
    for (size_t i = 0; i < n; i++)
        upper[i] = dot(row(factors, i) + i, x + i, n - i);
    for (size_t i = 0; i < n; i++)
        product[i] = upper[i] + dot(row(factors, i), upper, i);
    free(upper);
    return product;
}

static bool run(size_t n, size_t cutoff)
{
    struct numbers numbers = first_numbers;
    struct tile a = random_matrix(n, n, &numbers);
    /* Without pivots, the diagonal must outweigh the rest. */
    for (size_t i = 0; i < n; i++)
        row(a, i)[i] = (double)n;
    double *x = reals(n, &numbers), *expected = times(a, x);
#pragma omp parallel
#pragma omp single
    decompose(a, larger(cutoff, 1));
    double *found = times_factors(a, x);
    bool right = close_to(found, expected, n);
    free(a.at), free(x), free(expected), free(found);
    return right;
}

int main(int count, char **arguments)
{
    return run_program(count, arguments, 1700, 64, run);
}
