/*
 * Random task programs, and a serial oracle that knows what each amounts to.
 *
 *   random SEED [COUNT]          runs the programs of COUNT seeds one after another, and counts their ticks
 *   random show SEED             the program of a seed, as a tree
 *   random oracle SEED [COUNT]   one line for each seed: the seed, work and span of its program, and for each site that
 *                                occurs NAME:TASKS:OWN:CRITICAL, being tasks created there, ticks of their own strands,
 *                                and the share of those in the longest chain
 *
 * A program is a tree, made before anything runs. `execute` goes through it with OpenMP and ticks; `evaluate` goes
 * through it serially by the rules that stand in `constructs.c`, and knows of neither. Sites are distinguished by the tags
 * behind the directives.
 */
#include <inttypes.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspan.h"

/* ---- Programs ---- */

enum kind {
    /* Serial code. */
    WORK,
    /* What waits. */
    TASKWAIT,
    TASKWAIT_DEPEND,
    BARRIER,
    YIELD,
    /* What has a body. */
    GROUP,
    TASK,
    TASKLOOP,
    REGION,
    TEAM,
};

/* Sites, by name as in the tags. */
enum site {
    SERIAL,
    REGION_SITE,
    TEAM_SITE,
    PLAIN,
    UNDEFERRED,
    FINAL,
    UNTIED,
    SOMETIMES,
    DEPEND,
    DEPEND_UNDEFERRED,
    DEPEND_FINAL,
    DEPEND_UNTIED,
    LOOP,
    LOOP_NOGROUP,
    SITES,
};

static const char *const site_names[SITES] = {
    "serial",    "region", "team",              "plain",        "undeferred",    "final", "untied",
    "sometimes", "depend", "depend-undeferred", "depend-final", "depend-untied", "loop",  "loop-nogroup",
};

/* Variables that tasks may depend on. */
enum { CELLS = 6 };

struct node {
    enum kind kind;
    enum site site;
    /* Ticks of `WORK`, and what each further thread of a team takes more. */
    uint64_t ticks, skew;
    /* Threads of a team, iterations of a loop. */
    int count;
    /* Values of the clauses of a task. */
    bool deferred, final;
    /* Cells that the task depends on. */
    int in[CELLS], out[CELLS], inout[CELLS];
    int ins, outs, inouts;
    struct node *body, *next;
};

/* splitmix64 */
struct random {
    uint64_t state;
    /* Constructs still to be made. */
    int left;
    /* A team around what is being made. */
    bool in_team;
    /*
     * What is being made is the body of an untied task, or is below one. A thread may begin an untied task whatever it has
     * suspended, but a tied one only if that descends from the tied task that it has suspended last. So an untied task
     * that waits for tied ones may wait for ever: every thread has something else suspended. (libomp does: two threads,
     * each with an untied task in a taskgroup on top of a `taskyield`.) An untied task therefore either waits for nothing,
     * or has no deferred task below it that is tied.
     */
    bool waits_for_nothing, only_untied;
};

