/*
 * Floating-point work of many kinds, in the manner of a classic benchmark: chains of additions, arrays, functions of the C
 * library, calls with pointers, integers and branches. The argument is the number of rounds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double cells[64];

__attribute__((noinline)) static void mix(double *four, double factor)
{
    for (int i = 0; i < 8; i++) {
        double carried = four[i & 3] * factor;
        four[i & 3] = carried + 0.1 * four[(i + 1) & 3];
        four[(i + 2) & 3] -= 0.01 * carried;
    }
    four[0] += 0.5;
}

__attribute__((noinline)) static void pair(double x, double y, double *sum)
{
    double a = 0.5 * (x + y), b = 0.5 * (a + y);
    *sum = (a + b) / 2.0;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 200;
    double four[4] = {1.0, -1.0, -1.0, -1.0}, x = 0.5, y = 0.5, sum = 1.0, root = 0.75;
    long steps = 0;
    for (int i = 0; i < 64; i++)
        cells[i] = i / 64.0;
    for (int round = 0; round < rounds; round++) {
        mix(four, 0.5);
        for (int i = 1; i < 63; i++)
            cells[i] = 0.25 * cells[i - 1] + 0.5 * cells[i] + 0.25 * cells[i + 1];
        for (int i = 0; i < 4; i++) {
            x = 0.5 + 0.4 * sin(x + cos(y));
            y = 0.3 + 0.2 * atan(x * y);
        }
        for (int i = 0; i < 20; i++)
            pair(x, sum, &sum);
        for (int i = 0; i < 20; i++)
            steps = steps % 3 ? steps * 2 + 1 : steps + i;
        steps &= 0xffff;
        for (int i = 0; i < 5; i++)
            root = sqrt(1.0 + exp(-root) * log(1.0 + root));
    }
    printf("%.6f %.6f %.6f %.6f %.6f %ld\n", four[0], cells[32], x, sum, root, steps);
    return 0;
}
