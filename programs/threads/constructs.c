// One thread waits for the main one, in every way there is: `constructs list` prints name, work and span of each, `constructs NAME` runs it.
//
// The other thread has fallen asleep before the main one goes on, so that it waits whatever the machine does.

#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern void workspan_tick(unsigned long ticks) __attribute__((weak));

static void tick(unsigned long ticks) { if (workspan_tick) workspan_tick(ticks); }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t mtx;
static cnd_t cnd;
static int word, flag;
static atomic_int tid;

static void until_it_sleeps(void) {
    char name[64], text[256];
    for (;;) {
        while (!tid) sched_yield();
        snprintf(name, sizeof name, "/proc/self/task/%d/stat", tid);
        FILE *file = fopen(name, "r");
        size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
        if (file) fclose(file);
        text[length] = 0;
        char *state = strrchr(text, ')');
        if (state && state[2] == 'S') return;
        sched_yield();
    }
}

static struct timespec far(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 1000;
    return time;
}

// What the other thread does after 3 ticks and before 7.
static void by_mutex(void) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); }
static void by_timed_mutex(void) { struct timespec t = far(); pthread_mutex_timedlock(&mutex, &t); pthread_mutex_unlock(&mutex); }
static void by_reading(void) { pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock); }
static void by_writing(void) { pthread_rwlock_wrlock(&rwlock); pthread_rwlock_unlock(&rwlock); }
static void by_condition(void) { pthread_mutex_lock(&mutex); while (!flag) pthread_cond_wait(&condition, &mutex); pthread_mutex_unlock(&mutex); }
static void by_timed_condition(void) { struct timespec t = far(); pthread_mutex_lock(&mutex); while (!flag) pthread_cond_timedwait(&condition, &mutex, &t); pthread_mutex_unlock(&mutex); }
// Nobody says when the flag is there: it looks again and again.
static struct timespec near(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 2000000;
    if (time.tv_nsec >= 1000000000) { time.tv_nsec -= 1000000000; time.tv_sec++; }
    return time;
}
static void by_polling(void) { pthread_mutex_lock(&mutex); while (!flag) { struct timespec t = near(); pthread_cond_timedwait(&condition, &mutex, &t); } pthread_mutex_unlock(&mutex); }
static void by_polled_semaphore(void) { for (;;) { struct timespec t = near(); if (!sem_timedwait(&semaphore, &t)) return; } }
static void by_polled_cnd(void) { mtx_lock(&mtx); while (!flag) { struct timespec t = near(); cnd_timedwait(&cnd, &mtx, &t); } mtx_unlock(&mtx); }
static void by_semaphore(void) { sem_wait(&semaphore); }
static void by_timed_semaphore(void) { struct timespec t = far(); sem_timedwait(&semaphore, &t); }
static void by_barrier(void) { pthread_barrier_wait(&barrier); }
static void by_mtx(void) { mtx_lock(&mtx); mtx_unlock(&mtx); }
static void by_cnd(void) { mtx_lock(&mtx); while (!flag) cnd_wait(&cnd, &mtx); mtx_unlock(&mtx); }
static void by_futex(void) { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0); }
static void by_signal(void) { sigset_t set; int found; sigemptyset(&set); sigaddset(&set, SIGUSR1); sigwait(&set, &found); }

static void caught(int signal) { (void)signal; }
static void handle(void) { struct sigaction how; memset(&how, 0, sizeof how); how.sa_handler = caught; sigaction(SIGUSR1, &how, 0); }
static void by_suspending(void) { sigset_t none; sigemptyset(&none); sigsuspend(&none); }

static int ends[2], counter, set;
static void by_pipe(void) { char c; if (read(ends[0], &c, 1) < 0) _exit(9); }
static void by_socket(void) { char c; if (recv(ends[0], &c, 1, 0) < 0) _exit(9); }
static void by_counter(void) { eventfd_t value; eventfd_read(counter, &value); }
static void by_poll(void) { struct pollfd asked[2] = { { 0, 0, 0 }, { ends[0], POLLIN, 0 } }; poll(asked, 2, -1); }
static void by_epoll(void) { struct epoll_event found; epoll_wait(set, &found, 1, -1); }
static void by_timed_epoll(void) { struct epoll_event found; epoll_wait(set, &found, 1, 1000000); }
// Looks again and again.
static void by_polled_epoll(void) { struct epoll_event found; while (epoll_wait(set, &found, 1, 2) == 0) {} }

static pthread_t other;

