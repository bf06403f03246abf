//! The words of reports: each is explained once, here. The page and the README show these sentences.

/// Words, and what they mean.
pub const WORDS: [(&str, &str); 21] = [
    ("work", "time that all code took, on all processors together; waiting is not work"),
    (
        "critical path, span",
        "the longest chain of code that had to run in order, and its length: the running time with unlimited processors",
    ),
    (
        "parallelism",
        "work divided by span: the highest speedup over one processor, however many processors you add. Where the program waits for files, \
         timers or other processes, the time that one processor would take, these waits included, divided by span",
    ),
    (
        "range of parallelism",
        "two numbers, such as 1.9–58, where the run leaves it open. Of loops of OpenMP Workspan sees the chunks that threads ran, not each iteration: the first number is for these chunks as they ran, the second for iterations that all cost the same and could each run beside all others. The truth lies between; `--logical-cores 64` shows smaller chunks, and narrows it. Of locks, the first is for the order in which threads took them, the second for the best order",
    ),
    ("task", "code that may run beside other code"),
    ("worker", "a thread of a pool or team, which runs tasks"),
    ("chunk", "iterations of a loop that one worker runs in a row"),
    (
        "site",
        "a line of the source that forks (its branches may run side by side), spawns a task, begins a loop or takes a lock; of threads, the \
         function that they run",
    ),
    (
        "region",
        "an outermost site, with all that runs inside it; the code between regions is serial, and that before the first begins where the \
         program does",
    ),
    (
        "strand",
        "code that one thread runs between two events: a fork, a spawn, a wait, taking a lock, the end of a task. All numbers \
         are sums over strands",
    ),
    (
        "segment",
        "all strands between the same two events of a site: `a.c:7, from its begin to b.c:9` is code of the site a.c:7 from its \
         begin to the event at b.c:9. `wait` is a wait for tasks, threads, a barrier or a lock, `an unknown event` one whose line \
         was not recorded, such as the start of a thread, `an event inside it` one at the site's own line, such as a nested task; \
         `all of it` has no event in between",
    ),
    (
        "self, total",
        "of a site, self is its own code alone, outside of the sites inside it; total is with all sites inside it, on the critical path or not, \
         summed over all times that it ran. Total numbers of nested sites overlap. Times that ran side by side are no chain: a total span is at \
         most the program's, and may be more than that of the region around. A detached task (`rayon::spawn`), for which no site waits, \
         counts in its own row and in its region's, in no other",
    ),
    (
        "lost to",
        "of N processors, how many do nothing useful on average. Too little parallelism: there is no code for them to run before the named \
         code has ended. Lock contention: the same of code under a lock. Scheduling: there is code to run, but they have not found it yet, or \
         run a short task while a long one waits",
    ),
    ("steal", "a worker without a task takes one that another worker created; moving it to another processor takes time"),
    (
        "burdened",
        "parallelism if each task on the critical path that another worker may take also costs a steal; if it is far lower than \
         the parallelism, tasks are too small",
    ),
    ("task overhead", "cost of creating tasks, as a share of the work of the program"),
    (
        "task size",
        "time of the code that a task ran itself, which includes its own chunk of a loop inside it: mean, median, and the size that one task \
         in ten exceeds (p90; `≤`: of fewer than ten tasks, none took longer than that)",
    ),
    ("count", "how often a region ran"),
    (
        "lock wait, taken",
        "time that strands waited for a lock, summed over all, and how often it was taken; locks of threads count from the first wait for \
         them on, or from when they were seen to be held for 2 µs or more",
    ),
    (
        "idle",
        "time that workers waited for work, summed over all workers: it may exceed the time that passed. With rayon, the main \
         thread is no worker",
    ),
    (
        "blocked",
        "time that strands waited for files, timers or other processes: in the span, not in the work; no processor is needed \
         meanwhile",
    ),
];
