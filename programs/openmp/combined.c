/*
 * Regions that are one loop, or the sections of one construct: gcc makes one call of both. All members have a part of it, since
 * none goes on before all have begun theirs.
 */
#include "cost.h"

#include <sched.h>

static uint64_t begun;

/* A part of the construct, at most one for each member: returns when all have begun theirs. */
static void part(uint64_t parts)
{
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < parts)
        sched_yield();
    cost(1000);
}

CASE(dynamic, loop, p * 1000, 1000)
{
    int count = (int)team_size();
#pragma omp parallel for schedule(dynamic) // dynamic
    for (int i = 0; i < count; i++)
        part((uint64_t)count);
}

CASE(guided, loop, p * 1000, 1000)
{
    int count = (int)team_size();
#pragma omp parallel for schedule(guided) // guided
    for (int i = 0; i < count; i++)
        part((uint64_t)count);
}

CASE(runtime, loop, p * 1000, 1000)
{
    int count = (int)team_size();
    omp_set_schedule(omp_sched_dynamic, 1);
#pragma omp parallel for schedule(runtime) // runtime
    for (int i = 0; i < count; i++)
        part((uint64_t)count);
}

/* Two of them, for two members. */
CASE(sections, loop, 2 * 1000, 1000)
{
#pragma omp parallel sections // sections
    {
#pragma omp section
        part(2);
#pragma omp section
        part(2);
    }
}

int main(int count, char **arguments)
{
    return run_cases(count, arguments);
}
