/*
 * Sweeps over an array of words: how many words, and how many sweeps, are the arguments. What an analysis of memory takes for
 * each word shows here.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long words = argc > 1 ? atol(argv[1]) : 1000, sweeps = argc > 2 ? atol(argv[2]) : 10;
    long *all = calloc((size_t)words, sizeof *all), sum = 0;
    if (!all)
        return 1;
    for (long sweep = 0; sweep < sweeps; sweep++)
        for (long i = 0; i < words; i++) {
            all[i] = all[i] * 3 + i;
            sum ^= all[i];
        }
    printf("%ld\n", sum);
    free(all);
    return 0;
}
