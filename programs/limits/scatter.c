/*
 * Updates of words of memory in random order: how many words, and how many updates, are the arguments. Nothing that is close in
 * memory is close in time, which is the worst for an analysis that packs what is alike. Prints how many words were touched.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    unsigned long words = argc > 1 ? strtoul(argv[1], 0, 10) : 1000, updates = argc > 2 ? strtoul(argv[2], 0, 10) : 1000;
    unsigned long *all = calloc(words, sizeof *all), x = 88172645463325252ul, touched = 0;
    if (!all)
        return 1;
    for (unsigned long i = 0; i < updates; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        unsigned long *at = all + x % words;
        touched += *at == 0;
        *at ^= x;
    }
    printf("%lu\n", touched);
    free(all);
    return 0;
}
