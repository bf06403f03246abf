#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 200, steps = argc > 2 ? atoi(argv[2]) : 20;
    double *a = calloc(n * n, sizeof *a), *b = calloc(n * n, sizeof *b);
    for (int i = 0; i < n; i++)
        a[i] = b[i] = i;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
        double *swap = a;
        a = b;
        b = swap;
    }
    double sum = 0;
    for (int i = 0; i < n * n; i++)
        sum += a[i];
    printf("%g\n", sum);
    return 0;
}
