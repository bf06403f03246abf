/*
 * OpenMP in C++: tasks in lambdas, members and templates, exceptions, iterators, threads. `cost.h` says how this program
 * is called, and `constructs.c` what the rules are.
 */
#include "cost.h"

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

/* 1 + (4 | 3): the task lies in a lambda, and uses what that has captured. */
CASE(lambda, exact, 8, 5)
{
    uint64_t units = 4;
    auto create = [&units] {
        cost(1);
#pragma omp task firstprivate(units) // tasks: 1
        [=] { cost(units); }();
        cost(3);
    };
#pragma omp parallel
#pragma omp single
    create();
}

template <typename F, typename G> static void fork_join(F &&first, G &&second)
{
#pragma omp task shared(first) // tasks: 5
    first();
    second();
#pragma omp taskwait
}

/* Two instances of a template: (2 | 3) and, inside one branch of it, (1 + (5 | 4)) | (4 | 1). */
CASE(templates, exact, 20, 9)
{
#pragma omp parallel
#pragma omp single
    {
        fork_join([] { cost(2); }, [] { cost(3); });
        fork_join(
            [] {
                cost(1);
                fork_join([] { cost(5); }, [] { cost(4); });
            },
            [] { fork_join([] { cost(4); }, [] { fork_join([] { cost(1); }, [] {}); }); });
    }
}

/* By functions that are values: 3 | 5 | 4. */
CASE(function_objects, exact, 12, 5)
{
    std::vector<std::function<void()>> work;
    for (uint64_t units : {3, 5, 4})
        work.push_back([units] { cost(units); });
#pragma omp parallel
#pragma omp single
    for (auto &one : work) {
#pragma omp task shared(one) // tasks: 3
        one();
    }
}

/* A tree that owns its branches. */
class Node
{
public:
    explicit Node(int depth) : units(static_cast<uint64_t>(depth) + 1)
    {
        if (depth > 0) {
            left = std::make_unique<Node>(depth - 1);
            right = std::make_unique<Node>(depth - 1);
        }
    }

    virtual ~Node() = default;

    virtual void visit()
    {
        cost(units);
        if (!left)
            return;
#pragma omp task // tasks: 7
        left->visit();
#pragma omp task // tasks: 7
        right->visit();
#pragma omp taskwait
    }

private:
    uint64_t units;
    std::unique_ptr<Node> left, right;
};

/* Levels of 1 x 4, 2 x 3, 4 x 2, 8 x 1: 26; from the root to a leaf 4 + 3 + 2 + 1. */
CASE(members, exact, 26, 10)
{
    Node root(3);
#pragma omp parallel
#pragma omp single
    root.visit();
}

/* Members as dependences: 2 + (3 | 4) + 1. */
CASE(depend_on_members, exact, 10, 7)
{
    struct {
        int source, left, right;
    } cells = {0, 0, 0};
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : cells.source) // tasks: 1
        cost(2);
#pragma omp task depend(in : cells.source) depend(out : cells.left) // tasks: 1
        cost(3);
#pragma omp task depend(in : cells.source) depend(out : cells.right) // tasks: 1
        cost(4);
#pragma omp task depend(in : cells.left, cells.right) // tasks: 1
        cost(1);
    }
}

/* Each task throws after 2, catches, and takes 1; of eight tasks half throw. */
CASE(exception_in_task, exact, 20, 3)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp task // tasks: 8
        {
            try {
                cost(2);
                if (i % 2)
                    throw std::runtime_error("expected");
            } catch (const std::runtime_error &) {
                cost(1);
            }
        }
    }
}

/* An exception leaves the block that has created a task, which goes on beside: 1 + (4 | (2 + 1)). */
CASE(exception_past_tasks, exact, 8, 5)
{
#pragma omp parallel
#pragma omp single
    {
        cost(1);
        try {
#pragma omp task // tasks: 1
            cost(4);
            cost(2);
            throw 5;
        } catch (int) {
            cost(1);
        }
    }
}

/* An included task throws and catches: 1 + 2 + 3 + 1. */
CASE(exception_in_final, exact, 7, 7)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task final(true) // tasks: 1
        {
            cost(1);
#pragma omp task // tasks: 1
            {
                try {
                    cost(2);
                    throw 5;
                } catch (int) {
                    cost(3);
                }
            }
            cost(1);
        }
    }
}

/* Over iterators: 1 to 8 in tasks, then 1. */
CASE(taskloop_over_iterators, exact, 37, 9)
{
    std::vector<uint64_t> items = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(1) // tasks: 8
        for (auto item = items.begin(); item < items.end(); ++item)
            cost(*item);
        cost(1);
    }
}

/* Over iterators, by threads. */
CASE(loop_over_iterators, loop, 36, 8)
{
    std::vector<uint64_t> items = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma omp parallel for schedule(dynamic)
    for (auto item = items.begin(); item < items.end(); ++item)
        cost(*item);
}

/* A range, as the language has it. */
CASE(loop_over_range, loop, 36, 8)
{
    std::vector<uint64_t> items = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma omp parallel for schedule(static, 1)
    for (uint64_t item : items)
        cost(item);
}

struct Longest {
    uint64_t units = 0;

    void add(uint64_t other)
    {
        units = other > units ? other : units;
    }
};
#pragma omp declare reduction(longest : Longest : omp_out.add(omp_in.units))

/* A reduction of the program's own: 1 to 5, then the longest of them. */
CASE(task_reduction, exact, 20, 10)
{
    Longest longest;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup task_reduction(longest : longest)
        for (uint64_t i = 1; i <= 5; i++) {
#pragma omp task in_reduction(longest : longest) // tasks: 5
            {
                longest.add(i);
                cost(i);
            }
        }
        cost(longest.units);
    }
}

/* Objects are copied into a task when it is created, and its copy ends with it: 3 | 2. */
CASE(copied_objects, exact, 8, 3)
{
    auto units = std::make_shared<uint64_t>(3);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 2; i++) {
#pragma omp task firstprivate(units) // tasks: 2
            cost(*units);
        }
        cost(2);
    }
    if (units.use_count() != 1)
        abort();
}

static void six_tasks()
{
    cost(1);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 6; i++) {
#pragma omp task
        cost(2);
    }
}

/* Three threads, each with a team of its own: 2 + (1 + 2) + 1. */
CASE(threads, exact, 42, 6)
{
    std::vector<std::thread> threads;
    cost(2);
    for (int i = 0; i < 3; i++)
        threads.emplace_back(six_tasks);
    for (auto &thread : threads)
        thread.join();
    cost(1);
}

/* The main thread goes on meanwhile, with a team of its own: (1 + 2) | (1 + 2 + 1), then 1. */
CASE(thread_and_main, exact, 28, 5)
{
    std::thread thread(six_tasks);
    six_tasks();
    cost(1);
    thread.join();
    cost(1);
}

int main(int count, char **arguments)
{
    return run_cases(count, arguments);
}
