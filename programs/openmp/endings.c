/*
 * endings HOW: ends, or starts another process, in an unusual way; inside a parallel region where that is not said
 * otherwise.
 *
 *   exit-inside     `exit` with status 3, from a task
 *   exit-at-once    the same by `_exit`
 *   abort, kill     by a signal
 *   exec            becomes another program (`true`), after the region
 *   fork            after the region a child runs a region of its own, and ends with status 5, which is that of the program
 *   fork-inside     a child is forked within the region, and ends with status 5 at once
 *   handler         a signal is handled, and the program goes on
 *   thread-left     `main` returns while other threads are in a region
 */
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workspan.h"

static volatile sig_atomic_t handled;
static const char *how;

static void handle(int number)
{
    (void)number;
    handled++;
}

/* The status of a child, which must have exited. */
static int status_of(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 99;
    return WEXITSTATUS(status);
}

static int is(const char *name)
{
    return strcmp(how, name) == 0;
}

/* Work of a known amount in a region, and in its middle whatever is requested. */
static int region(void)
{
    int status = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        workspan_tick(100);
#pragma omp task shared(status)
        {
            workspan_tick(1000);
            if (is("exit-inside"))
                exit(3);
            if (is("exit-at-once"))
                _exit(3);
            if (is("abort"))
                abort();
            if (is("kill"))
                raise(SIGKILL);
            if (is("handler")) {
                raise(SIGUSR1);
                status = handled == 1 ? 0 : 98;
            }
            if (is("fork-inside")) {
                pid_t child = fork();
                if (child == 0)
                    _exit(5);
                status = status_of(child);
            }
        }
#pragma omp taskwait
        workspan_tick(10);
    }
    return status;
}

/* Threads that are in the region below. */
static int left;

/* None of them is in the runtime, which takes itself apart when `main` returns. */
static void *forever(void *unused)
{
    (void)unused;
#pragma omp parallel num_threads(2)
    {
#pragma omp single nowait
        workspan_tick(7);
        __atomic_fetch_add(&left, 1, __ATOMIC_RELEASE);
        for (;;)
            sleep(1000);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: %s HOW\n", arguments[0]);
        return 2;
    }
    how = arguments[1];
    signal(SIGUSR1, handle);
    workspan_tick(5);
    int status = region();
    if (is("exec")) {
        execlp("true", "true", (char *)NULL);
        return 97;
    }
    if (is("fork")) {
        pid_t child = fork();
        if (child == 0) {
            how = "";
            _exit(region() == 0 ? 5 : 96);
        }
        status = status_of(child);
    }
    if (is("thread-left")) {
        pthread_t thread;
        pthread_create(&thread, NULL, forever, NULL);
        while (__atomic_load_n(&left, __ATOMIC_ACQUIRE) < 2)
            sched_yield();
    }
    return status;
}
