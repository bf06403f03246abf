/*
 * What profiling costs programs on oneTBB, and how far its numbers can be believed.
 *
 *   bench fib N              fib(N) with a task for each addition
 *   bench for N              parallel_for over N numbers
 *   bench sort N             parallel_sort of N numbers
 *   bench tree DEPTH STEPS   2^DEPTH leaves of this number of steps of arithmetic, whose parallelism is their number
 *   bench rate               steps per microsecond
 *
 * The first three print `tasks`, how many they create if that is known, and all the memory that they had.
 */
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_group.h>

#include "../openmp/bench.h"

namespace {

uint64_t fib(uint64_t n)
{
    if (n < 2)
        return n;
    uint64_t x, y;
    tbb::task_group group;
    group.run([&] { x = fib(n - 1); });
    y = fib(n - 2);
    group.wait();
    return x + y;
}

uint64_t serial_fib(uint64_t n)
{
    uint64_t a = 0, b = 1;
    for (; n > 0; n--)
        a = std::exchange(b, a + b);
    return a;
}

/* Every call with n >= 2 creates one task. */
uint64_t tasks_of_fib(uint64_t n)
{
    return serial_fib(n + 1) - 1;
}

void loop(uint64_t count)
{
    std::vector<double> numbers(count);
    for (int round = 0; round < 10; round++)
        tbb::parallel_for(uint64_t(0), count, [&](uint64_t i) { numbers[i] = std::sqrt(double(i) + numbers[i]); });
    check(numbers[count - 1] > 0);
}

void sort(uint64_t count)
{
    std::vector<uint64_t> numbers(count);
    uint64_t next = 1;
    for (uint64_t &number : numbers)
        number = next = next * 6364136223846793005u + 1442695040888963407u;
    tbb::parallel_sort(numbers.begin(), numbers.end());
    check(std::is_sorted(numbers.begin(), numbers.end()));
}

std::atomic<uint64_t> leaves;

void tree(uint64_t depth, uint64_t steps)
{
    if (depth == 0) {
        run_steps(steps);
        leaves.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    tbb::task_group group;
    group.run([=] { tree(depth - 1, steps); });
    tree(depth - 1, steps);
    group.wait();
}

/* Of lines of its own, which the report shows separately: workers, code, and what the runtime keeps for tasks. */
void warm_up(uint64_t depth)
{
    if (depth == 0)
        return run_steps(1);
    tbb::task_group group;
    group.run([=] { warm_up(depth - 1); });
    warm_up(depth - 1);
    group.wait();
}

} // namespace

int main(int count, char **arguments)
{
    std::string name = count > 1 ? arguments[1] : "";
    uint64_t n = argument(count, arguments, 2, 0);
    /* As the other programs for measuring: with the number of threads that they get. */
    tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                std::getenv("OMP_NUM_THREADS") ? std::stoul(std::getenv("OMP_NUM_THREADS")) : 1);
    if (name == "fib" && n > 1) {
        check(fib(n) == serial_fib(n));
        printf("tasks %" PRIu64 "\n", tasks_of_fib(n));
    } else if (name == "for" && n > 0) {
        loop(n);
    } else if (name == "sort" && n > 0) {
        sort(n);
    } else if (name == "tree" && n > 0) {
        warm_up(n);
        uint64_t steps = argument(count, arguments, 3, 1);
        /* One task for all of it, which has the most work of all that the report shows. */
        tbb::task_group whole;
        whole.run([=] { tree(n, steps); });
        whole.wait();
        check(leaves == uint64_t(1) << n);
    } else if (name == "rate") {
        printf("%" PRIu64 "\n", steps_per_microsecond());
        return 0;
    } else {
        fprintf(stderr, "usage: %s fib N | for N | sort N | tree DEPTH STEPS | rate\n", arguments[0]);
        return 2;
    }
    print_peak();
    return 0;
}
