/*
 * Threads that share out work by turns: each takes the next item under a lock, and works on it without the lock. A second pair hands
 * items over through a queue with a condition.
 *
 * turns ITEMS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t next_lock = PTHREAD_MUTEX_INITIALIZER, queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t there = PTHREAD_COND_INITIALIZER;
static int items, next, queued, closed;
static unsigned long sums[4];

static unsigned long work(unsigned long seed, int rounds)
{
    for (int i = 0; i < rounds; i++)
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return seed;
}

static void *take_turns(void *sum)
{
    for (;;) {
        pthread_mutex_lock(&next_lock);
        int item = next < items ? next++ : -1;
        /* Held for some microseconds. */
        unsigned long seed = work((unsigned long)item, 5000);
        pthread_mutex_unlock(&next_lock);
        if (item < 0)
            return NULL;
        *(unsigned long *)sum += work(seed, 200000);
    }
}

static void *put(void *sum)
{
    for (int item = 0; item < items; item++) {
        *(unsigned long *)sum += work((unsigned long)item, 200000);
        pthread_mutex_lock(&queue_lock);
        queued++;
        pthread_cond_signal(&there);
        pthread_mutex_unlock(&queue_lock);
    }
    pthread_mutex_lock(&queue_lock);
    closed = 1;
    pthread_cond_signal(&there);
    pthread_mutex_unlock(&queue_lock);
    return NULL;
}

static void *get(void *sum)
{
    for (;;) {
        pthread_mutex_lock(&queue_lock);
        while (queued == 0 && !closed)
            pthread_cond_wait(&there, &queue_lock);
        int is_item = queued > 0;
        queued -= is_item;
        pthread_mutex_unlock(&queue_lock);
        if (!is_item)
            return NULL;
        *(unsigned long *)sum += work(1, 200000);
    }
}

int main(int count, char **arguments)
{
    items = count > 1 ? atoi(arguments[1]) : 500;
    void *(*bodies[])(void *) = {take_turns, take_turns, put, get};
    for (int pair = 0; pair < 2; pair++) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, bodies[2 * pair + i], &sums[2 * pair + i]);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    printf("%lu %lu %lu\n", sums[0] + sums[1], sums[2], sums[3]);
    return 0;
}
