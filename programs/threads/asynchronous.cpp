/*
 * A tree of `std::async`: 2^DEPTH leaves of this number of steps of arithmetic.
 *
 *   asynchronous DEPTH STEPS
 */
#include <cstdlib>
#include <future>

#include "compute.h"

namespace {

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
