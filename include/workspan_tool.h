/*
 * Profilers of your own on Workspan's collectors: a shared library that is called at every task event of a program that uses rayon
 * or OpenMP, without a change to the program or to its runtime.
 *
 *     cc -shared -fPIC -O2 -I include -o libmine.so mine.c
 *     workspan record --tool ./libmine.so -- ./prog
 *
 * A task is what may run beside what created it: the second branch of a `rayon::join`, a `spawn`, an OpenMP task, a member
 * of a team, a thread of the program. For each of them, once and in this order, on the thread that runs it:
 *
 *   after_enter   it begins;
 *   before_sync   it waits for what it has created, or ends a branch that was not stolen (any number of times);
 *   before_exit   it ends.
 *
 * A branch that was not stolen begins and ends within the task that created it, so these calls nest on a
 * thread; so do those of tasks that a thread runs while another task of it waits. The time that callbacks take is in no
 * number of Workspan's own.
 *
 * `strand` is the number of the strand that begins with `after_enter`, or that ends with `before_sync` and `before_exit`. No two
 * strands of a run have the same number. Divided by 10^12, it gives the thread on which the strand began. If the program is
 * recorded with `--strands` too, the column `tool_number` of `nodes` has the same number.
 *
 * Callbacks may do anything but call the runtime that is being watched. They run on any thread, several at a time.
 *
 * Version 2. Later versions add members at the end of structures, and say so in `version`.
 */
#ifndef WORKSPAN_TOOL_H
#define WORKSPAN_TOOL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WORKSPAN_TOOL_VERSION 2

/* Kinds of tasks. */
#define WORKSPAN_TASK_THREAD 0 /* the program's first strand, or a thread that it has started */
#define WORKSPAN_TASK_BRANCH 1 /* the second branch of a join */
#define WORKSPAN_TASK_SPAWN 2  /* a task that was created: spawn, task, taskloop */
#define WORKSPAN_TASK_MEMBER 3 /* a member of a team */

/* A task. It stays where it is from its creation until `before_exit` returns. Of its members, `data` alone is yours. */
typedef struct workspan_task {
    uint64_t id;       /* of this run, from 1 */
    uint64_t parent;   /* id of the task that created it; 0 if that is not known */
    void *parent_data; /* the creator's `data` when it created this one */
    void *data;        /* null at first */
    uint32_t kind;
    uint32_t site; /* where it was created: for `place`; 0 if that is not known */
    uint64_t strand; /* since version 2: the strand that this call is about (see above) */
} workspan_task;

/* A place in the source, as far as it is known. The text stays valid. */
typedef struct workspan_place {
    const char *file; /* not terminated */
    uint64_t file_length;
    uint32_t line;
    uint32_t column;
    uint64_t address; /* in the code that called; 0 if `file` is known */
} workspan_place;

/* What the collector offers. It stays valid. */
typedef struct workspan_tool_api {
    uint32_t version;
    uint64_t ticks_per_second; /* of `now` */
    int (*place)(uint32_t site, workspan_place *place); /* 0: not known */
} workspan_tool_api;

/* The calls that the tool wants; null for none. `now` is the cycle counter, read at the beginning of the hook. */
typedef struct workspan_tool {
    void (*after_enter)(workspan_task *task, uint64_t now);
    void (*before_sync)(workspan_task *task, uint64_t now);
    void (*before_exit)(workspan_task *task, uint64_t now);
    void (*finish)(void); /* the program ends; threads may still run */
} workspan_tool;

/*
 * Defined by the tool, called before `main`. Fills in `tool`; 0 to be left alone.
 */
int workspan_tool_start(const workspan_tool_api *api, workspan_tool *tool);

#ifdef __cplusplus
}
#endif

#endif
