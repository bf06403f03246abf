// Random programs of threads, with their answer: `random SEED THREADS` prints work, span, and the span if nobody waited for a lock, in
// ticks. `random SEED THREADS steps` does nothing, and prints after these who does what: for `played.cpp` and `played.rs`.
//
// A simulation runs first: of the threads that can run, the one with the least time does something, drawn at random; who waits goes
// on at the time of whoever ends the wait. Then real threads do the same things in the same order, and whoever is to wait
// has fallen asleep before the next thing is done.

#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

extern void workspan_tick(unsigned long ticks) __attribute__((weak));

enum { THREADS = 8, STEPS = 4000, LOCKS = 3, CONDITIONS = 2, SEMAPHORES = 4, MEETINGS = 400 };
enum what { WORK, LOCK, UNLOCK, AWAIT, SIGNAL, BROADCAST, POST, WAIT, MEET, CREATE, JOIN, END };

struct step { enum what what; int who, which, blocks, wakes; };

static struct step steps[STEPS];
static int number;

// ---- The simulation ----

enum where { ABSENT, RUNS, AT_LOCK, AT_CONDITION, SIGNALLED, AT_SEMAPHORE, AT_MEETING, AT_JOIN, OVER };

// `free`: its time if nobody waited for a lock; `signalled`: that of whoever signalled what it waits for.
static struct { enum where where; int at, creator, lock, condition, meeting, joins; long time, free, signalled; } threads[THREADS];
static int lock_of[LOCKS], lock_waiter[LOCKS], guard_of[CONDITIONS], waiters[CONDITIONS];
static int count[SEMAPHORES], semaphore_waiter[SEMAPHORES];
static int wanted[MEETINGS], arrived[MEETINGS], meetings;
static int known, wanted_threads;
static long work, seed;

static int draw(int below) {
    seed = (seed * 6364136223846793005l + 1442695040888963407l);
    return (int)((unsigned long)seed >> 33) % below;
}

static struct step *add(enum what what, int who, int which) {
    if (number == STEPS) { fprintf(stderr, "too many steps\n"); exit(3); }
    steps[number] = (struct step){ what, who, which, 0, 0 };
    return &steps[number++];
}

static void blocks(struct step *step, enum where where, int at) {
    step->blocks = 1;
    threads[step->who].where = where;
    threads[step->who].at = at;
}

static void raise(long *time, long other) { if (*time < other) *time = other; }

static void goes_on_after_lock(struct step *step, int who) {
    step->wakes++;
    threads[who].where = RUNS;
    raise(&threads[who].time, threads[step->who].time);
}

static void goes_on(struct step *step, int who) {
    goes_on_after_lock(step, who);
    raise(&threads[who].free, threads[step->who].free);
}

static void works(int who, int most) {
    int n = 1 + draw(most);
    add(WORK, who, n);
    threads[who].time += n;
    threads[who].free += n;
    work += n;
}

static void unlocks(int who) {
    int which = threads[who].lock;
    struct step *step = add(UNLOCK, who, which);
    threads[who].lock = -1;
    lock_of[which] = lock_waiter[which];
    if (lock_waiter[which] >= 0) {
        goes_on_after_lock(step, lock_waiter[which]);
        threads[lock_waiter[which]].lock = which;
        lock_waiter[which] = -1;
    }
}

// Locks LOCKS and on are those of conditions.
static void ends_condition(int who) {
    int which = threads[who].condition;
    struct step *step = add(UNLOCK, who, LOCKS + which);
    threads[who].condition = -1;
    guard_of[which] = -1;
    for (int i = 0; i < known; i++)
        if (threads[i].where == SIGNALLED && threads[i].at == which) {
            goes_on_after_lock(step, i);
            raise(&threads[i].free, threads[i].signalled);
        }
}

static void signals(int who, int which) {
    add(LOCK, who, LOCKS + which);
    guard_of[which] = who;
    threads[who].condition = which;
    add(waiters[which] == 1 && draw(2) ? SIGNAL : BROADCAST, who, which);
    for (int i = 0; i < known; i++)
        if (threads[i].where == AT_CONDITION && threads[i].at == which) {
            threads[i].where = SIGNALLED;
            threads[i].signalled = threads[who].free;
        }
    waiters[which] = 0;
}

static void posts(int who, int which) {
    struct step *step = add(POST, who, which);
    if (semaphore_waiter[which] >= 0) {
        goes_on(step, semaphore_waiter[which]);
        semaphore_waiter[which] = -1;
    } else {
        count[which]++;
    }
}

static void meets(int who) {
    int meeting = threads[who].meeting;
    struct step *step = add(MEET, who, meeting);
    threads[who].meeting = -1;
    if (++arrived[meeting] < wanted[meeting]) {
        blocks(step, AT_MEETING, meeting);
        return;
    }
    for (int i = 0; i < known; i++)
        if (threads[i].where == AT_MEETING && threads[i].at == meeting) raise(&threads[who].free, threads[i].free);
    for (int i = 0; i < known; i++)
        if (threads[i].where == AT_MEETING && threads[i].at == meeting) goes_on(step, i);
}

