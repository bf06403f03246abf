/*
 * Constructs of oneTBB, and what each amounts to.
 *
 *   constructs list     one line for each case: its name, work and span
 *   constructs CASE     runs it
 *
 * Places behind which `// site` stands are those that a report names; no others.
 */
#include <atomic>
#include <cstdio>
#include <cstring>
#include <execution>
#include <list>
#include <stdexcept>
#include <thread>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/collaborative_call_once.h>
#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/task.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "workspan.h"

namespace {

using Range = tbb::blocked_range<int>;

void tick(uint64_t ticks)
{
    workspan_tick(ticks);
}

void group()
{
    tbb::task_group group;
    tick(1);
    group.run([] { tick(10); }); // site
    tick(2);
    group.run([] { tick(20); }); // site
    tick(3);
    group.wait();
    tick(4);
}

void deferred()
{
    tbb::task_group group;
    auto handle = group.defer([] { tick(10); });
    tick(5);
    group.run(std::move(handle)); // site
    group.wait();
}

void twice()
{
    tbb::task_group group;
    for (int i = 1; i <= 2; i++) {
        group.run([=] { tick(10 * i); }); // site
        group.wait();
    }
}

/* A thread that the task has created resumes it. */
void suspended()
{
    tbb::task_group group;
    std::thread other;
    group.run([&] { // site
        tick(10);
        tbb::task::suspend([&](tbb::task::suspend_point point) {
            other = std::thread([=] {
                tick(30);
                tbb::task::resume(point);
                tick(1);
            });
        });
        tick(5);
    });
    tick(3);
    group.wait();
    other.join();
    tick(4);
}

void exception()
{
    tbb::task_group group;
    group.run([] { // site
        tick(5);
        throw std::runtime_error("expected");
    });
    try {
        group.wait();
    } catch (const std::runtime_error &) {
        tick(7);
    }
}

void cancelled()
{
    tbb::task_group group;
    tick(3);
    group.cancel();
    group.run([] { tick(1000); }); // site
    if (group.wait() == tbb::canceled)
        tick(4);
}

/* Exceptions leave an algorithm, too. */
void exception_of_loop()
{
    try {
        tbb::parallel_for(0, 1, [](int) { // site
            tick(6);
            throw std::runtime_error("expected");
        });
    } catch (const std::runtime_error &) {
        tick(1);
    }
}

int fib(int n)
{
    if (n < 2) {
        tick(1);
        return n;
    }
    int x = 0, y = 0;
    tbb::task_group group;
    group.run([&] { x = fib(n - 1); }); // site
    group.run([&] { y = fib(n - 2); }); // site
    group.wait();
    tick(2);
    return x + y;
}

void recursion()
{
    fib(10);
}

void invoke()
{
    tbb::parallel_invoke([] { tick(5); }, [] { tick(7); }, [] { tick(6); }, [] { tick(1); }); // site
    tick(1);
}

void loop()
{
    tbb::parallel_for(Range(0, 16, 4), // site
                      [](const Range &range) {
                          for (int i = range.begin(); i != range.end(); i++)
                              tick(uint64_t(i));
                      },
                      tbb::simple_partitioner());
}

void loop_auto()
{
    tbb::parallel_for(0, 64, [](int i) { tick(uint64_t(i)); }); // site
}

void loop_static()
{
    tbb::parallel_for(0, 64, [](int i) { tick(uint64_t(i)); }, tbb::static_partitioner()); // site
}

void loop_affinity()
{
    tbb::affinity_partitioner partitioner;
    for (int k = 0; k < 2; k++)
        tbb::parallel_for(0, 64, [](int i) { tick(uint64_t(i)); }, partitioner); // site
}

void nested()
{
    tbb::parallel_for(0, 4, [](int i) {                                        // site
        tbb::parallel_for(0, 3, [=](int k) { tick(uint64_t(10 * i + k)); }); // site
        tick(1);
    });
}

void each()
{
    std::list<int> items{1, 2, 3, 4, 5, 6, 7, 8, 9};
    tbb::parallel_for_each(items.begin(), items.end(), [](int item) { tick(uint64_t(item)); }); // site
}

void reduce()
{
    tbb::parallel_reduce(
        Range(0, 8), 0,
        [](const Range &range, int sum) {
            for (int i = range.begin(); i != range.end(); i++)
                tick(10);
            return sum;
        },
        [](int a, int b) { return a + b; }, tbb::simple_partitioner()); // site
}

/* Three levels of joins behind the longest leaf. */
void reduce_joins()
{
    tbb::parallel_deterministic_reduce(
        Range(0, 8), 0,
        [](const Range &range, int sum) {
            tick(10);
            return sum + range.begin();
        },
        [](int a, int b) {
            tick(3);
            return a + b;
        }, // site
        tbb::simple_partitioner());
}

/* Leaves of 1, 2, 4 ... 128 ticks: each join waits for the half on its right. */
void reduce_uneven()
{
    tbb::parallel_deterministic_reduce(
        Range(0, 8), 0,
        [](const Range &range, int sum) {
            tick(uint64_t(1) << range.begin());
            return sum;
        },
        [](int, int) {
            tick(20);
            return 0;
        }, // site
        tbb::simple_partitioner());
}

/* Joins that are loops: two levels, each as long as its longest iteration and the tick before. */
void reduce_by_loops()
{
    tbb::parallel_deterministic_reduce(
        Range(0, 4), 0,
        [](const Range &, int sum) {
            tick(5);
            return sum;
        },
        [](int, int) {
            tick(1);
            tbb::parallel_for(0, 4, [](int i) { tick(uint64_t(i)); }); // site
            return 0;
        }, // site
        tbb::simple_partitioner());
}

void sort()
{
    std::vector<int> numbers;
    for (int i = 0; i < 5000; i++)
        numbers.push_back(i * 7919 % 5003);
    tbb::parallel_sort(numbers.begin(), numbers.end()); // site
    tick(numbers.front() < numbers.back() ? 3 : 0);
}

void pipeline()
{
    int left = 10;
    tbb::parallel_pipeline( // site
        64,
        tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                    [&](tbb::flow_control &control) {
                                        if (left == 0) {
                                            control.stop();
                                            return 0;
                                        }
                                        tick(2);
                                        return left--;
                                    }) &
            tbb::make_filter<int, void>(tbb::filter_mode::parallel, [](int) { tick(30); }));
}

