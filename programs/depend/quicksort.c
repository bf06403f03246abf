#include <stdio.h>
#include <stdlib.h>
static void sort(int *a, long low, long high) {
    while (low < high) {
        int pivot = a[(low + high) / 2];
        long i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i <= j) {
                int t = a[i];
                a[i] = a[j];
                a[j] = t;
                i++;
                j--;
            }
        }
        sort(a, low, j);
        low = i;
    }
}
int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 100000;
    int *a = malloc(sizeof(int) * n);
    unsigned x = 12345;
    for (long i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        a[i] = x >> 4;
    }
    sort(a, 0, n - 1);
    long bad = 0;
    for (long i = 1; i < n; i++)
        bad += a[i - 1] > a[i];
    printf("%ld\n", bad);
    return 0;
}
