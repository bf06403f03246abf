/*
 * Sizes of tasks, by the line that creates them: a profiler in a hundred lines.
 *
 *     cc -shared -fPIC -O2 -I include -o libtask-histogram.so examples/task-histogram/task-histogram.c
 *     workspan record --tool ./libtask-histogram.so -- ./prog
 *
 * A task's size is the time from its begin to its end, without that of tasks which its thread ran in between. At the end a
 * table goes to stderr: one row for each place, one column for each power of ten.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "workspan_tool.h"

#define PLACES 1024
#define DECADES 10

static const workspan_tool_api *api;

/* By place: counts by decade of nanoseconds. Threads add up for themselves, and here when they meet a new task. */
static _Atomic uint64_t counts[PLACES][DECADES];

/* What this thread has running: begins, and what ran inside. */
struct open {
    uint64_t since;
    uint64_t inside;
};
#define DEPTH 4096
static _Thread_local struct open open_tasks[DEPTH];
static _Thread_local int depth;

static void after_enter(workspan_task *task, uint64_t now)
{
    (void)task;
    if (depth < DEPTH)
        open_tasks[depth] = (struct open){now, 0};
    depth++;
}

static void before_exit(workspan_task *task, uint64_t now)
{
    if (depth == 0 || --depth >= DEPTH)
        return;
    uint64_t whole = now - open_tasks[depth].since;
    uint64_t own = whole - open_tasks[depth].inside;
    if (depth > 0)
        open_tasks[depth - 1].inside += whole;
    double nanos = (double)own * 1e9 / (double)api->ticks_per_second;
    int decade = 0;
    while (nanos >= 10 && decade < DECADES - 1) {
        nanos /= 10;
        decade++;
    }
    uint32_t place = task->site < PLACES ? task->site : 0;
    atomic_fetch_add_explicit(&counts[place][decade], 1, memory_order_relaxed);
}

static void finish(void)
{
    static const char *const names[DECADES] = {"1 ns",   "10 ns", "100 ns", "1 us",  "10 us",
                                               "100 us", "1 ms",  "10 ms",  "100 ms", "1 s"};
    fprintf(stderr, "%10s", "tasks of");
    for (int decade = 0; decade < DECADES; decade++)
        fprintf(stderr, " %8s", names[decade]);
    fprintf(stderr, "  created at\n");
    for (uint32_t site = 0; site < PLACES; site++) {
        uint64_t sum = 0;
        for (int decade = 0; decade < DECADES; decade++)
            sum += counts[site][decade];
        if (sum == 0)
            continue;
        fprintf(stderr, "%10" PRIu64, sum);
        for (int decade = 0; decade < DECADES; decade++)
            fprintf(stderr, " %8" PRIu64, (uint64_t)counts[site][decade]);
        workspan_place place;
        if (!api->place(site, &place))
            fprintf(stderr, "  (the program)\n");
        else if (place.file_length > 0)
            fprintf(stderr, "  %.*s:%" PRIu32 "\n", (int)place.file_length, place.file, place.line);
        else
            fprintf(stderr, "  address 0x%" PRIx64 "\n", place.address);
    }
}

int workspan_tool_start(const workspan_tool_api *given, workspan_tool *tool)
{
    if (given->version < WORKSPAN_TOOL_VERSION)
        return 0;
    api = given;
    tool->after_enter = after_enter;
    tool->before_exit = before_exit;
    tool->finish = finish;
    return 1;
}
