/*
 * Threads that wait for each other by looking again and again.
 *
 *   looks helper WAY STEPS    the main thread works; a helper looks whether it has ended
 *   looks turns WAY STEPS     two threads work in turn, each while the other one looks
 *   looks busy WAY STEPS      two threads work at a time, and look for nothing
 *   looks ends WAY STEPS      four threads work at a time, and nobody joins them; main looks whether they have ended, and then works
 *   looks asked WAY STEPS     the same; the threads are looked for by another one, which then wakes main
 *
 * WAY: spin, pause, yield, sleep, doze (yields between sleeps), nap (the longer it has waited), lock (a flag that is taken by exchange), wake (by yields, and who goes on is
 * woken as if it slept, as by C++'s atomics). STEPS: of arithmetic, a piece.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PIECES = 20, MANY = 4 };

static atomic_int turn, closed = 1, still = MANY;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int has_come;
static volatile uint64_t result;
static uint64_t steps;
static const char *way;

__attribute__((noinline)) static void work(void)
{
    uint64_t x = 88172645463325252u;
    for (uint64_t i = 0; i < steps; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    result = x;
}

static int comes(int value)
{
    return atomic_load_explicit(&turn, memory_order_acquire) == value;
}

__attribute__((noinline)) static void look(int value)
{
    struct timespec millisecond = {0, 1000000};
    if (strcmp(way, "spin") == 0) {
        while (!comes(value)) {
        }
    } else if (strcmp(way, "pause") == 0) {
        while (!comes(value))
            __builtin_ia32_pause();
    } else if (strcmp(way, "yield") == 0) {
        while (!comes(value))
            sched_yield();
    } else if (strcmp(way, "wake") == 0) {
        while (!comes(value))
            sched_yield();
        sched_yield();
    } else if (strcmp(way, "sleep") == 0) {
        while (!comes(value))
            nanosleep(&millisecond, NULL);
    } else if (strcmp(way, "doze") == 0) {
        while (!comes(value)) {
            sched_yield();
            nanosleep(&millisecond, NULL);
        }
    } else if (strcmp(way, "nap") == 0) {
        struct timespec longer = {0, 400000000};
        for (int i = 0; !comes(value); i++)
            nanosleep(i < 10 ? &millisecond : &longer, NULL);
    } else {
        while (atomic_exchange(&closed, 1) == 1) {
        }
    }
}

static void *helper(void *unused)
{
    (void)unused;
    look(1);
    return NULL;
}

static void *player(void *number)
{
    for (int i = (int)(intptr_t)number; i < PIECES; i += 2) {
        look(i);
        work();
        if (strcmp(way, "wake") == 0)
            syscall(SYS_futex, &turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        atomic_store(&turn, i + 1);
    }
    return NULL;
}

static void *busy(void *unused)
{
    (void)unused;
    for (int i = 0; i < PIECES / 2; i++)
        work();
    return NULL;
}

static void *many(void *unused)
{
    (void)unused;
    for (int i = 0; i < PIECES / MANY; i++)
        work();
    if (atomic_fetch_sub(&still, 1) == 1)
        atomic_store(&turn, 1);
    return NULL;
}

static void create_many(void)
{
    for (int i = 0; i < MANY; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, many, NULL);
        pthread_detach(thread);
    }
}

static void *overseer(void *unused)
{
    (void)unused;
    create_many();
    look(1);
    pthread_mutex_lock(&mutex);
    has_come = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[2];
    if (count != 4)
        return 2;
    way = arguments[2];
    steps = strtoull(arguments[3], NULL, 10);
    if (strcmp(arguments[1], "helper") == 0) {
        pthread_create(&threads[0], NULL, helper, NULL);
        for (int i = 0; i < PIECES; i++)
            work();
        atomic_store(&turn, 1);
        atomic_store(&closed, 0);
        pthread_join(threads[0], NULL);
        return 0;
    }
    if (strcmp(arguments[1], "ends") == 0) {
        create_many();
        look(1);
        work();
        return 0;
    }
    if (strcmp(arguments[1], "asked") == 0) {
        pthread_create(&threads[0], NULL, overseer, NULL);
        pthread_mutex_lock(&mutex);
        while (!has_come)
            pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
        work();
        pthread_join(threads[0], NULL);
        return 0;
    }
    void *(*body)(void *) = strcmp(arguments[1], "turns") == 0 ? player : busy;
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, body, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
