/*
 * Threads that map memory, touch it, work a little, and give it back: the kernel has one lock for that.
 *
 *   mapped THREADS TIMES
 *
 * By hand as parallel as it has threads.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BYTES = 1 << 20, PAGE = 4096, STEPS = 20000 };

static volatile uint64_t result;
static int times;

static void work(void)
{
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < STEPS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    result = x;
}

static void *maps(void *unused)
{
    for (int i = 0; i < times; i++) {
        char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            abort();
        for (int at = 0; at < BYTES; at += PAGE)
            memory[at] = 1;
        work();
        munmap(memory, BYTES);
    }
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t threads[64];
    if (count != 3)
        return 2;
    int number = atoi(arguments[1]);
    times = atoi(arguments[2]);
    for (int i = 0; i < number && i < 64; i++)
        pthread_create(&threads[i], NULL, maps, NULL);
    for (int i = 0; i < number && i < 64; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
