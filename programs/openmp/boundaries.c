/*
 * Regions that share from none to fourteen values, nested, and with barriers: what they compute is printed, and must be the same
 * wherever their bodies are called from.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>

static long none, of_members;

static void nothing_shared(void)
{
#pragma omp parallel
    {
#pragma omp atomic
        none += 1;
#pragma omp barrier
#pragma omp atomic
        of_members += none;
    }
}

static double many(int a, long b, double c, char d, float e, short f, int *g, long h, double i, int j, long k, double l, int m)
{
    double sum = 0;
#pragma omp parallel firstprivate(a, b, c, d, e, f, g, h, i, j, k, l, m) reduction(+ : sum)
    {
        double each = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * *g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l + 13 * m;
#pragma omp for
        for (int n = 0; n < 5; n++)
            sum += each + n;
#pragma omp for schedule(dynamic)
        for (int n = 0; n < 5; n++)
            sum += each * n;
    }
    return sum;
}

static long nested(int depth, long a, long b, long c, long d, long e)
{
    long sum = a + 2 * b + 3 * c + 4 * d + 5 * e;
    if (depth == 0)
        return sum;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += nested(depth - 1, a + 1, b + 1, c + 1, d + 1, e + 1);
    return sum;
}

int main(void)
{
    int value = 3;
    double sum = 0;
    omp_set_max_active_levels(2);
    for (int round = 0; round < 50; round++) {
        nothing_shared();
        sum += many(1, 2, 3.5, 4, 5.5f, 6, &value, 7, 8.25, round, 10, 11.75, 12);
    }
    long members = none / 50;
    printf("%d %.3f %ld\n", none == 50 * members && of_members > 0, sum / 50, nested(3, 1, 2, 3, 4, 5));
    return isnan(sum);
}
