/* A library with a thread that waits for work from its start to its end, and gets none: what `loads.c` loads. */
#include <pthread.h>
#include <stdatomic.h>

static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int over;
static atomic_int waits;

static void *serve(void *argument) {
    pthread_mutex_lock(&lock);
    waits = 1;
    while (!over) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return argument;
}

__attribute__((constructor)) static void begin(void) {
    pthread_create(&thread, NULL, serve, NULL);
}

__attribute__((destructor)) static void end(void) {
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}

int run(void) {
    while (!waits) {}
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return 9906;
}
