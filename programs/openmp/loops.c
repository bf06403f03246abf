/*
 * loops static|dynamic [REPEAT [ELEMENTS]]: one `parallel for` after another over an array; dynamic chunks are of 100.
 */
#include "bench.h"

int main(int count, char **arguments)
{
    int dynamic = count > 1 && strcmp(arguments[1], "dynamic") == 0;
    if (count < 2 || (!dynamic && strcmp(arguments[1], "static") != 0)) {
        fprintf(stderr, "usage: %s static|dynamic [REPEAT [ELEMENTS]]\n", arguments[0]);
        return 2;
    }
    int repeat = (int)argument(count, arguments, 2, 5000);
    int elements = (int)argument(count, arguments, 3, 100000);
    uint32_t *items = calloc((size_t)elements, sizeof *items);
    check(items != NULL);
    for (int run = 0; run < repeat; run++) {
        if (dynamic) {
#pragma omp parallel for schedule(dynamic, 100)
            for (int i = 0; i < elements; i++)
                items[i] = items[i] * 3 + 1;
        } else {
#pragma omp parallel for schedule(static)
            for (int i = 0; i < elements; i++)
                items[i] = items[i] * 3 + 1;
        }
    }
    uint32_t expected = 0;
    for (int run = 0; run < repeat; run++)
        expected = expected * 3 + 1;
    for (int i = 0; i < elements; i++)
        check(items[i] == expected);
    free(items);
    print_peak();
    return 0;
}
