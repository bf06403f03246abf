/*
 * Random programs of oneTBB, and a serial oracle that knows what each amounts to.
 *
 *   random run SEED [COUNT]      runs the programs of COUNT seeds one after another, and counts their ticks
 *   random show SEED             the program of a seed, as a tree
 *   random oracle SEED [COUNT]   work and span of all of them together
 *
 * A program is a tree, made before anything runs. `execute` goes through it with oneTBB and ticks; `evaluate` goes through
 * it serially, and knows of neither: a task begins where its creator is, who waits goes on after the latest end of what it waits for,
 * and chunks of a loop lie beside each other; two halves of a reduction are joined behind both.
 */
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "workspan.h"

namespace {

enum class Kind {
    /* Serial code. */
    work,
    /* A task_group: its body, then a wait. */
    group,
    /* A task in the group that is so many groups further out. */
    run,
    /* The same, by way of a handle. */
    defer,
    /* The body as the last task of a group of its own, and a wait. */
    run_and_wait,
    /* Two groups, the first waited for while the second has tasks. */
    two_groups,
    /* Each part a function. */
    invoke,
    /* Each part an iteration. */
    loop,
    /* The same in a context that the program makes itself, within which the bodies make such loops again. */
    loop_in_context,
    /* Each part an iteration that is reduced. */
    reduce,
    /* Each part an item of a list. */
    each,
    /* The first part an item, which feeds the others in the middle. */
    feed,
    /* The body in another arena. */
    arena,
    /* The body isolated. */
    isolate,
    /* A thread of its own: the first part; meanwhile the second; a join. */
    thread,
    count,
};

const char *const names[] = {"work",   "group",           "run",    "defer", "run-and-wait", "two-groups", "invoke",
                             "loop",   "loop-in-context", "reduce", "each",  "feed",         "arena",      "isolate",
                             "thread"};

struct Node;
using List = std::vector<std::unique_ptr<Node>>;

struct Node {
    Kind kind;
    uint64_t ticks = 0;
    /* Groups further out, iterations to a chunk, or which arena. */
    unsigned number = 0;
    std::vector<List> parts;
};

/* ---- Programs ---- */

/* splitmix64 */
struct Random {
    uint64_t state;
    int left;

    uint64_t any()
    {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    unsigned below(unsigned bound) { return unsigned(any() % bound); }
};

std::unique_ptr<Node> new_node(Kind kind)
{
    auto node = std::make_unique<Node>();
    node->kind = kind;
    return node;
}

std::unique_ptr<Node> new_work(Random &random)
{
    auto node = new_node(Kind::work);
    /* Wide enough that two chains are hardly ever of equal length. */
    node->ticks = 1 + random.any() % 1000000007u;
    return node;
}

List new_list(Random &random, int depth, unsigned groups);

std::unique_ptr<Node> new_construct(Random &random, int depth, unsigned groups)
{
    Kind kind = Kind(1 + random.below(unsigned(Kind::count) - 1));
    if (depth == 0 || random.left-- <= 0)
        return new_work(random);
    if (groups == 0 && (kind == Kind::run || kind == Kind::defer))
        kind = Kind::group;
    if (kind == Kind::thread && random.below(3))
        kind = Kind::group;
    auto node = new_node(kind);
    unsigned parts = 1;
    switch (kind) {
    case Kind::group:
    case Kind::run_and_wait:
        groups += 1;
        break;
    case Kind::run:
    case Kind::defer:
        node->number = random.below(std::min(groups, 3u));
        groups -= node->number;
        break;
    case Kind::invoke:
        parts = 2 + random.below(9);
        break;
    case Kind::reduce:
        node->ticks = random.any() % 500000003u;
        [[fallthrough]];
    case Kind::loop:
    case Kind::loop_in_context:
    case Kind::each:
        parts = 1 + random.below(9);
        node->number = 1 + random.below(3);
        break;
    case Kind::feed:
    case Kind::two_groups:
        parts = 4;
        break;
    case Kind::arena:
        node->number = random.below(3);
        /* A task of a group outside would be left to that arena's workers, of which there may be none. */
        groups = 0;
        break;
    case Kind::isolate:
        /* Who waits outside might not run it, being isolated itself. */
        groups = 0;
        break;
    case Kind::thread:
        parts = 2;
        groups = 0;
        break;
    default:
        break;
    }
    for (unsigned i = 0; i < parts; i++)
        node->parts.push_back(new_list(random, depth - 1, groups));
    return node;
}

List new_list(Random &random, int depth, unsigned groups)
{
    List list;
    unsigned count = depth == 0 ? 1 : 1 + random.below(3);
    for (unsigned i = 0; i < count; i++) {
        if (random.below(2))
            list.push_back(new_work(random));
        list.push_back(new_construct(random, depth, groups));
    }
    list.push_back(new_work(random));
    return list;
}

List new_program(uint64_t seed)
{
    Random random{seed * 0x2545f4914f6cdd1dull + 1, 0};
    List list;
    unsigned count = 1 + random.below(4);
    list.push_back(new_work(random));
    for (unsigned i = 0; i < count; i++) {
        random.left = 3 + int(random.below(20));
        list.push_back(new_construct(random, 4, 0));
        list.push_back(new_work(random));
    }
    return list;
}

void show(const List &list, int depth)
{
    for (const auto &node : list) {
        printf("%*s%s %llu %u\n", 2 * depth, "", names[int(node->kind)], (unsigned long long)node->ticks, node->number);
        for (const auto &part : node->parts) {
            if (&part != &node->parts.front())
                printf("%*s--\n", 2 * depth + 1, "");
            show(part, depth + 1);
        }
    }
}

/* ---- The programs with oneTBB ---- */

struct Groups {
    tbb::task_group *group;
    const Groups *outer;

