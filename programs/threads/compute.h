/* Arithmetic that takes time, and whose result nobody can know before. */
#include <stdint.h>

static volatile uint64_t result;

__attribute__((noinline)) static void compute(uint64_t count)
{
    uint64_t x = 88172645463325252u;
    for (uint64_t i = 0; i < count; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    result = x;
}
