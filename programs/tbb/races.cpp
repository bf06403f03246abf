// Pairs of a program that races and its fixed form, and constructs whose graph is known.
// Usage: races CASE THREADS RACY; without arguments it prints the names of the pairs.
#define TBB_PREVIEW_MUTEXES 1
#include <oneapi/tbb.h>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/mutex.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

static long shared, a, b, cells[1000];
static bool racy;

// Where it depends on the schedule whether a construct orders two tasks, the race is beside it.
static void unordered() {
    if (racy) tbb::parallel_invoke([] { a = 1; }, [] { b = a; });
}

static void for_each_index() {
    tbb::parallel_for(0, 200, [](int i) { (racy ? cells[0] : cells[i]) += i; });
}
static void neighbours() {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, 100, 10),
        [](const tbb::blocked_range<int> &range) {
            for (int i = range.begin(); i < range.end(); i++) cells[i] = cells[racy ? i + 1 : i] + 1;
        },
        tbb::simple_partitioner());
}
static void partitioners() {
    tbb::affinity_partitioner affinity;
    for (int round = 0; round < 3; round++) {
        tbb::parallel_for(0, 300, [](int i) { cells[i] += i; }, tbb::static_partitioner());
        tbb::parallel_for(0, 300, [](int i) { cells[racy ? i / 2 : i] += i; }, affinity);
    }
}
// One thread by itself goes on with the sum of the left half, and a counter of oneTBB's orders the halves: so two threads meet first.
static void meet() {
    static std::atomic<int> arrived{0};
    arrived.fetch_add(1, std::memory_order_relaxed);
    while (arrived.load(std::memory_order_relaxed) < 2) std::this_thread::sleep_for(std::chrono::microseconds(100));
}
static void reduce() {
    tbb::task_arena arena(2);
    arena.execute([] {
        shared += tbb::parallel_reduce(
            tbb::blocked_range<int>(0, 300, 7), 0L,
            [](const tbb::blocked_range<int> &range, long sum) {
                for (int i = range.begin(); i < range.end(); i++) sum += i;
                if (racy) {
                    meet();
                    shared = sum;
                }
                return sum;
            },
            std::plus<long>(), tbb::simple_partitioner());
    });
}
// Bodies that grow: whoever ends last joins them.
static void reduce_bodies() {
    struct Body {
        std::vector<long> found;
        Body() {}
        Body(Body &, tbb::split) {}
        void operator()(const tbb::blocked_range<int> &range) {
            for (int i = range.begin(); i < range.end(); i++) found.push_back(i);
        }
        void join(Body &other) { found.insert(found.end(), other.found.begin(), other.found.end()); }
    } body;
    tbb::parallel_reduce(tbb::blocked_range<int>(0, 300, 7), body, tbb::simple_partitioner());
    shared = long(body.found.size());
    unordered();
}
static void scan() {
    shared = tbb::parallel_scan(
        tbb::blocked_range<int>(0, 300, 10), 0L,
        [](const tbb::blocked_range<int> &range, long sum, bool final) {
            for (int i = range.begin(); i < range.end(); i++) {
                sum += i;
                if (final) cells[racy ? 0 : i] = sum;
            }
            return sum;
        },
        std::plus<long>());
}
static void invoke() {
    tbb::parallel_invoke([] { a = 1; }, [] { (racy ? a : b) = 2; }, [] { cells[0] = 3; }, [] { cells[1] = 4; });
    shared = a + b + cells[0];
}
static void group() {
    tbb::task_group group;
    group.run([] { a = 1; });
    if (!racy) group.wait();
    group.run([] { b = a; });
    group.wait();
    shared = a + b;
}
static void read_before_wait() {
    tbb::task_group group;
    group.run([] { a = 1; });
    if (racy) shared = a;
    group.wait();
    shared = a;
}
// A loop does not wait for the tasks of another group.
static void other_group() {
    tbb::task_group group;
    tbb::parallel_for(0, 20, [&](int i) { group.run([i] { cells[i] = i; }); });
    if (!racy) group.wait();
    for (int i = 0; i < 20; i++) shared += cells[i];
    group.wait();
}
static void items() {
    std::vector<int> first{1, 2, 4};
    tbb::parallel_for_each(first.begin(), first.end(), [](int item, tbb::feeder<int> &feeder) {
        cells[racy ? 0 : item] += item;
        if (item < 300) feeder.add(item * 3);
    });
}
static void pipeline() {
    int next = 0;
    auto last = racy ? tbb::filter_mode::parallel : tbb::filter_mode::serial_out_of_order;
    tbb::parallel_pipeline(
        4, tbb::make_filter<void, std::string *>(tbb::filter_mode::serial_in_order,
                                                 [&](tbb::flow_control &control) -> std::string * {
                                                     if (next < 60) return new std::string(std::to_string(next++));
                                                     control.stop();
                                                     return nullptr;
                                                 }) &
               tbb::make_filter<std::string *, std::string *>(tbb::filter_mode::parallel,
                                                              [](std::string *text) {
                                                                  text->append("a string that is not short any more");
                                                                  return text;
                                                              }) &
               tbb::make_filter<std::string *, void>(last, [](std::string *text) {
                   shared += long(text->size());
                   delete text;
               }));
}
static void flow() {
    using namespace tbb::flow;
    graph graph;
    function_node<int, int> first(graph, unlimited, [](int i) { return cells[i] = i; });
    function_node<int, int> second(graph, unlimited, [](int i) { return cells[100 + i] = i; });
    join_node<std::tuple<int, int>> both(graph);
    function_node<std::tuple<int, int>> last(graph, racy ? unlimited : serial, [](const std::tuple<int, int> &pair) {
        shared += cells[std::get<0>(pair)] + cells[100 + std::get<1>(pair)];
        return continue_msg();
    });
    make_edge(first, input_port<0>(both));
    make_edge(second, input_port<1>(both));
    make_edge(both, last);
    for (int i = 0; i < 30; i++) {
        first.try_put(i);
        second.try_put(i);
    }
    graph.wait_for_all();
    shared += cells[3];
}
// A task for each index: one that takes two locks in turn would order the tasks of both.
template <typename Body> static void one_by_one(const Body &body) {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, 60), [&](const tbb::blocked_range<int> &range) { body(range.begin()); },
        tbb::simple_partitioner());
}
template <typename Mutex> static void locked() {
    Mutex mutex, other;
    one_by_one([&](int i) {
        typename Mutex::scoped_lock lock(racy && i % 2 ? other : mutex);
        shared += i;
    });
}
template <typename Mutex> static void read_and_written() {
    Mutex mutex, other;
    one_by_one([&](int i) {
        typename Mutex::scoped_lock lock(racy && i % 3 == 0 ? other : mutex, i % 3 == 0);
        if (i % 3 == 0) shared += i;
        else cells[i] = shared;
    });
}
static void published() {
    std::atomic<long> flag{0};
    tbb::parallel_invoke(
        [&] {
            a = 7;
            flag.store(1, racy ? std::memory_order_relaxed : std::memory_order_release);
        },
        [&] {
            if (flag.load(racy ? std::memory_order_relaxed : std::memory_order_acquire)) b = a;
        });
    unordered();
}
static void queue() {
    tbb::concurrent_queue<long *> queue;
    tbb::parallel_for(0, 50, [&](int i) {
        long *item = new long(i);
        queue.push(item);
        if (queue.try_pop(item)) *item += 1;
    });
    unordered();
}
static void of_threads() {
    tbb::enumerable_thread_specific<std::vector<long>> found;
    std::vector<long> slots(64 * 16);
    tbb::parallel_for(0, 300, [&](int i) {
        found.local().push_back(i);
        slots[std::size_t(tbb::this_task_arena::current_thread_index()) * 16] += i;
    });
    for (auto &list : found) shared += long(list.size());
    unordered();
}
static void exceptions() {
    for (int round = 0; round < 3; round++) try {
            tbb::parallel_for(0, 100, [](int i) {
                cells[racy ? 0 : i] += 1;
                if (i == 50) throw i;
            });
        } catch (int) {
            a++;
        }
    tbb::task_group group;
    group.run([] { b = a; });
    group.wait();
    shared = b;
}
static void arena() {
    tbb::task_arena arena(2);
    tbb::task_group group;
    arena.execute([&] { group.run([] { a = 4; }); });
    if (racy) shared = a;
    arena.execute([&] { group.wait(); });
    shared = a;
}

