/*
 * Product of square matrices, C += A·B, by quarters: first the four products with the left half of A, beside each
 * other, then the four with its right half, so that no quarter of C is written by two at a time. Matrices of no more
 * than cutoff rows are left to serial loops. Size is the number of rows.
 *
 * Work Θ(n³), span Θ(n).
 */
#include "tile.h"

static void multiply(struct tile c, struct tile a, struct tile b, size_t cutoff);

/* The four products of a half of A with a half of B. */
static void multiply_half(struct tile c, struct tile a, struct tile b, size_t cutoff)
{
#pragma omp task
    multiply(left(top(c)), top(a), left(b), cutoff);
#pragma omp task
    multiply(right(top(c)), top(a), right(b), cutoff);
#pragma omp task
    multiply(left(bottom(c)), bottom(a), left(b), cutoff);
    multiply(right(bottom(c)), bottom(a), right(b), cutoff);
#pragma omp taskwait
}

static void multiply(struct tile c, struct tile a, struct tile b, size_t cutoff)
{
    if (c.rows <= cutoff) {
        add_product(c, 1, a, b);
        return;
    }
    multiply_half(c, left(a), top(b), cutoff);
    multiply_half(c, right(a), bottom(b), cutoff);
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