/* Items that enter in `enter`, take `each` beside one another, and leave one by one in `leave`. */
void stages(size_t tokens, uint64_t enter, uint64_t each, uint64_t leave, tbb::filter_mode order)
{
    int left = 10;
    tbb::parallel_pipeline( // site
        tokens,
        tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                    [&](tbb::flow_control &control) {
                                        if (left == 0) {
                                            control.stop();
                                            return 0;
                                        }
                                        tick(enter);
                                        return left--;
                                    }) &
            tbb::make_filter<int, int>(tbb::filter_mode::parallel,
                                       [=](int i) {
                                           tick(each);
                                           return i;
                                       }) &
            tbb::make_filter<int, void>(order, [=](int) { tick(leave); }));
}

void serial_end() { stages(64, 2, 5, 30, tbb::filter_mode::serial_in_order); }

/* In whichever order: all enter at once. */
void serial_end_any() { stages(64, 0, 5, 30, tbb::filter_mode::serial_out_of_order); }

void serial_short_end() { stages(64, 2, 50, 10, tbb::filter_mode::serial_in_order); }

void one_token() { stages(1, 2, 30, 1, tbb::filter_mode::parallel); }

void two_tokens() { stages(2, 2, 30, 1, tbb::filter_mode::serial_in_order); }

void graph()
{
    tbb::flow::graph graph;
    tbb::flow::function_node<int, int> first(graph, tbb::flow::unlimited, [](int i) {
        tick(10);
        return i;
    });
    tbb::flow::function_node<int, int> second(graph, tbb::flow::unlimited, [](int i) {
        tick(20);
        return i;
    });
    tbb::flow::make_edge(first, second);
    for (int i = 0; i < 5; i++)
        first.try_put(i); // site
    graph.wait_for_all();
    tick(1);
}

/* Ten messages, of which a node takes `at_a_time`. */
void limited(size_t at_a_time)
{
    tbb::flow::graph graph;
    tbb::flow::function_node<int, int> first(graph, tbb::flow::unlimited, [](int i) {
        tick(5);
        return i;
    });
    tbb::flow::multifunction_node<int, std::tuple<int>> second(graph, at_a_time, [](int i, auto &ports) {
        tick(30);
        std::get<0>(ports).try_put(i);
    });
    tbb::flow::function_node<int, int> third(graph, tbb::flow::unlimited, [](int i) {
        tick(2);
        return i;
    });
    tbb::flow::make_edge(first, second);
    tbb::flow::make_edge(tbb::flow::output_port<0>(second), third);
    for (int i = 0; i < 10; i++)
        first.try_put(i); // site
    graph.wait_for_all();
    tick(1);
}

void graph_one() { limited(tbb::flow::serial); }

void graph_three() { limited(3); }

/* Ten messages, of which `at_a_time` are behind a limiter, and last 30 each. */
template <typename Decrement> void behind_limiter(size_t at_a_time)
{
    tbb::flow::graph graph;
    int made = 0;
    tbb::flow::input_node<int> first(graph, [&](tbb::flow_control &control) {
        // It may be called again after that.
        if (made >= 10)
            control.stop();
        return made++;
    });
    tbb::flow::limiter_node<int, Decrement> limiter(graph, at_a_time);
    tbb::flow::function_node<int, Decrement> second(graph, tbb::flow::unlimited, [](int) {
        tick(30);
        if constexpr (std::is_same_v<Decrement, tbb::flow::continue_msg>)
            return Decrement();
        else
            return Decrement(1);
    });
    tbb::flow::make_edge(first, limiter);
    tbb::flow::make_edge(limiter, second);
    tbb::flow::make_edge(second, limiter.decrementer());
    first.activate(); // site
    graph.wait_for_all();
    tick(1);
}

