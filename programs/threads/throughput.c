/*
 * Programs of threads that live as long as the program, each with one thing that limits its throughput.
 *
 *   throughput pipeline COUNT    three stages, of which `transform` takes eight times as long as the others
 *   throughput server COUNT      three threads serve requests, for each of which one thread, `look_up`, is asked
 *   throughput chain COUNT       `front` waits for `middle`, which waits for `back`
 *   throughput lock COUNT        three threads, most of whose work is under one lock
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4, STEPS = 100000, SERVERS = 3 };

/* A queue of numbers with room for a few; -1 ends what comes out of it. */
struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    long items[ROOM];
    int first, count;
};

#define EMPTY {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0}

static struct queue queues[4] = {EMPTY, EMPTY, EMPTY, EMPTY};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t result;
static long count;

static void put(struct queue *queue, long item)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == ROOM)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    queue->items[(queue->first + queue->count++) % ROOM] = item;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

static long take(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    long item = queue->items[queue->first];
    queue->first = (queue->first + 1) % ROOM;
    queue->count--;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    return item;
}

__attribute__((noinline)) static void work(long times)
{
    uint64_t x = 88172645463325252u;
    for (long i = 0; i < times * STEPS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    result = x;
}

static void *read_items(void *unused)
{
    for (long i = 0; i < count; i++) {
        work(1);
        put(&queues[0], i);
    }
    put(&queues[0], -1);
    return unused;
}

static void *transform(void *unused)
{
    for (long item; (item = take(&queues[0])) >= 0;) {
        work(8);
        put(&queues[1], item);
    }
    put(&queues[1], -1);
    return unused;
}

static void *write_items(void *unused)
{
    while (take(&queues[1]) >= 0)
        work(1);
    return unused;
}

static void *serve(void *own)
{
    for (long i = 0; i < count; i++) {
        work(1);
        put(&queues[0], (long)(intptr_t)own);
        take(&queues[(intptr_t)own]);
    }
    return NULL;
}

static void *look_up(void *unused)
{
    for (long i = 0; i < SERVERS * count; i++) {
        long who = take(&queues[0]);
        work(4);
        put(&queues[who], i);
    }
    return unused;
}

static void *front(void *unused)
{
    for (long i = 0; i < count; i++) {
        put(&queues[0], i);
        take(&queues[1]);
        work(1);
    }
    return unused;
}

static void *middle(void *unused)
{
    for (long i = 0; i < count; i++) {
        put(&queues[2], take(&queues[0]));
        put(&queues[1], take(&queues[3]));
    }
    return unused;
}

static void *back(void *unused)
{
    for (long i = 0; i < count; i++) {
        long item = take(&queues[2]);
        work(8);
        put(&queues[3], item);
    }
    return unused;
}

static void *share(void *unused)
{
    for (long i = 0; i < count; i++) {
        work(1);
        pthread_mutex_lock(&lock);
        work(8);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void *(*run[4])(void *);
    } programs[] = {
        {"pipeline", {read_items, transform, write_items, NULL}},
        {"server", {look_up, serve, serve, serve}},
        {"chain", {front, middle, back, NULL}},
        {"lock", {share, share, share, NULL}},
    };
    if (argc != 3)
        return 2;
    count = strtol(argv[2], NULL, 10);
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(argv[1], programs[i].name))
            continue;
        pthread_t threads[4];
        int there_are = 0;
        for (; there_are < 4 && programs[i].run[there_are]; there_are++)
            pthread_create(&threads[there_are], NULL, programs[i].run[there_are], (void *)(intptr_t)there_are);
        while (there_are > 0)
            pthread_join(threads[--there_are], NULL);
        return 0;
    }
    return 2;
}
