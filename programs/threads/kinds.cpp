// Kinds of programs on threads, each with the parallelism that it has by hand: `kinds CASE STEPS`; without arguments, the list of both.
// The remarks say which lines wait by code of headers, and with what.

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <latch>
#include <mutex>
#include <pthread.h>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <threads.h>
#include <vector>

namespace {

constexpr int ITEMS = 32, ROOM = 4;
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

template <typename Body> void on_threads(int number, Body body)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < number; i++)
        threads.emplace_back(body, i);
    for (auto &thread : threads)
        thread.join();
}

// The first of four initialises for as long as each then works: 20 pieces, 8 one after the other.
void once()
{
    static std::once_flag flag;
    on_threads(4, [](int) {
        std::call_once(flag, [] { work(4); });
        work(4);
    });
}

// The same, checked twice.
void twice()
{
    static std::atomic<bool> done;
    static std::mutex mutex;
    on_threads(4, [](int) {
        if (!done) {
            std::lock_guard<std::mutex> guard(mutex);
            if (!done) {
                work(4);
                done = true;
            }
        }
        work(4);
    });
}

void readers()
{
    static std::shared_mutex mutex;
    on_threads(4, [](int) {
        for (int i = 0; i < 8; i++) {
            std::shared_lock<std::shared_mutex> guard(mutex);
            work(1);
        }
    });
}

// A thread sleeps until it is stopped, and works then.
void stop()
{
    static std::mutex mutex;
    static std::condition_variable_any condition;
    std::jthread thread([](std::stop_token token) {
        std::unique_lock<std::mutex> lock(mutex);
        condition.wait(lock, token, [] { return false; });
        lock.unlock();
        work(8);
    });
    work(8);
    thread.request_stop();
}

void semaphores()
{
    static std::counting_semaphore<ROOM> room(ROOM), items(0);
    on_threads(2, [](int consumes) {
        for (int i = 0; i < ITEMS; i++) {
            (consumes ? items : room).acquire(); // waits: std::counting_semaphore
            work(1);
            (consumes ? room : items).release();
        }
    });
}

void ping()
{
    static std::atomic<int> turn;
    on_threads(2, [](int me) {
        for (int i = 0; i < 16; i++) {
            for (int value; (value = turn.load()) != me;)
                turn.wait(value); // waits: std::atomic::wait
            work(1);
            turn = 1 - me;
            turn.notify_all();
        }
    });
}

// In each round one of two threads has two pieces to do, the other one.
void barrier()
{
    static std::barrier<> all(2);
    on_threads(2, [](int me) {
        for (int i = 0; i < 16; i++) {
            work(i % 2 == me ? 2 : 1);
            all.arrive_and_wait(); // waits: std::barrier
        }
    });
}

void latch()
{
    for (int i = 0; i < 8; i++) {
        std::latch done(2);
        on_threads(3, [&](int me) {
            if (me == 0) {
                done.wait(); // waits: std::latch
                work(1);
            } else {
                work(1);
                done.count_down();
            }
        });
    }
}

// Three stages.
void futures()
{
    static std::promise<void> first[ITEMS], second[ITEMS];
    on_threads(3, [](int stage) {
        for (int i = 0; i < ITEMS; i++) {
            if (stage > 0)
                (stage == 1 ? first : second)[i].get_future().wait();
            work(1);
            if (stage < 2)
                (stage == 0 ? first : second)[i].set_value();
        }
    });
}

void packaged()
{
    std::vector<std::future<void>> answers;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        std::packaged_task<void()> task([] { work(4); });
        answers.push_back(task.get_future());
        threads.emplace_back(std::move(task));
    }
    for (auto &answer : answers)
        answer.get();
    work(1);
    for (auto &thread : threads)
        thread.join();
}

mtx_t c11_mutex;
cnd_t c11_filled, c11_emptied;
int c11_items;

int c11_moves(void *consumes)
{
    for (int i = 0; i < ITEMS; i++) {
        if (!consumes)
            work(1);
        mtx_lock(&c11_mutex);
        while (consumes ? c11_items == 0 : c11_items == ROOM)
            cnd_wait(consumes ? &c11_filled : &c11_emptied, &c11_mutex);
        c11_items += consumes ? -1 : 1;
        cnd_signal(consumes ? &c11_emptied : &c11_filled);
        mtx_unlock(&c11_mutex);
        if (consumes)
            work(1);
    }
    return 0;
}

void c11()
{
    thrd_t threads[2];
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_filled);
    cnd_init(&c11_emptied);
    for (int i = 0; i < 2; i++)
        thrd_create(&threads[i], c11_moves, i ? &c11_items : nullptr);
    for (int i = 0; i < 2; i++)
        thrd_join(threads[i], nullptr);
}

// Looks each millisecond whether a thread has done its 16 pieces, and has 16 of its own then.
void timed()
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    static bool done;
    std::thread thread([] {
        work(16);
        pthread_mutex_lock(&mutex);
        done = true;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
    });
    pthread_mutex_lock(&mutex);
    while (!done) {
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&condition, &mutex, &until);
    }
    pthread_mutex_unlock(&mutex);
    work(16);
    thread.join();
}

// 8 leaves, and a piece for each of the 7 nodes above: 15 pieces, 4 one after the other.
void tree(int depth)
{
    if (depth > 0) {
        auto other = std::async(std::launch::async, tree, depth - 1);
        tree(depth - 1);
        other.get();
    }
    work(1);
}

void async() { tree(3); }

// 64 tasks for four threads.
void pool()
{
    static std::mutex mutex;
    static std::condition_variable filled, done;
    static std::queue<int> tasks;
    static bool ends;
    static int left = 64;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([] {
            std::unique_lock<std::mutex> lock(mutex);
            for (;;) {
                filled.wait(lock, [] { return ends || !tasks.empty(); });
                if (tasks.empty())
                    return;
                tasks.pop();
                lock.unlock();
                work(1);
                lock.lock();
                if (--left == 0)
                    done.notify_all();
            }
        });
    for (int i = 0; i < 64; i++) {
        {
            std::lock_guard<std::mutex> guard(mutex);
            tasks.push(i);
        }
        filled.notify_one();
    }
    {
        std::unique_lock<std::mutex> lock(mutex);
        done.wait(lock, [] { return left == 0; });
        ends = true;
    }
    filled.notify_all();
    for (auto &thread : threads)
        thread.join();
}

// Two threads hold a lock for two pieces of three.
void spin()
{
    static std::atomic_flag flag;
    on_threads(2, [](int) {
        for (int i = 0; i < 16; i++) {
            while (flag.test_and_set(std::memory_order_acquire))
                __builtin_ia32_pause(); // waits: a loop that spins
            work(2);
            flag.clear(std::memory_order_release);
            work(1);
        }
    });
}

const struct {
    const char *name;
    void (*run)();
    double parallelism;
} CASES[] = {
    { "once", once, 2.5 },       { "twice", twice, 2.5 },     { "readers", readers, 4 }, { "stop", stop, 1 },
    { "semaphores", semaphores, 1.94 }, { "ping", ping, 1 },  { "barrier", barrier, 1.5 }, { "latch", latch, 1.5 },
    { "futures", futures, 2.82 }, { "packaged", packaged, 3.4 }, { "c11", c11, 1.94 },   { "timed", timed, 1 },
    { "async", async, 3.75 },    { "pool", pool, 4 },         { "spin", spin, 1.45 },
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