    const Groups &at(unsigned number) const { return number == 0 || !outer ? *this : outer->at(number - 1); }
};

void execute(const Node &node, const Groups *groups);
void execute(const List &list, const Groups *groups);

/* With room for every thread, and for workers: in a full one a thread would wait for another that may wait for it. */
tbb::task_arena arenas[] = {tbb::task_arena(64), tbb::task_arena(48), tbb::task_arena(32)};

/* Which halves are joined does not depend on who runs them. */
bool is_deterministic(const Node &node)
{
    return node.kind == Kind::reduce && node.number < 3;
}

/* What it takes to join halves of so many parts. */
uint64_t join_ticks(const Node &node, uint64_t left, uint64_t right)
{
    return node.ticks + 7919 * left + 104729 * right;
}

struct Sum {
    const Node &node;
    const Groups *groups;
    uint64_t count = 0;

    Sum(const Node &node, const Groups *groups) : node(node), groups(groups) {}
    Sum(Sum &other, tbb::split) : node(other.node), groups(other.groups) {}

    void operator()(const tbb::blocked_range<size_t> &range)
    {
        for (size_t i = range.begin(); i != range.end(); i++) {
            execute(node.parts[i], groups);
            count++;
        }
    }

    void join(Sum &other)
    {
        if (is_deterministic(node))
            workspan_tick(join_ticks(node, count, other.count));
        count += other.count;
    }
};

void loop(const Node &node, const Groups *groups, tbb::task_group_context &context)
{
    tbb::blocked_range<size_t> range(0, node.parts.size(), node.number);
    tbb::parallel_for(
        range,
        [&](const tbb::blocked_range<size_t> &range) {
            for (size_t i = range.begin(); i != range.end(); i++) {
                for (const auto &inner : node.parts[i]) {
                    if (inner->kind == Kind::loop_in_context)
                        loop(*inner, groups, context);
                    else
                        execute(*inner, groups);
                }
            }
        },
        tbb::simple_partitioner(), context);
}

template <size_t... at>
void invoke(const Node &node, const Groups *groups, std::index_sequence<at...>)
{
    tbb::parallel_invoke([&node, groups] { execute(node.parts[at], groups); }...);
}

void execute(const Node &node, const Groups *groups)
{
    const auto &parts = node.parts;
    switch (node.kind) {
    case Kind::work:
        workspan_tick(node.ticks);
        break;
    case Kind::group: {
        tbb::task_group group;
        Groups inner{&group, groups};
        execute(parts[0], &inner);
        group.wait();
        break;
    }
    case Kind::run: {
        /* It may outlive the groups further in. */
        const Groups &its = groups->at(node.number);
        its.group->run([&parts, &its] { execute(parts[0], &its); });
        break;
    }
    case Kind::defer: {
        const Groups &its = groups->at(node.number);
        auto handle = its.group->defer([&parts, &its] { execute(parts[0], &its); });
        its.group->run(std::move(handle));
        break;
    }
    case Kind::run_and_wait: {
        tbb::task_group group;
        Groups inner{&group, groups};
        group.run_and_wait([&] { execute(parts[0], &inner); });
        break;
    }
    case Kind::two_groups: {
        tbb::task_group first, second;
        first.run([&] { execute(parts[0], groups); });
        second.run([&] { execute(parts[1], groups); });
        first.run([&] { execute(parts[2], groups); });
        first.wait();
        execute(parts[3], groups);
        second.wait();
        break;
    }
    case Kind::invoke:
        switch (parts.size()) {
        case 2:
            return invoke(node, groups, std::make_index_sequence<2>());
        case 3:
            return invoke(node, groups, std::make_index_sequence<3>());
        case 4:
            return invoke(node, groups, std::make_index_sequence<4>());
        case 5:
            return invoke(node, groups, std::make_index_sequence<5>());
        case 6:
            return invoke(node, groups, std::make_index_sequence<6>());
        case 7:
            return invoke(node, groups, std::make_index_sequence<7>());
        case 8:
            return invoke(node, groups, std::make_index_sequence<8>());
        case 9:
            return invoke(node, groups, std::make_index_sequence<9>());
        default:
            return invoke(node, groups, std::make_index_sequence<10>());
        }
    case Kind::loop:
        tbb::parallel_for(
            tbb::blocked_range<size_t>(0, parts.size(), node.number),
            [&](const tbb::blocked_range<size_t> &range) {
                for (size_t i = range.begin(); i != range.end(); i++)
                    execute(parts[i], groups);
            },
            tbb::simple_partitioner());
        break;
    case Kind::loop_in_context: {
        tbb::task_group_context context;
        loop(node, groups, context);
        break;
    }
    case Kind::reduce: {
        Sum sum(node, groups);
        tbb::blocked_range<size_t> range(0, parts.size(), node.number);
        if (is_deterministic(node))
            tbb::parallel_deterministic_reduce(range, sum);
        else
            tbb::parallel_reduce(range, sum, tbb::simple_partitioner());
        if (sum.count != parts.size())
            abort();
        break;
    }
    case Kind::each: {
        std::list<const List *> items;
        for (const auto &part : parts)
            items.push_back(&part);
        tbb::parallel_for_each(items.begin(), items.end(), [&](const List *item) { execute(*item, groups); });
        break;
    }
    case Kind::feed: {
        std::list<int> items{0};
        tbb::parallel_for_each(items.begin(), items.end(), [&](int item, tbb::feeder<int> &feeder) {
            if (item == 0) {
                execute(parts[0], groups);
                feeder.add(1);
                execute(parts[1], groups);
                feeder.add(2);
            } else {
                execute(parts[item + 1], groups);
            }
        });
        break;
    }
    case Kind::arena:
        arenas[node.number].execute([&] { execute(parts[0], groups); });
        break;
    case Kind::isolate:
        tbb::this_task_arena::isolate([&] { execute(parts[0], groups); });
        break;
    case Kind::thread: {
        std::thread thread([&] { execute(parts[0], nullptr); });
        execute(parts[1], nullptr);
        thread.join();
        break;
    }
    default:
        abort();
    }
}

void execute(const List &list, const Groups *groups)
{
    for (const auto &node : list)
        execute(*node, groups);
}

/* ---- What they amount to ---- */

struct Ends {
    uint64_t last;
    Ends *outer;

