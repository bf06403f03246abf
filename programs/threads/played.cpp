// What `random SEED THREADS steps` has drawn, by C++'s own threads, locks, conditions, semaphores and barriers: `played FILE`, in which its
// output is.

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <future>
#include <mutex>
#include <sched.h>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" void workspan_tick(unsigned long ticks) __attribute__((weak));

namespace {

// As in random.c.
enum What { WORK, LOCK, UNLOCK, AWAIT, SIGNAL, BROADCAST, POST, WAIT, MEET, CREATE, JOIN, END };
constexpr int THREADS = 8, LOCKS = 3, SEMAPHORES = 4;

struct Step {
    int what, who, which, blocks, wakes;
};

std::vector<Step> steps;
std::mutex mutexes[LOCKS + 2];
std::shared_mutex shared;
std::recursive_mutex recursive;
std::condition_variable condition;
std::condition_variable_any any_condition;
std::counting_semaphore<> semaphores[SEMAPHORES / 2] = { std::counting_semaphore<>(0), std::counting_semaphore<>(0) };
std::atomic<int> words[SEMAPHORES];
std::deque<std::barrier<>> barriers;
std::thread threads[THREADS];
std::jthread other_threads[THREADS];
std::future<void> futures[THREADS];
std::atomic<int> turn, awaited, tids[THREADS], at_condition[THREADS], blocked[THREADS];

void lock(int which)
{
    if (which == 1)
        shared.lock();
    else if (which == 2)
        recursive.lock();
    else
        mutexes[which].lock();
}

void unlock(int which)
{
    if (which == 1)
        shared.unlock();
    else if (which == 2)
        recursive.unlock();
    else
        mutexes[which].unlock();
}

bool sleeps(int who)
{
    std::ifstream file("/proc/self/task/" + std::to_string(tids[who]) + "/stat");
    std::string text;
    std::getline(file, text);
    auto at = text.rfind(')');
    return at != std::string::npos && text.size() > at + 2 && text[at + 2] == 'S';
}

/* Who was woken wants the lock that the caller has: until they sleep again. */
void until_all_want_the_lock(int which)
{
    for (int passes = 0; passes < 3; passes++)
        for (int i = 0; i < THREADS; i++)
            while (at_condition[i] == which + 1 && !sleeps(i))
                sched_yield();
}

/* Barriers share futexes: who waits at one may have been woken for the sake of another, and looks before it sleeps again. If what it waits
   for came meanwhile, nobody would see it wait for that. */
void until_all_sleep()
{
    for (int i = 0; i < THREADS; i++)
        while (blocked[i] && !sleeps(i))
            sched_yield();
}

void run(int me);

void perform(const Step &step)
{
    int which = step.which;
    switch (step.what) {
    case WORK:
        if (workspan_tick)
            workspan_tick(which);
        break;
    case LOCK: lock(which); break;
    case UNLOCK: unlock(which); break;
    case AWAIT: {
        at_condition[step.who] = which + 1;
        std::unique_lock<std::mutex> guard(mutexes[LOCKS + which], std::adopt_lock);
        if (which)
            any_condition.wait(guard);
        else
            condition.wait(guard);
        at_condition[step.who] = 0;
        break;
    }
    case SIGNAL:
        if (which)
            any_condition.notify_one();
        else
            condition.notify_one();
        until_all_want_the_lock(which);
        break;
    case BROADCAST:
        if (which)
            any_condition.notify_all();
        else
            condition.notify_all();
        until_all_want_the_lock(which);
        break;
    case POST:
        if (which < SEMAPHORES / 2) {
            semaphores[which].release();
        } else {
            words[which]++;
            words[which].notify_one();
        }
        break;
    case WAIT:
        if (which < SEMAPHORES / 2)
            semaphores[which].acquire();
        else
            words[which].wait(words[which]);
        break;
    case MEET: barriers[which].arrive_and_wait(); break;
    case CREATE:
        if (which % 3 == 0)
            threads[which] = std::thread(run, which);
        else if (which % 3 == 1)
            other_threads[which] = std::jthread(run, which);
        else
            futures[which] = std::async(std::launch::async, run, which);
        break;
    case JOIN:
        if (which % 3 == 0)
            threads[which].join();
        else if (which % 3 == 1)
            other_threads[which].join();
        else
            futures[which].get();
        break;
    default: break;
    }
}

void run(int me)
{
    tids[me] = gettid();
    for (int i = 0; i < int(steps.size()); i++) {
        const Step &step = steps[i];
        if (step.who != me)
            continue;
        while (turn != i)
            sched_yield();
        until_all_sleep();
        if (step.wakes)
            awaited = step.wakes;
        if (step.what == END && !step.wakes)
            turn++;
        if (step.what == END)
            return;
        if (step.blocks) {
            blocked[me] = 1;
            turn++;
            perform(step);
            blocked[me] = 0;
            /* Who ended the wait did so as the last thing that was done. */
            if (--awaited == 0)
                turn++;
        } else {
            perform(step);
            if (!step.wakes)
                turn++;
        }
    }
}

} // namespace

int main(int count, char **arguments)
{
    std::ifstream file(count > 1 ? arguments[1] : "");
    long work, span, free;
    int meetings, wanted;
    if (!(file >> work >> span >> free >> meetings)) {
        std::fprintf(stderr, "played FILE\n");
        return 2;
    }
    while (meetings-- > 0 && file >> wanted)
        barriers.emplace_back(wanted);
    Step step;
    while (file >> step.what >> step.who >> step.which >> step.blocks >> step.wakes)
        steps.push_back(step);
    std::printf("%ld %ld %ld\n", work, span, free);
    std::fflush(stdout);
    run(0);
    return 0;
}