static uint64_t any(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int below(struct random *r, int bound)
{
    return (int)(any(r) % (uint64_t)bound);
}

static struct node *new_node(enum kind kind)
{
    struct node *node = calloc(1, sizeof *node);
    if (!node)
        abort();
    node->kind = kind;
    return node;
}

static struct node *new_work(struct random *r)
{
    struct node *node = new_node(WORK);
    /* Wide enough that two chains are hardly ever of equal length. */
    node->ticks = 1 + any(r) % 1000000007u;
    node->skew = any(r) % 1000003u;
    return node;
}

/* Each cell at most once; on something in any case, as libomp fails if iterators of gcc's code come to nothing. */
static void depend(struct random *r, struct node *node)
{
    for (int cell = 0; cell < CELLS; cell++) {
        switch (below(r, 8)) {
        case 0:
        case 1:
            node->in[node->ins++] = cell;
            break;
        case 2:
            node->out[node->outs++] = cell;
            break;
        case 3:
            node->inout[node->inouts++] = cell;
            break;
        }
    }
    if (node->ins + node->outs + node->inouts == 0)
        node->in[node->ins++] = below(r, CELLS);
}

static struct node *new_list(struct random *r, int depth, bool directly_in_team);

/* The body of a task, or of a team, whose threads have nothing suspended in it. */
static struct node *new_body(struct random *r, int depth, bool waits_for_nothing, bool only_untied, bool of_team)
{
    struct random before = *r;
    r->waits_for_nothing = waits_for_nothing;
    r->only_untied = only_untied;
    struct node *first = new_list(r, depth - 1, of_team);
    r->waits_for_nothing = before.waits_for_nothing;
    r->only_untied = before.only_untied;
    return first;
}

/* The same site, or one for tasks that are untied or at once run by their creator. */
static enum site without_tied(enum site site)
{
    switch (site) {
    case PLAIN:
    case SOMETIMES:
        return UNTIED;
    case FINAL:
        return UNDEFERRED;
    case DEPEND:
    case DEPEND_FINAL:
        return DEPEND_UNTIED;
    default:
        return site;
    }
}

static struct node *new_task(struct random *r, int depth)
{
    static const enum site choices[] = {PLAIN,  PLAIN,  PLAIN,  PLAIN,  UNDEFERRED,        FINAL,        UNTIED,       UNTIED,
                                        DEPEND, DEPEND, DEPEND, DEPEND, DEPEND_UNDEFERRED, DEPEND_FINAL, DEPEND_UNTIED, SOMETIMES};
    struct node *node = new_node(TASK);
    node->site = choices[below(r, 16)];
    if (r->only_untied)
        node->site = without_tied(node->site);
    if (r->waits_for_nothing && node->site == DEPEND_UNDEFERRED)
        node->site = UNDEFERRED;
    node->deferred = node->site != UNDEFERRED && node->site != DEPEND_UNDEFERRED;
    node->final = node->site == FINAL || node->site == DEPEND_FINAL;
    if (node->site == SOMETIMES) {
        node->deferred = below(r, 3) > 0;
        node->final = below(r, 3) == 0;
    }
    if (node->site >= DEPEND && node->site <= DEPEND_UNTIED)
        depend(r, node);
    bool untied = node->site == UNTIED || node->site == DEPEND_UNTIED;
    bool only_untied = r->only_untied || (untied && below(r, 2));
    node->body = new_body(r, depth, untied && !only_untied, only_untied, false);
    return node;
}

static struct node *new_construct(struct random *r, int depth, bool directly_in_team)
{
    struct node *node;
    if (depth == 0 || r->left == 0)
        return new_work(r);
    r->left--;
    switch (below(r, 24)) {
    case 0:
    case 1:
    case 2:
    case 3:
        return new_node(r->waits_for_nothing ? YIELD : TASKWAIT);
    case 4:
        if (r->waits_for_nothing)
            return new_node(YIELD);
        node = new_node(TASKWAIT_DEPEND);
        depend(r, node);
        return node;
    case 5:
    case 6:
        if (r->waits_for_nothing)
            return new_node(YIELD);
        node = new_node(GROUP);
        node->body = new_list(r, depth - 1, false);
        return node;
    case 7:
    case 8:
        if (r->only_untied)
            return new_task(r, depth);
        node = new_node(TASKLOOP);
        node->site = below(r, 2) && !r->waits_for_nothing ? LOOP : LOOP_NOGROUP;
        node->count = 1 + below(r, 4);
        node->body = new_body(r, depth, false, false, false);
        return node;
    case 9:
        if (r->in_team || below(r, 3))
            return new_node(YIELD);
        node = new_node(TEAM);
        node->site = TEAM_SITE;
        node->count = 2 + below(r, 2);
        r->in_team = true;
        node->body = new_body(r, depth, false, false, true);
        r->in_team = false;
        return node;
    case 10:
        return new_node(directly_in_team ? BARRIER : YIELD);
    default:
        return new_task(r, depth);
    }
}

static struct node *new_list(struct random *r, int depth, bool directly_in_team)
{
    struct node *first = NULL, **end = &first;
    int count = 1 + below(r, 4);
    for (int i = 0; i < count; i++) {
        if (below(r, 2)) {
            *end = new_work(r);
            end = &(*end)->next;
        }
        *end = new_construct(r, depth, directly_in_team);
        end = &(*end)->next;
    }
    *end = new_work(r);
    return first;
}

/* Serial code, and regions in which one thread does what the tree says, or constructs outside any region. */
static struct node *new_program(uint64_t seed)
{
    struct random r = {.state = seed};
    struct node *first = new_work(&r), *last = first;
    int regions = 1 + below(&r, 3);
    for (int i = 0; i < regions; i++) {
        struct node *node;
        r.left = 4 + below(&r, 24);
        if (below(&r, 6) == 0) {
            node = new_construct(&r, 4, false);
        } else {
            node = new_node(REGION);
            node->site = REGION_SITE;
            node->body = new_list(&r, 5, false);
        }
        last->next = node;
        node->next = new_work(&r);
        last = node->next;
    }
    return first;
}

static void free_list(struct node *node)
{
    while (node) {
        struct node *next = node->next;
        free_list(node->body);
        free(node);
        node = next;
    }
}

static void show_cells(const char *name, const int *cell, int count)
{
    for (int i = 0; i < count; i++)
        printf("%s%d", i ? "," : name, cell[i]);
}

static void show(const struct node *node, int depth)
{
    static const char *const names[] = {"work",  "taskwait", "taskwait depend", "barrier", "taskyield",
                                        "group", "task",     "taskloop",        "region",  "team"};
    for (; node; node = node->next) {
        printf("%*s%s", 2 * depth, "", node->kind == TASK ? site_names[node->site] : names[node->kind]);
        if (node->kind == WORK)
            printf(" %" PRIu64 "+%" PRIu64, node->ticks, node->skew);
        if (node->count)
            printf(" %d%s", node->count, node->site == LOOP_NOGROUP ? " nogroup" : "");
        if (node->site == SOMETIMES)
            printf("%s%s", node->deferred ? "" : " if(0)", node->final ? " final" : "");
        show_cells(" in:", node->in, node->ins);
        show_cells(" out:", node->out, node->outs);
        show_cells(" inout:", node->inout, node->inouts);
        putchar('\n');
        show(node->body, depth + 1);
    }
}

/* ---- The programs with OpenMP ---- */

static int cells[CELLS];
static uint64_t ticks_spent;

static void execute(const struct node *node, unsigned thread);

#define INS iterator(k = 0 : node->ins), in : cells[node->in[k]]
#define OUTS iterator(k = 0 : node->outs), out : cells[node->out[k]]
#define INOUTS iterator(k = 0 : node->inouts), inout : cells[node->inout[k]]

static void execute_task(const struct node *node, unsigned thread)
{
    switch (node->site) {
    case PLAIN:
#pragma omp task // site plain
        execute(node->body, thread);
        break;
    case UNDEFERRED:
#pragma omp task if (0) // site undeferred
        execute(node->body, thread);
        break;
    case FINAL:
#pragma omp task final(1) // site final
        execute(node->body, thread);
        break;
    case UNTIED:
#pragma omp task untied // site untied
        execute(node->body, thread);
        break;
    case SOMETIMES:
#pragma omp task if (node->deferred) final(node->final) mergeable // site sometimes
        execute(node->body, thread);
        break;
    case DEPEND:
#pragma omp task depend(INS) depend(OUTS) depend(INOUTS) // site depend
        execute(node->body, thread);
        break;
    case DEPEND_UNDEFERRED:
#pragma omp task if (0) depend(INS) depend(OUTS) depend(INOUTS) // site depend-undeferred
        execute(node->body, thread);
        break;
    case DEPEND_FINAL:
#pragma omp task final(1) depend(INS) depend(OUTS) depend(INOUTS) // site depend-final
        execute(node->body, thread);
        break;
    default:
#pragma omp task untied depend(INS) depend(OUTS) depend(INOUTS) // site depend-untied
        execute(node->body, thread);
        break;
    }
}

static void execute(const struct node *node, unsigned thread)
{
    for (; node; node = node->next) {
        switch (node->kind) {
        case WORK:
            __atomic_fetch_add(&ticks_spent, node->ticks + thread * node->skew, __ATOMIC_RELAXED);
            workspan_tick(node->ticks + thread * node->skew);
            break;
        case TASKWAIT: {
#pragma omp taskwait
            break;
        }
        case TASKWAIT_DEPEND: {
#pragma omp taskwait depend(INS) depend(OUTS) depend(INOUTS)
            break;
        }
        case BARRIER: {
#pragma omp barrier
            break;
        }
        case YIELD: {
#pragma omp taskyield
            break;
        }
        case GROUP:
#pragma omp taskgroup
            execute(node->body, thread);
            break;
        case TASK:
            execute_task(node, thread);
            break;
        case TASKLOOP:
            if (node->site == LOOP) {
#pragma omp taskloop num_tasks(node->count) // site loop
                for (int i = 0; i < node->count; i++)
                    execute(node->body, thread);
            } else {
#pragma omp taskloop num_tasks(node->count) nogroup // site loop-nogroup
                for (int i = 0; i < node->count; i++)
                    execute(node->body, thread);
            }
            break;
        case REGION:
#pragma omp parallel // site region
#pragma omp single
            execute(node->body, 0);
            break;
        case TEAM:
#pragma omp parallel num_threads(node->count) // site team
            execute(node->body, (unsigned)omp_get_thread_num());
            break;
        }
    }
}

/* ---- The oracle ---- */

/* The longest chain up to a point, and what it consists of. */
struct chain {
    uint64_t length, shares[SITES];
};

/* The longer of two; of equal ones the first. */
static void join(struct chain *chain, const struct chain *other)
{
    if (other->length > chain->length)
        *chain = *other;
}

/* A task that is being evaluated. */
struct task {
    struct chain now;
    /* Ends of its children. */
    struct chain children;
    /* Ends of what is created in the innermost group or region. */
    struct chain *group;
    enum site site;
    bool final;
    unsigned thread;
    /* For each cell: the end of the last task that writes it, and of those that read it since. */
    struct chain written[CELLS], read[CELLS];
};

struct answer {
    uint64_t work, tasks[SITES], own[SITES];
};

static void evaluate(const struct node *from, const struct node *to, struct task *task, struct answer *answer);

/* What a new task waits for. */
static void join_predecessors(struct chain *start, const struct node *node, const struct task *task)
{
    for (int i = 0; i < node->ins; i++)
        join(start, &task->written[node->in[i]]);
    for (int i = 0; i < node->outs; i++) {
        join(start, &task->written[node->out[i]]);
        join(start, &task->read[node->out[i]]);
    }
    for (int i = 0; i < node->inouts; i++) {
        join(start, &task->written[node->inout[i]]);
        join(start, &task->read[node->inout[i]]);
    }
}

static void write_cell(struct task *task, int cell, const struct chain *end)
{
    task->written[cell] = *end;
    memset(&task->read[cell], 0, sizeof task->read[cell]);
}

/* A child of `task`, which does the body of `node`. */
static void evaluate_child(const struct node *node, bool deferred, bool final, struct task *task, struct answer *answer)
{
    struct task *child = calloc(1, sizeof *child);
    if (!child)
        abort();
    answer->tasks[node->site]++;
    child->now = task->now;
    join_predecessors(&child->now, node, task);
    child->group = task->group;
    child->site = node->site;
    child->final = final || task->final;
    child->thread = task->thread;
    evaluate(node->body, NULL, child, answer);
    for (int i = 0; i < node->ins; i++)
        join(&task->read[node->in[i]], &child->now);
    for (int i = 0; i < node->outs; i++)
        write_cell(task, node->out[i], &child->now);
    for (int i = 0; i < node->inouts; i++)
        write_cell(task, node->inout[i], &child->now);
    join(&task->children, &child->now);
    join(task->group, &child->now);
    /* An undeferred or included task is part of its creator's chain. */
    if (!deferred || task->final)
        join(&task->now, &child->now);
    free(child);
}

/* A region: threads that all do the body, from barrier to barrier. */
static void evaluate_team(const struct node *node, int threads, struct task *task, struct answer *answer)
{
    struct chain all = task->now;
    struct task *team = calloc((size_t)threads, sizeof *team);
    if (!team)
        abort();
    for (int i = 0; i < threads; i++) {
        team[i].group = &all;
        team[i].site = node->site;
        team[i].thread = (unsigned)i;
    }
    for (const struct node *from = node->body, *to; from; from = to) {
        struct chain start = all;
        to = from->next;
        while (to && to->kind != BARRIER)
            to = to->next;
        for (int i = 0; i < threads; i++) {
            team[i].now = start;
            evaluate(from, to, &team[i], answer);
            join(&all, &team[i].now);
        }
    }
    free(team);
    join(&task->now, &all);
}

/* Lets `task` do what stands from `from` up to `to`. */
static void evaluate(const struct node *from, const struct node *to, struct task *task, struct answer *answer)
{
    for (const struct node *node = from; node != to; node = node->next) {
        uint64_t ticks = node->ticks + task->thread * node->skew;
        switch (node->kind) {
        case WORK:
            answer->work += ticks;
            answer->own[task->site] += ticks;
            task->now.length += ticks;
            task->now.shares[task->site] += ticks;
            break;
        case TASKWAIT:
            join(&task->now, &task->children);
            break;
        case TASKWAIT_DEPEND:
            join_predecessors(&task->now, node, task);
            break;
        case BARRIER:
        case YIELD:
            break;
        case GROUP: {
            struct chain ends = {0}, *outer = task->group;
            task->group = &ends;
            evaluate(node->body, NULL, task, answer);
            task->group = outer;
            join(&task->now, &ends);
            break;
        }
        case TASK:
            evaluate_child(node, node->deferred, node->final, task, answer);
            break;
        case TASKLOOP: {
            struct chain ends = {0}, *outer = task->group;
            if (node->site == LOOP)
                task->group = &ends;
            for (int i = 0; i < node->count; i++)
                evaluate_child(node, true, false, task, answer);
            task->group = outer;
            join(&task->now, &ends);
            break;
        }
        case REGION:
            evaluate_team(node, 1, task, answer);
            break;
        case TEAM:
            evaluate_team(node, node->count, task, answer);
            break;
        }
    }
}

/* The program of a seed; its end waits for everything. */
static struct chain evaluate_program(uint64_t seed, struct answer *answer)
{
    struct chain ends = {0};
    struct task initial = {.group = &ends, .site = SERIAL};
    struct node *program = new_program(seed);
    memset(answer, 0, sizeof *answer);
    evaluate(program, NULL, &initial, answer);
    join(&initial.now, &ends);
    free_list(program);
    return initial.now;
}

static void print_answer(uint64_t seed)
{
    struct answer answer;
    struct chain longest = evaluate_program(seed, &answer);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64, seed, answer.work, longest.length);
    for (int site = 0; site < SITES; site++) {
        if (answer.own[site])
            printf(" %s:%" PRIu64 ":%" PRIu64 ":%" PRIu64, site_names[site], answer.tasks[site], answer.own[site],
                   longest.shares[site]);
    }
    putchar('\n');
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "show") == 0) {
        struct node *program = new_program(strtoull(arguments[2], NULL, 10));
        show(program, 0);
        free_list(program);
        return 0;
    }
    bool oracle = count > 1 && strcmp(arguments[1], "oracle") == 0;
    if (count < 2 + oracle || count > 3 + oracle) {
        fputs("usage: random SEED [COUNT] | random show SEED | random oracle SEED [COUNT]\n", stderr);
        return 2;
    }
    uint64_t seed = strtoull(arguments[1 + oracle], NULL, 10);
    uint64_t end = seed + (count > 2 + oracle ? strtoull(arguments[2 + oracle], NULL, 10) : 1);
    uint64_t expected = 0;
    for (; seed < end; seed++) {
        if (oracle) {
            print_answer(seed);
            continue;
        }
        struct answer answer;
        evaluate_program(seed, &answer);
        expected += answer.work;
        struct node *program = new_program(seed);
        omp_set_max_active_levels(3);
        /* Without it, tasks outside any region would go on beside the next program. */
#pragma omp taskgroup
        execute(program, 0);
        free_list(program);
    }
    if (!oracle && ticks_spent != expected) {
        fprintf(stderr, "%" PRIu64 " ticks, not %" PRIu64 "\n", ticks_spent, expected);
        return 1;
    }
    return 0;
}
