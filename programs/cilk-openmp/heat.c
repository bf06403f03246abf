/*
 * Heat in a square plate whose edge is kept at zero, by Jacobi: in each of two hundred steps every point moves towards
 * the mean of its four neighbours. The points inside are divided by rows, the halves beside each other, down to cutoff
 * rows; each step waits for the one before. Size is the number of rows of the points inside.
 *
 * It starts with a wave that keeps its form: each step makes it smaller by the same factor, which is the check.
 *
 * Work Θ(n²) per step, span Θ(n) per step.
 */
#include "cilk.h"

enum { STEPS = 200 };
/* The part of the difference from its neighbours' sum that a point makes up for in a step. */
static const double RATE = 0.2;

/* Makes `rows` rows of `next` from those of `plate` and from one more above and below. */
static void step(const double *plate, double *next, size_t rows, size_t width, size_t cutoff)
{
    if (rows > cutoff) {
        size_t half = rows / 2;
#pragma omp task
        step(plate, next, half, width, cutoff);
        step(plate + half * width, next + half * width, rows - half, width, cutoff);
#pragma omp taskwait
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        const double *above = plate + i * width, *here = above + width, *below = here + width;
        double *restrict to = next + i * width;
        for (size_t j = 1; j < width - 1; j++)
            to[j] = here[j] + RATE * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
    }
}

/* This number of half waves over `n` points and one more at each end. */
static double *wave(size_t n, size_t count)
{
    double *points = zeros(n + 2, sizeof *points);
    for (size_t i = 0; i < n + 2; i++)
        points[i] = sin(acos(-1) * (double)(i * count) / (double)(n + 1));
    return points;
}

/* What a step takes from a wave in one direction. */
static double damping(size_t n, size_t count)
{
    double root = sin(acos(-1) * (double)count / (double)(2 * (n + 1)));
    return 4 * RATE * root * root;
}

static bool run(size_t n, size_t cutoff)
{
    size_t width = n + 2, vertical = n / 20 + 1, horizontal = n / 30 + 1;
    double *down = wave(n, vertical), *across = wave(n, horizontal);
    double *plate = zeros(width * width, sizeof *plate), *next = zeros(width * width, sizeof *next);
    for (size_t i = 0; i < width * width; i++)
        plate[i] = down[i / width] * across[i % width];
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < STEPS; i++) {
        step(plate, next + width, n, width, larger(cutoff, 1));
        double *last = plate;
        plate = next;
        next = last;
    }
    double factor = pow(1 - damping(n, vertical) - damping(n, horizontal), STEPS);
    bool right = true;
    for (size_t i = 0; i < width * width; i++)
        right = right && fabs(plate[i] - factor * down[i / width] * across[i % width]) <= 1e-10;
    free(down), free(across), free(plate), free(next);
    return right;
}

int main(int count, char **arguments)
{
    return run_program(count, arguments, 1600, 16, run);
}
