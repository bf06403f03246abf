/*
 * hotlock [SCHEDULE]: one `parallel for` of 100 iterations, each of which takes 4 units by itself and 6 under one lock; `static` or `dynamic`.
 *
 * Work 1000, of which 600 are under the lock: no schedule takes less, and no number of processors gives more than 1.67x, whatever the
 * iterations do outside of it.
 */
#include "cost.h"

int main(int count, char **arguments)
{
    omp_set_schedule(count > 1 && !strcmp(arguments[1], "static") ? omp_sched_static : omp_sched_dynamic, 0);
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < 100; i++) {
        cost(4);
#pragma omp critical(sum)
        cost(6); /* under the lock */
    }
    return 0;
}