static void creates(int who) {
    add(CREATE, who, known);
    threads[known].where = RUNS;
    threads[known].time = threads[who].time;
    threads[known].free = threads[who].free;
    threads[known].creator = who;
    threads[known].lock = threads[known].condition = threads[known].meeting = -1;
    known++;
}

// Nothing new is begun. One thing at a time, so that others with less time come first.
static void ends(int who) {
    if (threads[who].condition >= 0) { ends_condition(who); return; }
    if (threads[who].lock >= 0) { unlocks(who); return; }
    for (int i = 0; i < SEMAPHORES; i++)
        if (semaphore_waiter[i] >= 0) { posts(who, i); return; }
    for (int i = 0; i < CONDITIONS; i++)
        if (waiters[i] > 0 && guard_of[i] < 0) { signals(who, i); return; }
    if (threads[who].meeting >= 0) { meets(who); return; }
    for (int i = threads[who].joins + 1; i < known; i++) {
        if (threads[i].creator != who) continue;
        struct step *step = add(JOIN, who, i);
        threads[who].joins = i;
        if (threads[i].where != OVER) blocks(step, AT_JOIN, i);
        else raise(&threads[who].time, threads[i].time), raise(&threads[who].free, threads[i].free);
        return;
    }
    struct step *step = add(END, who, 0);
    threads[who].where = OVER;
    int creator = threads[who].creator;
    if (who > 0 && threads[creator].where == AT_JOIN && threads[creator].at == who) goes_on(step, creator);
}

static int others_run(int who) {
    int all = 0;
    for (int i = 0; i < known; i++) all += i != who && threads[i].where == RUNS;
    return all;
}

static void acts(int who) {
    int what = draw(20), which;
    if (threads[who].condition >= 0) {
        if (draw(2)) works(who, 9); else ends_condition(who);
        return;
    }
    if (threads[who].meeting >= 0) {
        if (threads[who].lock >= 0) unlocks(who); else meets(who);
        return;
    }
    if (what < 6) {
        works(who, 20);
    } else if (what < 10) {
        which = draw(LOCKS);
        if (threads[who].lock >= 0) { unlocks(who); return; }
        if (lock_waiter[which] >= 0 || (lock_of[which] >= 0 && !others_run(who))) return;
        struct step *step = add(LOCK, who, which);
        if (lock_of[which] < 0) {
            lock_of[which] = who;
            threads[who].lock = which;
        } else {
            blocks(step, AT_LOCK, which);
            lock_waiter[which] = who;
        }
    } else if (what < 12) {
        posts(who, draw(SEMAPHORES / 2));
    } else if (what < 14) {
        // Of these one waits and another one wakes; the others are counted.
        which = draw(SEMAPHORES);
        if (which >= SEMAPHORES / 2 && semaphore_waiter[which] >= 0) { posts(who, which); return; }
        if (semaphore_waiter[which] >= 0 || (count[which] == 0 && !others_run(who))) return;
        struct step *step = add(WAIT, who, which);
        if (count[which] > 0) { count[which]--; return; }
        blocks(step, AT_SEMAPHORE, which);
        semaphore_waiter[which] = who;
    } else if (what < 16) {
        which = draw(CONDITIONS);
        if (guard_of[which] >= 0) return;
        if (waiters[which] > 0) { signals(who, which); return; }
        if (!others_run(who)) return;
        add(LOCK, who, LOCKS + which);
        blocks(add(AWAIT, who, which), AT_CONDITION, which);
        waiters[which]++;
    } else if (what < 17) {
        which = draw(CONDITIONS);
        if (guard_of[which] >= 0 || !others_run(who)) return;
        add(LOCK, who, LOCKS + which);
        blocks(add(AWAIT, who, which), AT_CONDITION, which);
        waiters[which]++;
    } else if (what < 18) {
        if (meetings == MEETINGS) return;
        int all = 0;
        for (int i = 0; i < known; i++)
            if (threads[i].where == RUNS && threads[i].meeting < 0 && (i == who || draw(2))) {
                threads[i].meeting = meetings;
                all++;
            }
        wanted[meetings++] = all;
    } else if (known < wanted_threads) {
        creates(who);
    }
}

static void simulate(int all) {
    for (int i = 0; i < LOCKS; i++) lock_of[i] = lock_waiter[i] = -1;
    for (int i = 0; i < CONDITIONS; i++) guard_of[i] = -1;
    for (int i = 0; i < SEMAPHORES; i++) semaphore_waiter[i] = -1;
    for (int i = 0; i < THREADS; i++) threads[i].lock = threads[i].condition = threads[i].meeting = -1;
    threads[0].where = RUNS;
    known = 1;
    wanted_threads = all;
    int length = 20 + draw(60 * all);
    while (threads[0].where != OVER) {
        int next = -1;
        for (int i = 0; i < known; i++)
            if (threads[i].where == RUNS && (next < 0 || threads[i].time < threads[next].time)) next = i;
        if (next < 0) { fprintf(stderr, "all wait\n"); exit(3); }
        if (length-- > 0) acts(next); else ends(next);
    }
}