// How the main thread begins, and how it ends the wait.
static void nothing(void) {}
static void take(void) { pthread_mutex_lock(&mutex); }
static void give(void) { pthread_mutex_unlock(&mutex); }
static void write_lock(void) { pthread_rwlock_wrlock(&rwlock); }
static void read_lock(void) { pthread_rwlock_rdlock(&rwlock); }
static void rw_give(void) { pthread_rwlock_unlock(&rwlock); }
static void notify(void) { take(); flag = 1; pthread_cond_signal(&condition); give(); }
// The signal comes 2 ticks before the mutex is free.
static void notify_early(void) { take(); flag = 1; pthread_cond_broadcast(&condition); tick(2); give(); }
static void set_flag(void) { take(); flag = 1; give(); }
static void post(void) { sem_post(&semaphore); }
static void meet(void) { pthread_barrier_wait(&barrier); }
static void mtx_take(void) { mtx_lock(&mtx); }
static void mtx_give(void) { mtx_unlock(&mtx); }
static void cnd_notify(void) { mtx_take(); flag = 1; cnd_signal(&cnd); mtx_give(); }
static void mtx_set_flag(void) { mtx_take(); flag = 1; mtx_give(); }
static void futex_wake(void) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0); }
static void send_signal(void) { pthread_kill(other, SIGUSR1); }
static void send_process(void) { kill(getpid(), SIGUSR1); }
static void make_pipe(void) { if (pipe(ends)) _exit(9); }
static void make_pair(void) { if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) _exit(9); }
static void make_counter(void) { counter = eventfd(0, 0); }
static void make_set(int of) { struct epoll_event wanted = { .events = EPOLLIN }; set = epoll_create1(0); if (epoll_ctl(set, EPOLL_CTL_ADD, of, &wanted)) _exit(9); }
static void make_counter_set(void) { make_counter(); make_set(counter); }
static void make_pipe_set(void) { make_pipe(); make_set(ends[0]); }
static void fill(void) { if (write(ends[1], "", 1) != 1) _exit(9); }
static void fill_duplicate(void) { int to = dup(ends[1]); if (write(to, "", 1) != 1) _exit(9); }
static void hang_up(void) { close(ends[1]); }
static void count(void) { eventfd_write(counter, 1); }
static void count_by_write(void) { unsigned long one = 1; if (write(counter, &one, 8) != 8) _exit(9); }
static void cancel(void) { pthread_cancel(other); }

static void (*waits)(void);

static void leaves(void *unused) { (void)unused; pthread_mutex_unlock(&mutex); tick(7); }

static void *runs(void *cancelled) {
    tid = (int)syscall(SYS_gettid);
    tick(3);
    if (cancelled) {
        pthread_cleanup_push(leaves, 0);
        waits();
        pthread_cleanup_pop(0);
    }
    waits();
    tick(7);
    pthread_exit(0);
}

static int runs_c11(void *unused) { (void)unused; tid = (int)syscall(SYS_gettid); tick(3); waits(); tick(7); return 5; }

// 1, 10, then the wait ends; 4 more. The other thread begins after the 1.
static const struct { const char *name; void (*waits)(void), (*begins)(void), (*ends)(void); int work, span; } cases[] = {
    { "mutex", by_mutex, take, give, 25, 18 },
    { "timed-mutex", by_timed_mutex, take, give, 25, 18 },
    { "reader", by_reading, write_lock, rw_give, 25, 18 },
    { "writer", by_writing, read_lock, rw_give, 25, 18 },
    { "condition", by_condition, nothing, notify, 25, 18 },
    { "condition-early", by_condition, nothing, notify_early, 27, 20 },
    { "timed-condition", by_timed_condition, nothing, notify, 25, 18 },
    { "polled-condition", by_polling, nothing, set_flag, 25, 18 },
    { "polled-semaphore", by_polled_semaphore, nothing, post, 25, 18 },
    { "polled-cnd", by_polled_cnd, nothing, mtx_set_flag, 25, 18 },
    { "semaphore", by_semaphore, nothing, post, 25, 18 },
    { "timed-semaphore", by_timed_semaphore, nothing, post, 25, 18 },
    { "barrier", by_barrier, nothing, meet, 25, 18 },
    { "mtx", by_mtx, mtx_take, mtx_give, 25, 18 },
    { "cnd", by_cnd, nothing, cnd_notify, 25, 18 },
    { "futex", by_futex, nothing, futex_wake, 25, 18 },
    { "signal", by_signal, nothing, send_signal, 25, 18 },
    { "signal-process", by_signal, nothing, send_process, 25, 18 },
    { "suspended", by_suspending, handle, send_signal, 25, 18 },
    { "suspended-process", by_suspending, handle, send_process, 25, 18 },
    { "pipe", by_pipe, make_pipe, fill, 25, 18 },
    { "pipe-duplicate", by_pipe, make_pipe, fill_duplicate, 25, 18 },
    { "pipe-closed", by_pipe, make_pipe, hang_up, 25, 18 },
    { "socket-pair", by_socket, make_pair, fill, 25, 18 },
    { "event-counter", by_counter, make_counter, count, 25, 18 },
    { "poll", by_poll, make_pipe, fill, 25, 18 },
    { "epoll", by_epoll, make_counter_set, count_by_write, 25, 18 },
    { "timed-epoll", by_timed_epoll, make_pipe_set, fill, 25, 18 },
    { "polled-epoll", by_polled_epoll, make_pipe_set, hang_up, 25, 18 },
    // Who cancels is not followed.
    { "cancelled", by_condition, nothing, cancel, 25, 15 },
};

int main(int n, char **arguments) {
    const char *name = n > 1 ? arguments[1] : "list";
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, 0, 2);
    mtx_init(&mtx, mtx_plain);
    cnd_init(&cnd);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!strcmp(name, "list")) { printf("%s %d %d\n", cases[i].name, cases[i].work, cases[i].span); continue; }
        if (strcmp(name, cases[i].name)) continue;
        int is_c11 = strstr(name, "mtx") || strstr(name, "cnd"), result = 5;
        thrd_t c11;
        waits = cases[i].waits;
        tick(1);
        cases[i].begins();
        if (is_c11) thrd_create(&c11, runs_c11, 0);
        else pthread_create(&other, 0, runs, cases[i].ends == cancel ? &other : 0);
        until_it_sleeps();
        tick(10);
        cases[i].ends();
        tick(4);
        if (is_c11) thrd_join(c11, &result); else pthread_join(other, 0);
        return result != 5;
    }
    return 0;
}
