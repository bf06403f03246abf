// Threads whose function runs what it is given, as programs have them that wrap `pthread_create`: `wrapped roles`, joined; `wrapped left`, left
// waiting when the program ends; `wrapped passed`, by a wrapper that is given the function itself.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern void workspan_tick(unsigned long ticks) __attribute__((weak));

__attribute__((noinline)) static void tick(unsigned long ticks) { if (workspan_tick) workspan_tick(ticks); }

struct job { void (*run)(long); long argument; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Apart: whoever is woken runs, and may run while the program ends.
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER, changed = PTHREAD_COND_INITIALIZER;
static int done, over;

static void squeeze(long ticks) { tick(ticks); }

static void collect(long ticks) { tick(ticks); }

// Works, and waits for more until the program is over.
static void serve(long ticks) {
    tick(ticks);
    pthread_mutex_lock(&lock);
    done++;
    pthread_cond_signal(&ready);
    while (!over) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void *begin(void *given) {
    struct job job = *(struct job *)given;
    free(given);
    job.run(job.argument);
    return NULL;
}

__attribute__((noinline)) static pthread_t launch(void (*run)(long), long argument) {
    struct job *job = malloc(sizeof *job);
    *job = (struct job){run, argument};
    pthread_t thread;
    if (pthread_create(&thread, NULL, begin, job) != 0) abort();
    return thread;
}

static void *counts(void *argument) {
    tick((unsigned long)argument);
    return NULL;
}

// Calls what it is given, too, but is what the wrapper is given.
static void *calls(void *given) {
    ((void (*)(long))given)(50);
    return NULL;
}

__attribute__((noinline)) static pthread_t checked(void *(*function)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument) != 0) abort();
    return thread;
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    pthread_t threads[4];
    if (strcmp(arguments[1], "roles") == 0) {
        for (int i = 0; i < 3; i++) threads[i] = launch(squeeze, 100); // squeezers
        threads[3] = launch(collect, 10); // collector
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    } else if (strcmp(arguments[1], "left") == 0) {
        // Before there is anybody to wait for.
        pthread_mutex_lock(&lock);
        for (int i = 0; i < 2; i++) launch(serve, 200); // servers
        while (done < 2) pthread_cond_wait(&ready, &lock);
        pthread_mutex_unlock(&lock);
    } else {
        threads[0] = checked(counts, (void *)30);
        threads[1] = checked(calls, (void *)squeeze);
        threads[2] = checked(calls, (void *)collect);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    }
    return 0;
}
