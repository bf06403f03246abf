// The program ends as soon as its threads have said that they are done: one of them has not come to its end then, as if it had lost its
// processor. So Rust's scopes end. Work: 5 + 30 + 20; span: 5 + 30.

#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

extern void workspan_tick(unsigned long ticks) __attribute__((weak));

static void tick(unsigned long ticks) { if (workspan_tick) workspan_tick(ticks); }

static atomic_int left = 2;
static sem_t done;
static volatile unsigned long result;

// Some milliseconds, in which the program ends otherwise.
static void lose_the_processor(void) {
    for (unsigned long i = 0; i < 5000000; i++) result += i;
}

static void *first(void *unused) {
    tick(30);
    atomic_fetch_sub(&left, 1);
    lose_the_processor();
    return unused;
}

static void *last(void *unused) {
    tick(20);
    while (atomic_load(&left) > 1) { }
    sem_post(&done);
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&done, 0, 0);
    tick(5);
    pthread_create(&thread, 0, first, 0);
    pthread_detach(thread);
    pthread_create(&thread, 0, last, 0);
    pthread_detach(thread);
    sem_wait(&done);
    return 0;
}
