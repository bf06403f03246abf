/*
 * Product of rectangular matrices, C += A·B, by halves of whatever is longest: of rows of A or columns of B, the two
 * beside each other; of what A and B have in common, one after the other, as both write all of C. What is no longer
 * than cutoff in any direction is left to serial loops. With size n, A is of n × n/2 and B of n/2 × 2n.
 *
 * Work Θ(n³), span Θ(n).
 */
#include "tile.h"

static void multiply(struct tile c, struct tile a, struct tile b, size_t cutoff)
{
    size_t depth = a.columns, longest = larger(c.rows, c.columns);
    if (larger(longest, depth) <= cutoff) {
        add_product(c, 1, a, b);
    } else if (depth > longest) {
        multiply(c, left(a), top(b), cutoff);
        multiply(c, right(a), bottom(b), cutoff);
    } else if (c.rows >= c.columns) {
#pragma omp task
        multiply(top(c), top(a), b, cutoff);
        multiply(bottom(c), bottom(a), b, cutoff);
#pragma omp taskwait
    } else {
#pragma omp task
        multiply(left(c), a, left(b), cutoff);
        multiply(right(c), a, right(b), cutoff);
#pragma omp taskwait
    }
}

static bool run(size_t n, size_t cutoff)
{
    struct numbers numbers = first_numbers;
    struct tile a = random_matrix(n, n / 2, &numbers), b = random_matrix(n / 2, 2 * n, &numbers);
    struct tile c = zero_matrix(n, 2 * n);
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
