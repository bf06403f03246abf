// Kinds of programs on oneTBB, each with the parallelism that it has by hand: `kinds CASE STEPS`; without arguments, the list of both.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_queue.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/spin_mutex.h>
#include <tbb/task_arena.h>
#include <thread>

namespace {

volatile uint64_t result;
uint64_t steps;

__attribute__((noinline)) void work(int pieces)
{
    uint64_t x = 88172645463325252u;
    for (uint64_t i = 0; i < pieces * steps; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    result = x;
}

template <typename Body> void on_two_threads(Body body)
{
    std::thread first(body, 0), second(body, 1);
    first.join();
    second.join();
}

void loop(int tasks)
{
    tbb::parallel_for(0, tasks, [](int) { work(1); }, tbb::simple_partitioner());
}

void queue()
{
    static tbb::concurrent_bounded_queue<int> items;
    items.set_capacity(2);
    on_two_threads([](int consumes) {
        for (int i = 0, item; i < 32; i++) {
            if (consumes)
                items.pop(item);
            work(1);
            if (!consumes)
                items.push(i);
        }
    });
}

// The first task of each thread makes its own value for a piece.
void own()
{
    tbb::enumerable_thread_specific<int> values([] {
        work(1);
        return 0;
    });
    tbb::parallel_for(0, 64, [&](int) {
        values.local()++;
        work(1);
    }, tbb::simple_partitioner());
    result = values.combine([](int a, int b) { return a + b; });
}

void arenas()
{
    on_two_threads([](int) {
        tbb::task_arena arena(2);
        arena.execute([] { loop(16); });
    });
}

// Loops of 8 tasks, one after the other.
void locked()
{
    static std::mutex mutex;
    on_two_threads([](int) {
        for (int i = 0; i < 4; i++) {
            std::lock_guard<std::mutex> guard(mutex);
            tbb::this_task_arena::isolate([] { loop(8); });
        }
    });
}

// Half of the time with one element in hand.
void hash()
{
    static tbb::concurrent_hash_map<int, int> map;
    map.insert({ 1, 0 });
    on_two_threads([](int) {
        for (int i = 0; i < 16; i++) {
            {
                tbb::concurrent_hash_map<int, int>::accessor element;
                map.find(element, 1); // waits: tbb::concurrent_hash_map
                work(1);
            }
            work(1);
        }
    });
}

void spin()
{
    static tbb::spin_mutex mutex;
    on_two_threads([](int) {
        for (int i = 0; i < 16; i++) {
            {
                tbb::spin_mutex::scoped_lock lock(mutex);
                work(1);
            }
            work(1);
        }
    });
}

const struct {
    const char *name;
    void (*run)();
    double parallelism;
} CASES[] = {
    { "queue", queue, 1.94 }, { "own", own, 32 }, { "arenas", arenas, 32 }, { "locked", locked, 8 }, { "hash", hash, 1.94 }, { "spin", spin, 1.94 },
};

} // namespace

int main(int count, char **arguments)
{
    if (count != 3) {
        for (auto &one : CASES)
            std::printf("%s %.2f\n", one.name, one.parallelism);
        return 0;
    }
    steps = std::strtoull(arguments[2], nullptr, 10);
    for (auto &one : CASES)
        if (std::strcmp(arguments[1], one.name) == 0)
            one.run();
    return 0;
}
