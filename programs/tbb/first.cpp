// Starts oneTBB at once, and does little: by an algorithm, a group of tasks, an arena, an isolated region, a graph, a
// limit for all.

#include <atomic>
#include <cstdio>
#include <cstring>

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

static std::atomic<int> sum;

static void loop()
{
    tbb::parallel_for(0, 64, [](int i) { sum += i; });
}

int main(int, char **arguments)
{
    const char *how = arguments[1];
    if (!std::strcmp(how, "for")) {
        loop();
    } else if (!std::strcmp(how, "simple")) {
        tbb::parallel_for(0, 64, [](int i) { sum += i; }, tbb::simple_partitioner());
    } else if (!std::strcmp(how, "group")) {
        tbb::task_group group;
        for (int i = 0; i < 64; i++)
            group.run([i] { sum += i; });
        group.wait();
    } else if (!std::strcmp(how, "arena")) {
        tbb::task_arena arena(2);
        arena.execute(loop);
    } else if (!std::strcmp(how, "isolate")) {
        tbb::this_task_arena::isolate(loop);
    } else if (!std::strcmp(how, "control")) {
        tbb::global_control control(tbb::global_control::max_allowed_parallelism, 2);
        loop();
    } else {
        tbb::flow::graph graph;
        tbb::flow::function_node<int, int> node(graph, tbb::flow::unlimited, [](int i) { return sum += i; });
        for (int i = 0; i < 64; i++)
            node.try_put(i);
        graph.wait_for_all();
    }
    std::printf("%d\n", sum.load());
}
