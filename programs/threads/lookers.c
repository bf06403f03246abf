/*
 * Threads that look, by yields, whether something has come, each at its own word, while others are woken at other words.
 *
 *   lookers other STEPS    a thread is woken at another word while one looks
 *   lookers behind STEPS   who lets the looker go on has waited in sleeps before
 *   lookers late STEPS     who looks goes on before it is said who has let it
 *   lookers twice STEPS    who looks goes to sleep, is let go on at once, and sleeps again
 *
 * STEPS: of arithmetic, a piece. Status 3: the look was over before the other thread was woken, and nothing is shown.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compute.h"

static atomic_int words[2], looked, went_on, others_woken, too_soon;
static int late, behind;
static uint64_t steps;

static void work(int pieces)
{
    compute(pieces * steps);
}

/* Computes until `value` has come: that is no wait, as a loop is that only looks. */
static void compute_until(atomic_int *at, int value)
{
    while (atomic_load(at) != value)
        compute(1000);
}

/* As C++'s `wait` does before it sleeps. */
__attribute__((noinline)) static void look(atomic_int *at, int old)
{
    while (atomic_load(at) == old) {
        sched_yield();
        atomic_fetch_add(&looked, 1);
    }
}

/* As its `notify_all`, of which the system call may come late. */
static void wake(atomic_int *at)
{
    syscall(SYS_futex, at, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A thread is in the middle of its looks. */
static void until_looking(void)
{
    int before = atomic_load(&looked);
    while (atomic_load(&looked) < before + 2)
        usleep(1000);
}

static void *looks(void *word)
{
    atomic_int *at = word;
    look(at, 0);
    look(at, 1);
    atomic_store(&went_on, 1);
    if (late)
        compute_until(&went_on, 2);
    work(18);
    /* Of interest to nobody. */
    wake(&looked);
    return NULL;
}

/* The calling thread runs on the first processor that it may use. */
static void on_first_processor(void)
{
    cpu_set_t all, first;
    int at = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    while (!CPU_ISSET(at, &all))
        at++;
    CPU_ZERO(&first);
    CPU_SET(at, &first);
    sched_setaffinity(0, sizeof first, &first);
}

/*
 * Ends the second look. Whoever looks still does so when another is woken: both work on one processor, and that one gets nearly all
 * of it. A wait for that one is a dependence, and so on the path.
 */
static void *lets_go_on(void *word)
{
    atomic_int *at = word;
    if (!late && !behind) {
        on_first_processor();
        setpriority(PRIO_PROCESS, 0, 19);
    }
    while (behind && !atomic_load(&others_woken))
        usleep(1000);
    work(late ? 4 : 1);
    if (late) {
        atomic_store(at, 2);
        compute_until(&went_on, 1);
        wake(at);
        atomic_store(&went_on, 2);
    } else {
        atomic_store(&too_soon, !atomic_load(&others_woken));
        wake(at);
        atomic_store(at, 2);
    }
    return NULL;
}

/* Has done 12 pieces when it wakes whoever looks at another word. */
static void *wakes_others(void *word)
{
    on_first_processor();
    work(12);
    wake(word);
    atomic_store(&others_woken, 1);
    return NULL;
}

/* What it looks at changes before it is what it wants: the kernel does not let it sleep then. */
static void *waits_twice(void *word)
{
    atomic_int *at = word;
    look(at, 0);
    syscall(SYS_futex, at, FUTEX_WAIT, 0, NULL, NULL, 0);
    while (atomic_load(at) == 1)
        syscall(SYS_futex, at, FUTEX_WAIT, 1, NULL, NULL, 0);
    work(4);
    return NULL;
}

static void *changes_twice(void *word)
{
    atomic_int *at = word;
    work(6);
    atomic_store(at, 1);
    work(12);
    atomic_store(at, 2);
    wake(at);
    return NULL;
}

/*
 * other: 18 pieces follow the second look, which ends behind 1, and not behind the 12 of another word: a span of 19, and 31 in all.
 * behind: the same, and that 1 follows the 12: a span of 31.
 * late: the second look ends behind 4 pieces, and 18 follow, one behind the other.
 * twice: the look goes on for 6 pieces, the sleep for 12, and 4 follow; nobody has waited for nothing.
 */
int main(int count, char **arguments)
{
    pthread_t looker, other, last;
    if (count != 3)
        return 2;
    late = strcmp(arguments[1], "late") == 0;
    behind = strcmp(arguments[1], "behind") == 0;
    steps = strtoull(arguments[2], NULL, 10);
    if (strcmp(arguments[1], "twice") == 0) {
        pthread_create(&looker, NULL, waits_twice, &words[0]);
        pthread_create(&last, NULL, changes_twice, &words[0]);
        pthread_join(last, NULL);
        return pthread_join(looker, NULL);
    }
    pthread_create(&looker, NULL, looks, &words[0]);
    until_looking();
    wake(&words[0]);
    atomic_store(&words[0], 1);
    until_looking();
    if (!late)
        pthread_create(&other, NULL, wakes_others, &words[1]);
    pthread_create(&last, NULL, lets_go_on, &words[0]);
    if (!late)
        pthread_join(other, NULL);
    pthread_join(last, NULL);
    pthread_join(looker, NULL);
    return atomic_load(&too_soon) ? 3 : 0;
}
