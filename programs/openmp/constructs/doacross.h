/* Loops whose iterations wait for one another: included by `constructs.c`. */

/* Iterations of 2 + 1, the latter one after the other. */
CASE(doacross, exact, 24, 10)
{
#pragma omp parallel for ordered(1)
    for (int i = 0; i < 8; i++) {
        cost(2);
#pragma omp ordered depend(sink : i - 1)
        cost(1);
#pragma omp ordered depend(source)
    }
}

CASE(doacross_static_1, exact, 24, 10)
{
#pragma omp parallel for ordered(1) schedule(static, 1)
    for (int i = 0; i < 8; i++) {
        cost(2);
#pragma omp ordered depend(sink : i - 1)
        cost(1);
#pragma omp ordered depend(source)
    }
}

CASE(doacross_static_3, exact, 24, 10)
{
#pragma omp parallel for ordered(1) schedule(static, 3)
    for (int i = 0; i < 8; i++) {
        cost(2);
#pragma omp ordered depend(sink : i - 1)
        cost(1);
#pragma omp ordered depend(source)
    }
}

CASE(doacross_dynamic_1, exact, 24, 10)
{
#pragma omp parallel for ordered(1) schedule(dynamic, 1)
    for (int i = 0; i < 8; i++) {
        cost(2);
#pragma omp ordered depend(sink : i - 1)
        cost(1);
#pragma omp ordered depend(source)
    }
}

CASE(doacross_dynamic_3, exact, 24, 10)
{
#pragma omp parallel for ordered(1) schedule(dynamic, 3)
    for (int i = 0; i < 8; i++) {
        cost(2);
#pragma omp ordered depend(sink : i - 1)
        cost(1);
#pragma omp ordered depend(source)
    }
}

CASE(doacross_guided, exact, 24, 10)
{
#pragma omp parallel for ordered(1) schedule(guided)
    for (int i = 0; i < 8; i++) {
        cost(2);
#pragma omp ordered depend(sink : i - 1)
        cost(1);
#pragma omp ordered depend(source)
    }
}

CASE(doacross_runtime, exact, 24, 10)
{
#pragma omp parallel for ordered(1) schedule(runtime)
    for (int i = 0; i < 8; i++) {
        cost(2);
#pragma omp ordered depend(sink : i - 1)
        cost(1);
#pragma omp ordered depend(source)
    }
}

/* Three chains of four, beside each other. */
CASE(doacross_by_3, exact, 72, 21)
{
#pragma omp parallel for ordered(1) schedule(static, 1)
    for (int i = 0; i < 12; i++) {
        cost(1);
#pragma omp ordered depend(sink : i - 3)
        cost(5);
#pragma omp ordered depend(source)
    }
}

CASE(doacross_by_3_in_blocks, exact, 72, 21)
{
#pragma omp parallel for ordered(1)
    for (int i = 0; i < 12; i++) {
        cost(1);
#pragma omp ordered depend(sink : i - 3)
        cost(5);
#pragma omp ordered depend(source)
    }
}

/* What comes after the source overlaps: the last iteration's is left at the end. */
CASE(doacross_early_source, exact, 88, 18)
{
#pragma omp parallel for ordered(1) schedule(dynamic)
    for (int i = 0; i < 8; i++) {
#pragma omp ordered depend(sink : i - 1)
        cost(1);
#pragma omp ordered depend(source)
        cost(10);
    }
}

CASE(doacross_early_source_in_blocks, exact, 88, 18)
{
#pragma omp parallel for ordered(1)
    for (int i = 0; i < 8; i++) {
#pragma omp ordered depend(sink : i - 1)
        cost(1);
#pragma omp ordered depend(source)
        cost(10);
    }
}

/* Backward, and by two. */
CASE(doacross_backward, exact, 24, 10)
{
#pragma omp parallel for ordered(1) schedule(dynamic)
    for (int i = 16; i > 0; i -= 2) {
        cost(2);
#pragma omp ordered depend(sink : i + 2)
        cost(1);
#pragma omp ordered depend(source)
    }
}

/* One after the other. */
CASE(doacross_twice, exact, 16, 16)
{
#pragma omp parallel
    for (int round = 0; round < 2; round++) {
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 0; i < 4; i++) {
#pragma omp ordered depend(sink : i - 1)
            cost(2);
#pragma omp ordered depend(source)
        }
    }
}

/* A wavefront of 4 rows and 5 columns: 4 + 5 - 1 in a row. */
CASE(wavefront, exact, 20, 8)
{
#pragma omp parallel for ordered(2)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            cost(1);
#pragma omp ordered depend(source)
        }
}

CASE(wavefront_static_1, exact, 20, 8)
{
#pragma omp parallel for ordered(2) schedule(static, 1)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            cost(1);
#pragma omp ordered depend(source)
        }
}

CASE(wavefront_dynamic_1, exact, 20, 8)
{
#pragma omp parallel for ordered(2) schedule(dynamic, 1)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            cost(1);
#pragma omp ordered depend(source)
        }
}

CASE(wavefront_dynamic_2, exact, 20, 8)
{
#pragma omp parallel for ordered(2) schedule(dynamic, 2)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            cost(1);
#pragma omp ordered depend(source)
        }
}

/* Work before the wait: a row takes 5 for each column, and is 2 behind the row above. */
CASE(wavefront_late_sink, exact, 100, 31)
{
#pragma omp parallel for ordered(2) schedule(static, 1)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) {
            cost(3);
#pragma omp ordered depend(sink : i - 1, j)
            cost(2);
#pragma omp ordered depend(source)
        }
}

#ifndef __clang__
/* A row is two behind the row above. Code by clang 19 waits for a column behind the last one, for ever. */
CASE(wavefront_stencil, exact, 20, 11)
{
#pragma omp parallel for ordered(2)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) {
#pragma omp ordered depend(sink : i - 1, j - 1) depend(sink : i - 1, j + 1)
            cost(1);
#pragma omp ordered depend(source)
        }
}

#endif

/* Iterations of both loops are distributed: five chains of 1 + 4 * 2, beside each other. */
CASE(wavefront_collapsed, exact, 60, 9)
{
#pragma omp parallel for collapse(2) ordered(2) schedule(dynamic)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) {
            cost(1);
#pragma omp ordered depend(sink : i - 1, j)
            cost(2);
#pragma omp ordered depend(source)
        }
}