void limiter() { behind_limiter<tbb::flow::continue_msg>(2); }

void limiter_of_one() { behind_limiter<tbb::flow::continue_msg>(1); }

void limiter_by_number() { behind_limiter<long>(2); }

/* A node with a priority: what a thread was about to run is put back. */
void graph_urgent()
{
    tbb::flow::graph graph;
    auto pass = [](uint64_t ticks) {
        return [ticks](int i) {
            tick(ticks);
            return i;
        };
    };
    tbb::flow::function_node<int, int> first(graph, tbb::flow::unlimited, pass(5));
    tbb::flow::function_node<int, int> urgent(graph, tbb::flow::unlimited, pass(7), tbb::flow::node_priority_t(3));
    tbb::flow::function_node<int, int> second(graph, tbb::flow::unlimited, pass(10));
    tbb::flow::function_node<int, int> third(graph, tbb::flow::unlimited, pass(20));
    tbb::flow::make_edge(first, urgent);
    tbb::flow::make_edge(first, second);
    tbb::flow::make_edge(second, third);
    for (int i = 0; i < 10; i++)
        first.try_put(i); // site
    graph.wait_for_all();
}

void arena()
{
    tbb::task_arena arena(4);
    tick(1);
    arena.execute([] { tbb::parallel_for(0, 4, [](int i) { tick(uint64_t(i)); }); }); // site
    tick(1);
}

void once()
{
    tbb::collaborative_once_flag flag;
    for (int i = 0; i < 2; i++)
        tbb::collaborative_call_once(flag, [] { tick(5); }); // site
}

void standard()
{
    std::vector<int> numbers(64, 3);
    std::for_each(std::execution::par, numbers.begin(), numbers.end(), [](int &n) { tick(uint64_t(n)); }); // site
}

/* The loops of all threads are the first that the program has. */
void from_threads()
{
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&ready] { // site
            ready++;
            while (ready < 3)
                std::this_thread::yield();
            tbb::parallel_for(Range(0, 4, 1), [](const Range &range) { tick(uint64_t(range.begin()) + 10); }, // site
                              tbb::simple_partitioner());
        });
    for (std::thread &thread : threads)
        thread.join();
}

struct Case {
    const char *name;
    void (*run)();
    uint64_t work, span;
};

const Case cases[] = {
    {"group", group, 40, 27},
    {"deferred", deferred, 15, 15},
    {"twice", twice, 30, 30},
    {"suspended", suspended, 53, 49},
    {"exception", exception, 12, 12},
    {"cancelled", cancelled, 7, 7},
    {"exception-of-loop", exception_of_loop, 7, 7},
    {"recursion", recursion, 89 + 2 * 88, 1 + 2 * 9},
    {"invoke", invoke, 20, 8},
    {"loop", loop, 120, 12 + 13 + 14 + 15},
    {"loop-auto", loop_auto, 2016, 63},
    {"loop-static", loop_static, 2016, 63},
    {"loop-affinity", loop_affinity, 4032, 126},
    {"nested", nested, 3 * 60 + 4 * 3 + 4, 33},
    {"each", each, 45, 9},
    {"reduce", reduce, 80, 10},
    {"reduce-joins", reduce_joins, 80 + 7 * 3, 10 + 3 * 3},
    {"reduce-uneven", reduce_uneven, 255 + 7 * 20, 128 + 3 * 20},
    {"reduce-by-loops", reduce_by_loops, 4 * 5 + 3 * 7, 5 + 2 * 4},
    {"sort", sort, 3, 3},
    {"pipeline", pipeline, 320, 50},
    {"serial-end", serial_end, 370, 307},
    {"serial-end-any", serial_end_any, 350, 305},
    {"serial-short-end", serial_short_end, 620, 152},
    {"one-token", one_token, 330, 330},
    {"two-tokens-alone", two_tokens, 330, 167},
    {"graph", graph, 151, 31},
    {"graph-one", graph_one, 371, 308},
    {"graph-three-alone", graph_three, 371, 5 + 4 * 30 + 2 + 1},
    {"limiter-alone", limiter, 301, 151},
    {"limiter-of-one", limiter_of_one, 301, 301},
    {"limiter-by-number-alone", limiter_by_number, 301, 151},
    {"graph-urgent", graph_urgent, 10 * 42, 35},
    {"arena", arena, 8, 5},
    {"once", once, 5, 5},
    {"standard", standard, 192, 3},
    {"from-threads", from_threads, 3 * 46, 13},
};

} // namespace

int main(int argc, char **argv)
{
    for (const Case &one : cases) {
        if (argc > 1 && !strcmp(argv[1], "list"))
            printf("%s %llu %llu\n", one.name, (unsigned long long)one.work, (unsigned long long)one.span);
        else if (argc > 1 && !strcmp(argv[1], one.name))
            return one.run(), 0;
    }
    return argc > 1 && !strcmp(argv[1], "list") ? 0 : 2;
}