// ---- Real threads ----

static pthread_mutex_t mutexes[LOCKS + CONDITIONS];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t mtx[2];
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static cnd_t cnd;
static sem_t semaphores[SEMAPHORES / 2];
static int words[SEMAPHORES];
static pthread_barrier_t barriers[MEETINGS];
static pthread_t ids[THREADS];
static thrd_t c11_ids[THREADS];
static atomic_int turn, awaited, tids[THREADS];

// The other condition, and the last lock, are C11's.
static void lock(int which) {
    if (which == 1) pthread_rwlock_wrlock(&rwlock);
    else if (which == 2 || which == LOCKS + 1) mtx_lock(&mtx[which > 2]);
    else pthread_mutex_lock(&mutexes[which]);
}

static void unlock(int which) {
    if (which == 1) pthread_rwlock_unlock(&rwlock);
    else if (which == 2 || which == LOCKS + 1) mtx_unlock(&mtx[which > 2]);
    else pthread_mutex_unlock(&mutexes[which]);
}

static void *run(void *me);
static int run_c11(void *me) { run(me); return 0; }

static void perform(const struct step *step) {
    int which = step->which;
    switch (step->what) {
    case WORK: if (workspan_tick) workspan_tick(which); break;
    case LOCK: lock(which); break;
    case UNLOCK: unlock(which); break;
    case AWAIT:
        if (which) cnd_wait(&cnd, &mtx[1]); else pthread_cond_wait(&condition, &mutexes[LOCKS]);
        unlock(LOCKS + which);
        break;
    case SIGNAL: if (which) cnd_signal(&cnd); else pthread_cond_signal(&condition); break;
    case BROADCAST: if (which) cnd_broadcast(&cnd); else pthread_cond_broadcast(&condition); break;
    case POST:
        if (which < SEMAPHORES / 2) sem_post(&semaphores[which]);
        else syscall(SYS_futex, &words[which], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
        break;
    case WAIT:
        if (which < SEMAPHORES / 2) sem_wait(&semaphores[which]);
        else syscall(SYS_futex, &words[which], FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
        break;
    case MEET: pthread_barrier_wait(&barriers[which]); break;
    case CREATE:
        if (which % 2) pthread_create(&ids[which], 0, run, (void *)(long)which);
        else thrd_create(&c11_ids[which], run_c11, (void *)(long)which);
        break;
    case JOIN: if (which % 2) pthread_join(ids[which], 0); else thrd_join(c11_ids[which], 0); break;
    case END: break;
    }
}

static int sleeps(int who) {
    char name[64], text[256];
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", tids[who]);
    FILE *file = fopen(name, "r");
    if (!file) return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    char *at = text;
    for (char *c = text; *c; c++) if (*c == ')') at = c;
    return at[0] && at[2] == 'S';
}

static void *run(void *me) {
    int who = (int)(long)me;
    tids[who] = (int)syscall(SYS_gettid);
    for (int i = 0; i < number; i++) {
        const struct step *step = &steps[i];
        if (step->who != who) continue;
        while (turn != i) sched_yield();
        if (i > 0 && steps[i - 1].blocks) while (!sleeps(steps[i - 1].who)) sched_yield();
        if (step->wakes) awaited = step->wakes;
        if (step->what == END && !step->wakes) turn++;
        if (step->what == END) return 0;
        if (step->blocks) {
            turn++;
            perform(step);
            // Who ended the wait did so as the last thing that was done.
            if (--awaited == 0) turn++;
        } else {
            perform(step);
            if (!step->wakes) turn++;
        }
    }
    return 0;
}

// Those who meet, and each step.
static void prints(void) {
    printf("%d", meetings);
    for (int i = 0; i < meetings; i++) printf(" %d", wanted[i]);
    printf("\n");
    for (const struct step *step = steps; step < steps + number; step++)
        printf("%d %d %d %d %d\n", step->what, step->who, step->which, step->blocks, step->wakes);
}

int main(int n, char **arguments) {
    if (n < 3) { fprintf(stderr, "random SEED THREADS [steps]\n"); return 2; }
    seed = atol(arguments[1]) * 7919 + 17;
    for (int i = 0; i < 8; i++) draw(2);
    simulate(atoi(arguments[2]) < THREADS ? atoi(arguments[2]) : THREADS);
    for (int i = 0; i < LOCKS + CONDITIONS; i++) pthread_mutex_init(&mutexes[i], 0);
    for (int i = 0; i < 2; i++) mtx_init(&mtx[i], mtx_plain);
    cnd_init(&cnd);
    for (int i = 0; i < SEMAPHORES / 2; i++) sem_init(&semaphores[i], 0, 0);
    for (int i = 0; i < meetings; i++) pthread_barrier_init(&barriers[i], 0, wanted[i]);
    printf("%ld %ld %ld\n", work, threads[0].time, threads[0].free);
    if (n > 3) { prints(); return 0; }
    fflush(stdout);
    run(0);
    return 0;
}
