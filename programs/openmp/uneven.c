/*
 * uneven: one static `parallel for` of 64 iterations, of which iteration i takes i units.
 *
 * Work 2080. Two threads have chunks of 528 and 1552, so the parallelism is 1.34; that of the iterations is 32.5, which nobody sees in the chunks.
 */
#include "cost.h"

int main(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 1; i <= 64; i++)
        cost((uint64_t)i);
    return 0;
}
