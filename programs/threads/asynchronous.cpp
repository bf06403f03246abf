/*
 * A tree of `std::async`: 2^DEPTH leaves of this number of steps of arithmetic.
 *
 *   asynchronous DEPTH STEPS
 */
#include <cstdint>
#include <cstdlib>
#include <future>

namespace {

volatile uint64_t result;

[[gnu::noinline]] void compute(uint64_t count)
{
    uint64_t x = 88172645463325252u;
    for (uint64_t i = 0; i < count; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    result = x;
}

void tree(int depth, uint64_t steps)
{
    if (depth == 0)
        return compute(steps);
    auto half = std::async(std::launch::async, tree, depth - 1, steps);
    tree(depth - 1, steps);
    half.get();
}

} // namespace

int main(int count, char **words)
{
    if (count != 3)
        return 2;
    tree(std::atoi(words[1]), std::strtoull(words[2], nullptr, 10));
}
