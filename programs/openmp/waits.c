// Threads that wait for work, and threads that are blocked: `waits WHERE MILLISECONDS`, with teams of two or more.
//
// What each does of MILLISECONDS M, so that a run of P threads works or waits for at least:
//
//   serial     the main thread sleeps: M of work, (P - 1) M of idle time
//   members    each thread of a team sleeps: P M of work
//   barrier    one thread sleeps, the others wait at a barrier: M of work, (P - 1) M of idle time
//   ends       the same at the end of the region
//   tasks      two tasks sleep, one thread creates them and waits at a barrier: 2 M of work
//   taskwait   a task sleeps while its creator waits for it: M of work, (P - 1) M of idle time
//   taskgroup  the same at the end of a group
//   nested     a task waits for one that waits for one that sleeps: M of work, (P - 1) M of idle time

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long millis;

static void sleep_millis(void) {
    struct timespec left = {millis / 1000, millis % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

static void chain(int depth) {
    if (depth == 0) {
        sleep_millis();
        return;
    }
#pragma omp task
    chain(depth - 1);
#pragma omp taskwait
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: waits WHERE MILLISECONDS\n");
        return 2;
    }
    const char *where = argv[1];
    millis = atol(argv[2]);
    if (strcmp(where, "serial") == 0) {
        sleep_millis();
#pragma omp parallel
        {
        }
    } else if (strcmp(where, "members") == 0) {
#pragma omp parallel
        sleep_millis();
    } else if (strcmp(where, "barrier") == 0) {
#pragma omp parallel
        {
            if (omp_get_thread_num() == omp_get_num_threads() - 1) {
                sleep_millis();
            }
#pragma omp barrier
        }
    } else if (strcmp(where, "ends") == 0) {
#pragma omp parallel
        {
            if (omp_get_thread_num() == 0) {
                sleep_millis();
            }
        }
    } else if (strcmp(where, "tasks") == 0) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 2; i++) {
#pragma omp task
            sleep_millis();
        }
    } else if (strcmp(where, "taskwait") == 0) {
#pragma omp parallel
#pragma omp single
        {
#pragma omp task
            sleep_millis();
#pragma omp taskwait
        }
    } else if (strcmp(where, "taskgroup") == 0) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task
            sleep_millis();
        }
    } else if (strcmp(where, "nested") == 0) {
#pragma omp parallel
#pragma omp single
        chain(3);
    } else {
        fprintf(stderr, "no such place: %s\n", where);
        return 2;
    }
    return 0;
}
