/*
 * What a C or C++ program may report to Workspan while it is recorded. Nothing needs to be linked: without Workspan every
 * call is a load and a test.
 *
 *     workspan_region_begin(1);
 *     ...                          // what-if region 1: what if this were faster, or parallel?
 *     workspan_region_end(1);
 *
 * Regions may nest, and may be entered by many tasks at once; begin and end must be called by the same task. Numbers
 * are the program's own, from 0 up.
 *
 *     double norm(const double *x, int n)
 *     {
 *         WORKSPAN_FUNCTION;       // each call is a region: `workspan calls` shows who calls whom
 *         ...
 *
 * A program with a pool of threads of its own says what its tasks are. A queue is known by any address; whoever puts a piece of work
 * into it puts a number with it:
 *
 *     item->task = workspan_task_create(&queue);      // whoever hands it over
 *     push(&queue, item);
 *
 *     workspan_task_begin(item->task);                // whoever runs it, on any thread
 *     item->run(item);
 *     workspan_task_end(item->task);
 *
 *     workspan_task_wait_begin(&queue);               // whoever needs the results: of all tasks created for the queue so far
 *     ...                                             // waits in whatever way, and may run tasks meanwhile
 *     workspan_task_wait_end(&queue);
 *
 * Tasks then have work, span and parallelism as those of any runtime, and locks of the queue order none of them. A task may
 * create others, and wait for those of another queue. What is created must begin once, and end on the thread on which it began.
 *
 * The functions behind this header are looked up by the dynamic linker, so they are found in programs that
 * `workspan record` has started. A fully static program calls nothing.
 */
#ifndef WORKSPAN_H
#define WORKSPAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Commands of `workspan_mark`. */
#define WORKSPAN_REGION_BEGIN 1
#define WORKSPAN_REGION_END 2
#define WORKSPAN_FUNCTION_BEGIN 3

#if defined(__ELF__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))

/*
 * The collector's functions are weak: null where there is none. Their addresses are read from the global offset table,
 * as a compiler that makes position-dependent code would take a weak symbol's absence for settled when it links.
 * The inline functions have symbols of their own, in case a compiler does not inline them.
 */
#ifdef __x86_64__
#define WORKSPAN_LOOK_UP_(symbol, address)                                                                             \
    __asm__(".weak " symbol "\n\tmovq " symbol "@GOTPCREL(%%rip), %0" : "=r"(address))
#else
#define WORKSPAN_LOOK_UP_(symbol, address)                                                                             \
    __asm__(".weak " symbol "\n\tadrp %0, :got:" symbol "\n\tldr %0, [%0, :got_lo12:" symbol "]" : "=r"(address))
#endif

static inline void workspan_tick(uint64_t ticks) __asm__("workspan_tick.inline");

/* Advances the virtual clock of the calling thread, for exact tests; with the real clock it has no effect. */
static inline void workspan_tick(uint64_t ticks)
{
    void (*tick)(uint64_t);
    WORKSPAN_LOOK_UP_("workspan_tick", tick);
    if (tick)
        tick(ticks);
}

/* Macros, so that the place of a mark is where it stands. */
#define WORKSPAN_MARK_(command, id)                                                                                    \
    do {                                                                                                               \
        void (*workspan_mark_)(int, int);                                                                              \
        WORKSPAN_LOOK_UP_("workspan_mark", workspan_mark_);                                                            \
        if (workspan_mark_)                                                                                            \
            workspan_mark_((command), (id));                                                                           \
    } while (0)

#define WORKSPAN_CALL_(symbol, argument)                                                                               \
    do {                                                                                                               \
        void (*workspan_call_)(__typeof__(argument));                                                                  \
        WORKSPAN_LOOK_UP_(symbol, workspan_call_);                                                                     \
        if (workspan_call_)                                                                                            \
            workspan_call_(argument);                                                                                  \
    } while (0)

/* A task for the queue at this address, which somebody will run. 0 without Workspan. */
#define workspan_task_create(queue)                                                                                    \
    __extension__({                                                                                                    \
        uint64_t (*workspan_create_)(uintptr_t);                                                                       \
        WORKSPAN_LOOK_UP_("workspan_task_create", workspan_create_);                                                   \
        workspan_create_ ? workspan_create_((uintptr_t)(queue)) : (uint64_t)0;                                         \
    })

#else

static inline void workspan_tick(uint64_t ticks)
{
    (void)ticks;
}

#define WORKSPAN_CALL_(symbol, argument) ((void)(argument))
#define workspan_task_create(queue) ((void)(queue), (uint64_t)0)

#define WORKSPAN_MARK_(command, id) ((void)(command), (void)(id))

#endif

/* What follows, up to the matching end, belongs to region `id`. */
#define workspan_region_begin(id) WORKSPAN_MARK_(WORKSPAN_REGION_BEGIN, id)
/* Ends the region `id` that this task has begun last. */
#define workspan_region_end(id) WORKSPAN_MARK_(WORKSPAN_REGION_END, id)

/* The calling thread begins to run a task that was created; or has run it. */
#define workspan_task_begin(task) WORKSPAN_CALL_("workspan_task_begin", (uint64_t)(task))
#define workspan_task_end(task) WORKSPAN_CALL_("workspan_task_end", (uint64_t)(task))
/* The calling thread waits for all tasks that were created for the queue; or has waited for them. */
#define workspan_task_wait_begin(queue) WORKSPAN_CALL_("workspan_task_wait_begin", (uintptr_t)(queue))
#define workspan_task_wait_end(queue) WORKSPAN_CALL_("workspan_task_wait_end", (uintptr_t)(queue))

/*
 * At the beginning of a function (of any block, that is): a region up to the block's end, however it is left, known by its
 * place. A call within another of the same function is part of that one.
 */
#if defined(__GNUC__) || defined(__clang__)
static inline void workspan_function_end_(const char *function) __asm__("workspan_function_end.inline");

static inline void workspan_function_end_(const char *function)
{
    (void)function;
    WORKSPAN_MARK_(WORKSPAN_REGION_END, 0);
}

#define WORKSPAN_FUNCTION                                                                                              \
    __attribute__((cleanup(workspan_function_end_), unused)) const char workspan_function_ = 0;                        \
    WORKSPAN_MARK_(WORKSPAN_FUNCTION_BEGIN, 0)
#endif

#ifdef __cplusplus
}
#endif

#endif
