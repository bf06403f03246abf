/* Updates on one of two ways, conditions behind a comparison, and functions of the C library that keep their state in arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 100

static int chosen(const int *x, int *least) {
    int s = 0, t = 1, m = 0, n = 50;
    for (int i = 0; i < N; i++) s = x[i] > 5 ? s + x[i] : s; /* @clauses */
    for (int i = 0; i < N; i++) t = x[i] > 5 ? t + x[i] : t - 1; /* @clauses */
    for (int i = 0; i < N; i++) if (x[i] > m && x[i] != 12) m = x[i]; /* @clauses */
    for (int i = 0; i < N; i++) { /* @clauses */
        if (x[i] < n) {
            if (i % 3 == 0 && x[i] > 1) n = x[i];
        }
    }
    *least = n;
    return s + t + m;
}

static int in_turn(const int *x) {
    int s = 0, t = 1, m = 0, n = 0, seen = 0;
    for (int i = 0; i < N; i++) s = x[i] > 5 ? s + x[i] : s / 2; /* @serial */
    for (int i = 0; i < N; i++) t = x[i] > 5 ? t + x[i] : x[i]; /* @serial */
    for (int i = 0; i < N; i++) if (x[i] > m && m % 2 == 0) m = x[i] + 1; /* @serial */
    for (int i = 0; i < N; i++) { /* @serial */
        if (x[i] > n) {
            if (i % 3 == 0) n = x[i];
            else seen++;
        }
    }
    return s + t + m + n + seen;
}

static void library(char texts[N][8], int *out) {
    for (int i = 0; i < N; i++) out[i] = (int)strtol(texts[i], NULL, 10); /* @parallel */
    for (int i = 0; i < N; i++) { /* @parallel */
        char *rest, copy[8];
        strcpy(copy, texts[i]);
        char *first = strtok_r(copy, "0", &rest);
        out[i] += first != NULL;
    }
    for (int i = 0; i < N; i++) { /* @parallel */
        time_t at = i * 100000;
        struct tm parts;
        gmtime_r(&at, &parts);
        out[i] += parts.tm_hour;
    }
    for (int i = 0; i < N; i++) { /* @parallel */
        div_t parts = div(out[i], 7);
        out[i] += parts.rem;
    }
    char line[] = "1 2 3 4 5 6 7 8 9", *rest = line;
    for (int i = 0; i < 9; i++) { /* @serial */
        char *word = strtok_r(rest, " ", &rest);
        out[i] += word ? word[0] : 0;
    }
}

int main(void) {
    static int x[N], out[N];
    static char texts[N][8];
    int least;
    for (int i = 0; i < N; i++) x[i] = i * 7 % 13; /* @parallel */
    for (int i = 0; i < N; i++) snprintf(texts[i], sizeof texts[i], "%d", x[i]); /* @parallel */
    library(texts, out);
    printf("%d %d %d %d\n", chosen(x, &least), in_turn(x), out[7], least);
    return 0;
}