    Ends &at(unsigned number) { return number == 0 || !outer ? *this : outer->at(number - 1); }
};

uint64_t total;

uint64_t evaluate(const List &list, uint64_t at, Ends *groups);

/* Chunks of a range that is halved as long as it has more than so many iterations. */
uint64_t evaluate_chunks(const Node &node, size_t first, size_t end, uint64_t at, Ends *groups)
{
    if (end - first > node.number) {
        size_t middle = first + (end - first) / 2;
        at = std::max(evaluate_chunks(node, first, middle, at, groups),
                      evaluate_chunks(node, middle, end, at, groups));
        uint64_t join = is_deterministic(node) ? join_ticks(node, middle - first, end - middle) : 0;
        total += join;
        return at + join;
    }
    for (size_t i = first; i < end; i++)
        at = evaluate(node.parts[i], at, groups);
    return at;
}

uint64_t evaluate(const Node &node, uint64_t at, Ends *groups)
{
    const auto &parts = node.parts;
    switch (node.kind) {
    case Kind::work:
        total += node.ticks;
        return at + node.ticks;
    case Kind::group:
    case Kind::run_and_wait: {
        Ends ends{0, groups};
        uint64_t own = evaluate(parts[0], at, &ends);
        return std::max(own, ends.last);
    }
    case Kind::run:
    case Kind::defer: {
        Ends &group = groups->at(node.number);
        uint64_t end = evaluate(parts[0], at, &group);
        group.last = std::max(group.last, end);
        return at;
    }
    case Kind::two_groups: {
        uint64_t first = std::max(evaluate(parts[0], at, groups), evaluate(parts[2], at, groups));
        uint64_t second = evaluate(parts[1], at, groups);
        return std::max(evaluate(parts[3], first, groups), second);
    }
    case Kind::invoke:
    case Kind::each: {
        uint64_t last = at;
        for (const auto &part : parts)
            last = std::max(last, evaluate(part, at, groups));
        return last;
    }
    case Kind::loop:
    case Kind::loop_in_context:
    case Kind::reduce:
        return evaluate_chunks(node, 0, parts.size(), at, groups);
    case Kind::feed: {
        uint64_t first = evaluate(parts[0], at, groups);
        uint64_t second = evaluate(parts[1], first, groups);
        return std::max(evaluate(parts[2], first, groups), evaluate(parts[3], second, groups));
    }
    case Kind::thread:
        return std::max(evaluate(parts[0], at, nullptr), evaluate(parts[1], at, nullptr));
    default:
        return evaluate(parts[0], at, groups);
    }
}

uint64_t evaluate(const List &list, uint64_t at, Ends *groups)
{
    for (const auto &node : list)
        at = evaluate(*node, at, groups);
    return at;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    uint64_t first = strtoull(argv[2], nullptr, 10);
    uint64_t count = argc > 3 ? strtoull(argv[3], nullptr, 10) : 1;
    uint64_t span = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        List program = new_program(seed);
        if (!strcmp(argv[1], "run"))
            execute(program, nullptr);
        else if (!strcmp(argv[1], "show"))
            show(program, 0);
        else
            span = evaluate(program, span, nullptr);
    }
    if (!strcmp(argv[1], "oracle"))
        printf("%llu %llu\n", (unsigned long long)total, (unsigned long long)span);
    return 0;
}
