/*
 * Bottlenecks, and the same without.
 *
 *   planted CASE [bad|good [ticks]]      ticks: by the virtual clock, and smaller
 */
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_group.h>

#include "workspan.h"

namespace {

bool ticks = false;

double work(long from, long rounds)
{
    if (ticks) {
        workspan_tick(uint64_t(rounds / 1000));
        return 0;
    }
    double sum = 0;
    for (long i = 0; i < rounds; i++)
        sum += std::sqrt(double(from + i));
    return sum;
}

/* A reduction whose range cannot be split. */
double reduce(bool bad)
{
    const int count = 4096;
    tbb::blocked_range<int> range(0, count, bad ? count : 1);
    return tbb::parallel_reduce(
        range, 0.0,
        [](const tbb::blocked_range<int> &range, double sum) {
            for (int i = range.begin(); i != range.end(); i++)
                sum += work(i, 20000); // bad: serial reduce
            return sum;
        },
        [](double a, double b) { return a + b; });
}

/* A task for each addition. */
long fib(int n, int cut)
{
    if (n < 2) {
        if (ticks)
            workspan_tick(1);
        return n;
    }
    if (n < cut)
        return fib(n - 1, cut) + fib(n - 2, cut);
    long x = 0, y = 0;
    tbb::task_group group;
    group.run([&] { x = fib(n - 1, cut); }); // bad: too fine
    y = fib(n - 2, cut);
    group.wait();
    return x + y;
}

/* Most of the time: in the stage that makes items, in the one that takes them one by one, or where only few items are at a time. */
enum class Slow { None, Begin, End, Few };

double pipeline(Slow slow)
{
    int left = 400;
    double sum = 0;
    long begin = slow == Slow::Begin ? 100000 : 0, end = slow == Slow::End ? 100000 : 0;
    tbb::parallel_pipeline(
        slow == Slow::Few ? 3 : 64,
        tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                    [&](tbb::flow_control &control) {
                                        if (left == 0) {
                                            control.stop();
                                            return 0;
                                        }
                                        sum += work(left, begin);
                                        return left--;
                                    }) &
            tbb::make_filter<int, double>(tbb::filter_mode::parallel,
                                          [=](int i) { return work(i, 110000 - begin - end); }) &
            tbb::make_filter<double, void>(tbb::filter_mode::serial_out_of_order,
                                           [&](double x) { sum += x + work(int(x), end); }));
    return sum;
}

/* A node that takes one message at a time. */
double flow(bool bad)
{
    tbb::flow::graph graph;
    std::atomic<long> sum{0};
    tbb::flow::function_node<int, int> read(graph, tbb::flow::unlimited, [](int i) { return i + int(work(i, 100000)) % 2; });
    tbb::flow::function_node<int> write(graph, bad ? tbb::flow::serial : tbb::flow::unlimited,
                                        [&](int i) { sum += long(work(i, 300000)); });
    tbb::flow::make_edge(read, write);
    for (int i = 0; i < 200; i++)
        read.try_put(i); // sent
    graph.wait_for_all();
    return double(sum);
}

/* One lock around all of the work. */
double lock(bool bad)
{
    std::mutex mutex;
    double sum = 0;
    tbb::parallel_for(0, 2000, [&](int i) {
        if (bad) {
            std::lock_guard<std::mutex> guard(mutex); // taken
            sum += work(i, 20000); // bad: one lock
        } else {
            double own = work(i, 20000);
            std::lock_guard<std::mutex> guard(mutex);
            sum += own;
        }
    });
    return sum;
}

} // namespace

int main(int argc, char **argv)
{
    std::string name = argc > 1 ? argv[1] : "";
    bool bad = argc < 3 || strcmp(argv[2], "good") != 0;
    ticks = argc > 3;
    if (name == "reduce")
        printf("%g\n", reduce(bad));
    else if (name == "fib")
        printf("%ld\n", ticks ? fib(22, bad ? 2 : 14) : fib(34, bad ? 8 : 24));
    else if (name == "pipeline")
        printf("%g\n", pipeline(bad ? Slow::Begin : Slow::None));
    else if (name == "pipeline-end")
        printf("%g\n", pipeline(bad ? Slow::End : Slow::None));
    else if (name == "pipeline-few")
        printf("%g\n", pipeline(bad ? Slow::Few : Slow::None));
    else if (name == "flow")
        printf("%g\n", flow(bad));
    else if (name == "lock")
        printf("%g\n", lock(bad));
    else
        return 2;
    return 0;
}
