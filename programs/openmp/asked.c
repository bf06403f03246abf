/*
 * Asks how many threads there are, and takes another path with one: asked QUESTION
 *
 * 8000 ticks of work, on the other path in eight parts side by side. "raised" asks, and then wants eight whatever the answer was.
 */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "workspan.h"

static int threads(const char *question)
{
    if (!strcmp(question, "max"))
        return omp_get_max_threads();
    if (!strcmp(question, "raised")) {
        omp_set_num_threads(omp_get_max_threads() + 7);
        return 8;
    }
    if (!strcmp(question, "processors"))
        return omp_get_num_procs();
    return 8;
}

int main(int count, char **arguments)
{
    int found = threads(count > 1 ? arguments[1] : "");
    if (found == 1) {
        workspan_tick(8000);
    } else {
#pragma omp parallel for schedule(static) num_threads(8)
        for (int i = 0; i < 8; i++)
            workspan_tick(1000);
    }
    printf("%d\n", found);
    return 0;
}
