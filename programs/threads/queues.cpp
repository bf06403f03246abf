/*
 * A pool of threads, written by hand, whose tasks are marked (`include/workspan.h`); and a serial oracle that knows what they amount to.
 *
 *   queues run THREADS LOCK SEED     runs the random program of a seed on so many threads; the queue's lock: mutex or spin
 *   queues oracle SEED               its work and span
 *   queues busy THREADS MARKS        sixteen equal tasks, one of them split further, without ticks; MARKS: marked or plain
 *
 * A program is a tree: work, and batches of tasks that are waited for, each of which is a list of these again. Who waits for a batch
 * runs whatever task is there, so that no number of threads is too small.
 */
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
#include <atomic>

#include "workspan.h"

namespace {

/* A spin lock, of which nobody but its users knows. */
struct Spin {
    std::atomic_flag taken = ATOMIC_FLAG_INIT;
    void lock()
    {
        while (taken.test_and_set(std::memory_order_acquire))
            std::this_thread::yield();
    }
    void unlock() { taken.clear(std::memory_order_release); }
};

/* Tasks that are waited for together. */
struct Batch {
    std::atomic<unsigned> left{0};
};

struct Item {
    uint64_t task;
    Batch *batch;
    std::function<void()> run;
};

bool marked = true;

/* With a mutex it waits for a condition, with a spin lock it looks again. */
struct Pool {
    bool spins;
    Spin spin;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Item> items;
    bool over = false;
    std::vector<std::thread> threads;

    Pool(unsigned count, bool spins) : spins(spins)
    {
        for (unsigned i = 1; i < count; i++)
            threads.emplace_back([this] {
                while (one([this] { return over; }))
                    ;
            });
    }

    ~Pool()
    {
        with([this] { over = true; });
        for (std::thread &thread : threads)
            thread.join();
    }

    template <class Work> void with(Work work)
    {
        if (spins) {
            std::lock_guard<Spin> guard(spin);
            work();
        } else {
            std::lock_guard<std::mutex> guard(mutex);
            work();
            changed.notify_all();
        }
    }

    void push(Batch &batch, std::function<void()> run)
    {
        batch.left++;
        uint64_t task = marked ? workspan_task_create(&batch) : 0;
        with([&] { items.push_back(Item{task, &batch, std::move(run)}); });
    }

    /* Runs a task, as soon as there is one. False: `done`, and there is none. */
    template <class Done> bool one(Done done)
    {
        Item item;
        for (bool found = false; !found;) {
            bool is_done = false;
            auto take = [&] {
                is_done = done();
                if (!is_done && !items.empty()) {
                    item = std::move(items.front());
                    items.pop_front();
                    found = true;
                }
            };
            if (spins) {
                {
                    std::lock_guard<Spin> guard(spin);
                    take();
                }
                if (!found && !is_done)
                    std::this_thread::yield();
            } else {
                std::unique_lock<std::mutex> lock(mutex);
                changed.wait(lock, [&] {
                    take();
                    return found || is_done;
                });
            }
            if (is_done)
                return false;
        }
        if (marked)
            workspan_task_begin(item.task);
        item.run();
        if (marked)
            workspan_task_end(item.task);
        with([&] { item.batch->left--; });
        return true;
    }

    void wait(Batch &batch)
    {
        if (marked)
            workspan_task_wait_begin(&batch);
        while (one([&] { return batch.left == 0; }))
            ;
        if (marked)
            workspan_task_wait_end(&batch);
    }
};

struct Node;
using List = std::vector<Node>;

struct Node {
    uint64_t ticks;
    /* Of a batch: its tasks. */
    std::vector<List> tasks;
};

struct Random {
    uint64_t state;
    int left;

    uint64_t any()
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }

    unsigned below(unsigned bound) { return unsigned(any() % bound); }
};

List new_list(Random &random, int depth)
{
    List list;
    unsigned count = 1 + random.below(3);
    for (unsigned i = 0; i < count; i++) {
        list.push_back(Node{1 + random.any() % 1000003, {}});
        if (depth > 0 && random.left-- > 0) {
            Node batch{0, {}};
            unsigned tasks = 1 + random.below(5);
            for (unsigned task = 0; task < tasks; task++)
                batch.tasks.push_back(new_list(random, depth - 1));
            list.push_back(std::move(batch));
        }
    }
    return list;
}

List new_program(uint64_t seed)
{
    Random random{seed * 0x2545f4914f6cdd1dull + 1, 30};
    List list = new_list(random, 4);
    list.push_back(Node{1 + random.any() % 1000003, {}});
    return list;
}

void execute(Pool &pool, const List &list)
{
    for (const Node &node : list) {
        if (node.tasks.empty()) {
            workspan_tick(node.ticks);
            continue;
        }
        Batch batch;
        for (const List &task : node.tasks)
            pool.push(batch, [&] { execute(pool, task); });
        pool.wait(batch);
    }
}

uint64_t total;

uint64_t evaluate(const List &list, uint64_t at)
{
    for (const Node &node : list) {
        total += node.ticks;
        at += node.ticks;
        uint64_t last = at;
        for (const List &task : node.tasks) {
            uint64_t end = evaluate(task, at);
            last = end > last ? end : last;
        }
        at = last;
    }
    return at;
}

volatile uint64_t result;

__attribute__((noinline)) void work(uint64_t steps)
{
    uint64_t x = 88172645463325252u;
    for (uint64_t i = 0; i < steps; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    result = x;
}

void busy(Pool &pool)
{
    Batch batch;
    for (int i = 0; i < 16; i++)
        pool.push(batch, [] { work(4000000); });
    pool.wait(batch);
}

} // namespace

int main(int argc, char **argv)
{
    auto number = [&](int at) { return argc > at ? strtoull(argv[at], nullptr, 10) : 1; };
    if (argc > 4 && !strcmp(argv[1], "run")) {
        Pool pool(unsigned(number(2)), !strcmp(argv[3], "spin"));
        execute(pool, new_program(number(4)));
    } else if (argc > 2 && !strcmp(argv[1], "oracle")) {
        uint64_t span = evaluate(new_program(number(2)), 0);
        printf("%llu %llu\n", (unsigned long long)total, (unsigned long long)span);
    } else if (argc > 3 && !strcmp(argv[1], "busy")) {
        marked = !strcmp(argv[3], "marked");
        Pool pool(unsigned(number(2)), false);
        busy(pool);
    } else {
        return 2;
    }
    return 0;
}
