/*
 * What profiling costs programs on threads.
 *
 *   bench lock N      N times a lock that nobody else wants, with another thread asleep
 *   bench create N    N threads, created and joined one after the other
 *
 * It prints all the memory that it had.
 */
#include <pthread.h>

#include "../openmp/bench.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t asleep = PTHREAD_MUTEX_INITIALIZER;
static uint64_t counter;

/* A lock is cheaper in a program that has one thread. */
static void *sleeper(void *argument)
{
    pthread_mutex_lock(&asleep);
    pthread_mutex_unlock(&asleep);
    return argument;
}

static void locks(uint64_t count)
{
    pthread_t thread;
    pthread_mutex_lock(&asleep);
    check(pthread_create(&thread, NULL, sleeper, NULL) == 0);
    for (uint64_t i = 0; i < count; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&asleep);
    check(pthread_join(thread, NULL) == 0 && counter == count);
}

static void *next(void *argument)
{
    counter++;
    return argument;
}

static void threads(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        pthread_t thread;
        check(pthread_create(&thread, NULL, next, NULL) == 0);
        check(pthread_join(thread, NULL) == 0);
    }
    check(counter == count);
}

int main(int count, char **arguments)
{
    uint64_t n = argument(count, arguments, 2, 0);
    if (count == 3 && n > 0 && strcmp(arguments[1], "lock") == 0) {
        locks(n);
    } else if (count == 3 && n > 0 && strcmp(arguments[1], "create") == 0) {
        threads(n);
    } else {
        fprintf(stderr, "usage: %s lock N | create N\n", arguments[0]);
        return 2;
    }
    print_peak();
    return 0;
}
