// Calls of different sizes: what is worth a spawn, and what is not.
#include <stdio.h>

enum { N = 1 << 12 };

static int numbers[N], room[N];

static long fill(int *to, int count, int step) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
        to[i] = (i * step) % 1009;
        sum += to[i];
    }
    return sum;
}

static int mix(int x) { return x * 3 + 1; }

static void merge(int *a, int *t, int n, int m) {
    int i = 0, j = m, k = 0;
    while (i < m && j < n) t[k++] = a[i] <= a[j] ? a[i++] : a[j++];
    while (i < m) t[k++] = a[i++];
    while (j < n) t[k++] = a[j++];
    for (i = 0; i < n; i++) a[i] = t[i];
}

static void sort(int *a, int *t, int n) {
    if (n < 2) return;
    int m = n / 2;
    sort(a, t, m);
    sort(a + m, t + m, n - m);
    merge(a, t, n, m);
}

int main(void) {
    // Both are large, and independent.
    long one = fill(numbers, N, 7919);
    long other = fill(room, N, 104729);
    // Waited for at once.
    long both = one + other;
    // Too small.
    for (int i = 0; i < 100; i++) {
        int mixed = mix(i);
        room[i] += i;
        both += mixed;
    }
    sort(numbers, room, N);
    printf("%ld %d\n", both, numbers[N / 2]);
    return 0;
}
