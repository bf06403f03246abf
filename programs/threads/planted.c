// Threads whose work is under one lock, each under a lock of its own, or under none: `planted one`, `planted many`, `planted free`.
// `planted last`: the one that takes the lock last has as much to do behind it as all have under it. In any other order
// that is done beside it. A number behind that is of threads.
//
// With locks, all wait for theirs before the first gets it, so that it is fought for whatever the machine does.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void workspan_tick(unsigned long ticks) __attribute__((weak));

enum { MOST = 32 };

static pthread_mutex_t table[MOST];
static atomic_int tids[MOST];
static int number = MOST, many, locks, last;
static atomic_int taken;

static int sleeps(int who) {
    char name[64], text[256];
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", tids[who]);
    FILE *file = tids[who] ? fopen(name, "r") : 0;
    if (!file) return 0;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char *state = strrchr(text, ')');
    return state && state[2] == 'S';
}

static void *worker(void *me) {
    int who = (int)(long)me;
    tids[who] = (int)syscall(SYS_gettid);
    if (workspan_tick) workspan_tick(10);
    if (locks) pthread_mutex_lock(&table[many ? who : 0]); // held
    if (workspan_tick) workspan_tick(1000);
    if (locks) pthread_mutex_unlock(&table[many ? who : 0]);
    if (workspan_tick) workspan_tick(10);
    return 0;
}

// Each takes the lock when the one before has it, and has fallen asleep before that one gives it back.
static void *in_turn(void *me) {
    int who = (int)(long)me;
    tids[who] = (int)syscall(SYS_gettid);
    if (workspan_tick) workspan_tick(10);
    while (taken < who) sched_yield();
    pthread_mutex_lock(&table[0]);
    taken = who + 1;
    while (who + 1 < number && !sleeps(who + 1)) sched_yield();
    if (workspan_tick) workspan_tick(1000);
    pthread_mutex_unlock(&table[0]);
    if (workspan_tick) workspan_tick(who + 1 < number ? 10 : 10 + number * 1000);
    return 0;
}

int main(int n, char **arguments) {
    pthread_t threads[MOST];
    if (n > 2) number = atoi(arguments[2]);
    many = n > 1 && !strcmp(arguments[1], "many");
    last = n > 1 && !strcmp(arguments[1], "last");
    locks = n < 2 || strcmp(arguments[1], "free");
    for (int i = 0; i < number; i++) pthread_mutex_init(&table[i], 0);
    for (int i = 0; !last && i < number; i++) pthread_mutex_lock(&table[i]);
    for (long i = 0; i < number; i++) pthread_create(&threads[i], 0, last ? in_turn : worker, (void *)i);
    for (int i = 0; !last && locks && i < number; i++) while (!sleeps(i)) sched_yield();
    for (int i = 0; !last && i < number; i++) pthread_mutex_unlock(&table[i]);
    for (int i = 0; i < number; i++) pthread_join(threads[i], 0);
    return 0;
}
