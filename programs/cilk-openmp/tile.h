/* Dense matrices by rows, and parts of them. */
#ifndef TILE_H
#define TILE_H

#include "cilk.h"

/* A rectangle of a matrix: `rows` rows of `columns` items from `at` on, `stride` items apart. */
struct tile {
    double *at;
    size_t rows, columns, stride;
};

/* A matrix of zeros; `free` its `at`. */
static inline struct tile zero_matrix(size_t rows, size_t columns)
{
    return (struct tile){zeros(rows * columns, sizeof(double)), rows, columns, columns};
}

/* A matrix of numbers without order. */
static inline struct tile random_matrix(size_t rows, size_t columns, struct numbers *numbers)
{
    return (struct tile){reals(rows * columns, numbers), rows, columns, columns};
}

static inline double *row(struct tile tile, size_t i)
{
    return tile.at + i * tile.stride;
}

static inline struct tile top(struct tile tile)
{
    return (struct tile){tile.at, tile.rows / 2, tile.columns, tile.stride};
}

static inline struct tile bottom(struct tile tile)
{
    return (struct tile){row(tile, tile.rows / 2), tile.rows - tile.rows / 2, tile.columns, tile.stride};
}

static inline struct tile left(struct tile tile)
{
    return (struct tile){tile.at, tile.rows, tile.columns / 2, tile.stride};
}

static inline struct tile right(struct tile tile)
{
    return (struct tile){tile.at + tile.columns / 2, tile.rows, tile.columns - tile.columns / 2, tile.stride};
}

/* `to += factor · from`. */
static inline void add(double *restrict to, double factor, const double *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += factor * from[i];
}

/* `c += factor · a · b`, serially. */
static inline void add_product(struct tile c, double factor, struct tile a, struct tile b)
{
    for (size_t i = 0; i < c.rows; i++) {
        for (size_t k = 0; k < a.columns; k++)
            add(row(c, i), factor * row(a, i)[k], row(b, k), c.columns);
    }
}

static inline double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The product with a vector. */
static inline double *times(struct tile tile, const double *vector)
{
    double *product = zeros(tile.rows, sizeof *product);
    for (size_t i = 0; i < tile.rows; i++)
        product[i] = dot(row(tile, i), vector, tile.columns);
    return product;
}

/* True if `c = a · b`: by Freivalds, `c · x = a · (b · x)` for a vector `x` without order. */
static inline bool is_product(struct tile c, struct tile a, struct tile b, struct numbers *numbers)
{
    double *x = reals(b.columns, numbers), *found = times(c, x), *part = times(b, x), *expected = times(a, part);
    bool right = close_to(found, expected, c.rows);
    free(x), free(found), free(part), free(expected);
    return right;
}

#endif
