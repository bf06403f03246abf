/*
 * Fast Fourier transform by Cooley and Tukey: the transforms of the even and of the odd elements, beside each other,
 * then the sums and differences of the two, in parts beside each other. Up to cutoff elements no tasks are made. Size
 * is the number of elements, made a power of two.
 *
 * Work Θ(n log n), span Θ(log² n).
 */
#include "cilk.h"

struct complex {
    double re, im;
};

/* The point at this share of the way round the unit circle, clockwise. */
static struct complex root(double share)
{
    double angle = -2 * acos(-1) * share;
    return (struct complex){cos(angle), sin(angle)};
}

static struct complex plus(struct complex a, struct complex b)
{
    return (struct complex){a.re + b.re, a.im + b.im};
}

static struct complex minus(struct complex a, struct complex b)
{
    return (struct complex){a.re - b.re, a.im - b.im};
}

static struct complex times(struct complex a, struct complex b)
{
    return (struct complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static double norm(struct complex a)
{
    return a.re * a.re + a.im * a.im;
}

/* Sums and differences of `n` pairs, the odd ones turned by every `stride`-th root. */
static void combine(struct complex *even, struct complex *odd, size_t n, size_t stride, const struct complex *roots,
                    size_t cutoff)
{
    if (n > larger(cutoff, 1)) {
        size_t half = n / 2;
#pragma omp task
        combine(even, odd, half, stride, roots, cutoff);
        combine(even + half, odd + half, n - half, stride, roots + half * stride, cutoff);
#pragma omp taskwait
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct complex turned = times(odd[i], roots[i * stride]), kept = even[i];
        even[i] = plus(kept, turned);
        odd[i] = minus(kept, turned);
    }
}

/* The transform of every `stride`-th element of `input`, `n` of them; `roots` are those of the whole. */
static void transform(const struct complex *input, struct complex *output, size_t n, size_t stride,
                      const struct complex *roots, size_t cutoff)
{
    size_t half = n / 2;
    if (n == 1) {
        output[0] = input[0];
        return;
    }
    if (n > cutoff) {
#pragma omp task
        transform(input, output, half, 2 * stride, roots, cutoff);
        transform(input + stride, output + half, half, 2 * stride, roots, cutoff);
#pragma omp taskwait
    } else {
        transform(input, output, half, 2 * stride, roots, cutoff);
        transform(input + stride, output + half, half, 2 * stride, roots, cutoff);
    }
    combine(output, output + half, half, stride, roots, cutoff);
}

static double energy(const struct complex *numbers, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += norm(numbers[i]);
    return sum;
}

/* Some elements are what their definition says, and all together have the energy of the input, n times. */
static bool is_transform(const struct complex *output, const struct complex *input, size_t n)
{
    const size_t some[] = {0, 1 % n, n / 3, n / 2, n - 1};
    double found = energy(output, n);
    bool right = fabs(found / energy(input, n) / (double)n - 1) <= 1e-9;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        /* A polynomial at a root of unity, by Horner. */
        struct complex at = root((double)some[i] / (double)n), sum = {0, 0};
        for (size_t j = n; j > 0; j--)
            sum = plus(times(sum, at), input[j - 1]);
        right = right && norm(minus(sum, output[some[i]])) <= 1e-16 * found;
    }
    return right;
}

static bool run(size_t size, size_t cutoff)
{
    struct numbers numbers = first_numbers;
    size_t n = 1;
    while (n < size)
        n *= 2;
    struct complex *input = zeros(n, sizeof *input), *output = zeros(n, sizeof *output);
    struct complex *roots = zeros(n / 2, sizeof *roots);
    for (size_t i = 0; i < n; i++) {
        input[i].re = next_real(&numbers);
        input[i].im = next_real(&numbers);
    }
    for (size_t i = 0; i < n / 2; i++)
        roots[i] = root((double)i / (double)n);
#pragma omp parallel
#pragma omp single
    transform(input, output, n, 1, roots, cutoff);
    bool right = is_transform(output, input, n);
    free(input), free(output), free(roots);
    return right;
}

int main(int count, char **arguments)
{
    return run_program(count, arguments, 1 << 21, 2048, run);
}