static const std::pair<const char *, void (*)()> pairs[] = {
    {"loop", for_each_index}, {"neighbours", neighbours}, {"partitioners", partitioners}, {"reduce", reduce},
    {"bodies", reduce_bodies}, {"scan", scan}, {"invoke", invoke}, {"group", group}, {"early", read_before_wait},
    {"other_group", other_group}, {"items", items}, {"pipeline", pipeline}, {"flow", flow},
    {"spin_mutex", locked<tbb::spin_mutex>}, {"mutex", locked<tbb::mutex>}, {"queuing_mutex", locked<tbb::queuing_mutex>},
    {"speculative", locked<tbb::speculative_spin_mutex>}, {"spin_rw", read_and_written<tbb::spin_rw_mutex>},
    {"queuing_rw", read_and_written<tbb::queuing_rw_mutex>}, {"published", published}, {"queue", queue},
    {"of_threads", of_threads}, {"exceptions", exceptions}, {"arena", arena},
};

static long fib(int n) {
    if (n < 2) return n;
    long x, y;
    tbb::task_group group;
    group.run([&] { x = fib(n - 1); });
    y = fib(n - 2);
    group.wait();
    return x + y;
}
using Range = tbb::blocked_range<int>;
static const std::pair<const char *, void (*)()> shapes[] = {
    {"for", [] { tbb::parallel_for(Range(0, 64), [](const Range &r) { cells[r.begin()] = 1; }, tbb::simple_partitioner()); }},
    {"deterministic", [] { shared = tbb::parallel_deterministic_reduce(Range(0, 32), 0L, [](const Range &r, long s) { return s + r.begin(); }, std::plus<long>()); }},
    {"reduction", [] { shared = tbb::parallel_reduce(Range(0, 16), 0L, [](const Range &r, long s) { return s + r.begin(); }, std::plus<long>(), tbb::simple_partitioner()); }},
    {"two", [] { tbb::parallel_invoke([] { a = 1; }, [] { b = 2; }); }},
    {"three", [] { tbb::parallel_invoke([] { a = 1; }, [] { b = 2; }, [] { shared = 3; }); }},
    {"tasks", [] { tbb::task_group group; for (int i = 0; i < 50; i++) group.run([i] { cells[i] = i; }); group.wait(); }},
    {"rounds", [] { tbb::task_group group; for (int i = 0; i < 20; i++) { group.run([] { a++; }); group.wait(); } }},
    {"run_and_wait", [] { tbb::task_group group; group.run([] { a = 1; }); group.run_and_wait([] { b = 1; }); }},
    {"fib", [] { shared = fib(8); }},
    {"enter", [] { tbb::task_arena arena(1); arena.execute([] { a = 1; }); }},
};

int main(int count, char **words) {
    if (count < 4) {
        for (auto &pair : pairs) printf("%s\n", pair.first);
        return 0;
    }
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, std::size_t(atoi(words[2])));
    racy = atoi(words[3]) != 0;
    for (auto &pair : pairs)
        if (!strcmp(words[1], pair.first)) pair.second();
    for (auto &shape : shapes)
        if (!strcmp(words[1], shape.first)) shape.second();
    printf("%ld\n", shared);
}
