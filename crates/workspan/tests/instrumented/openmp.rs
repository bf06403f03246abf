//! Graphs of OpenMP programs: closed forms, and races, planted and fixed.
//!
//! A region of `n` threads creates `n` contexts, which arrive at its last barrier and are joined. A task is created and joined.

use serde_json::Value;

use crate::support::{build_source, folder, json, record};
use crate::threads::shape;

const BUILD: &str = "cc -O2 -fopenmp";

fn program(threads: u64, body: &str) -> String {
    format!(
        "#include <omp.h>\n#include <stdio.h>\n#include <stdlib.h>\nenum {{ N = {threads} }};\n\
         static long shared, a, b, cells[1000];\nstatic omp_lock_t lock;\n\
         static long fib(int n) {{\n    if (n < 2) return n;\n    long x, y;\n\
         #pragma omp task shared(x)\n    x = fib(n - 1);\n\
         #pragma omp task shared(y)\n    y = fib(n - 2);\n\
         #pragma omp taskwait\n    return x + y;\n}}\n\
         int main(void) {{\n    omp_set_dynamic(0); omp_set_num_threads(N); omp_init_lock(&lock);\n    long sum = 0;\n{body}\n\
         printf(\"%ld\\n\", shared + sum);\n    return 0;\n}}\n"
    )
}

/// Body, tasks that it creates, syncs, barriers but the last; the number of threads is `n`.
type Form = (&'static str, &'static str, fn(u64) -> [u64; 3]);

const FORMS: &[Form] = &[
    ("region", "#pragma omp parallel\ncells[omp_get_thread_num()] = 1;", |_| [0, 0, 0]),
    ("barrier", "#pragma omp parallel\n{\n#pragma omp barrier\n}", |_| [0, 0, 1]),
    ("loop", "#pragma omp parallel\n{\n#pragma omp for\nfor (int i = 0; i < 100; i++) cells[i] = i;\n#pragma omp for nowait schedule(dynamic)\nfor (int i = 0; i < 100; i++) cells[i] = i;\n}", |_| [0, 0, 1]),
    ("single", "#pragma omp parallel\n{\n#pragma omp single\nshared = 1;\n}", |_| [0, 0, 1]),
    ("critical", "#pragma omp parallel\nfor (int i = 0; i < 10; i++) {\n#pragma omp critical\nshared++;\n}", |n| [0, 20 * n, 0]),
    ("lock", "#pragma omp parallel\n{ omp_set_lock(&lock); shared++; omp_unset_lock(&lock); }", |n| [0, 2 * n, 0]),
    ("tasks", "#pragma omp parallel\n#pragma omp single nowait\nfor (int i = 0; i < 50; i++) {\n#pragma omp task\ncells[i] = i;\n}", |_| [50, 0, 0]),
    ("taskwait", "#pragma omp parallel\n#pragma omp single\n{\nfor (int i = 0; i < 50; i++) {\n#pragma omp task\ncells[i] = i;\n}\n#pragma omp taskwait\nshared = cells[3];\n}", |_| [50, 0, 1]),
    ("taskgroup", "#pragma omp parallel\n#pragma omp single\n{\n#pragma omp taskgroup\nfor (int i = 0; i < 5; i++) {\n#pragma omp task\n{\n#pragma omp task\ncells[i] = i;\n}\n}\nshared = cells[3];\n}", |_| [10, 0, 1]),
    // A call of fib(n) with n > 1 creates two tasks: fib(8) is 67 calls, of which 33 do.
    ("fib", "#pragma omp parallel\n#pragma omp single\nshared = fib(8);", |_| [66, 0, 1]),
    ("depend", "#pragma omp parallel\n#pragma omp single\nfor (int i = 0; i < 20; i++) {\n#pragma omp task depend(inout: a) depend(in: b)\na += i;\n}", |_| [20, 40, 1]),
    ("if0", "#pragma omp parallel\n#pragma omp single\nfor (int i = 0; i < 7; i++) {\n#pragma omp task if(0)\nshared += i;\n}", |_| [7, 0, 1]),
];

#[test]
fn closed_forms() {
    for threads in [1, 4] {
        for (name, body, counts) in FORMS {
            let folder = folder(&format!("openmp-{name}-{threads}"));
            build_source(&folder, "prog.c", &program(threads, body), BUILD);
            record(&folder);
            let report = json(&folder, "report");
            assert_eq!(report["complete"], true, "{report:#}");
            let [tasks, syncs, barriers] = counts(threads);
            let (contexts, creates, barriers) = (1 + threads + tasks, threads + tasks, barriers + 1);
            let work = contexts + 2 * creates + syncs + barriers * threads;
            let expected = [work, creates, creates, syncs, barriers, contexts];
            assert_eq!(
                shape(&report),
                expected,
                "{name}, {threads} threads: work, create, join, sync, barrier, contexts"
            );
            let races = json(&folder, "races")["races"].clone();
            assert_eq!(races.as_array().map(Vec::len), Some(0), "{name}, {threads} threads: {races:#}");
        }
    }
}

/// Body, and whether it races.
const CASES: &[(&str, bool)] = &[
    ("#pragma omp parallel\nshared++;", true),
    ("#pragma omp parallel\n{\n#pragma omp atomic\nshared++;\n}", false),
    ("#pragma omp parallel for reduction(+: sum)\nfor (int i = 0; i < 100; i++) sum += i;", false),
    ("double s = 0;\n#pragma omp parallel for reduction(+: s) reduction(max: sum)\nfor (int i = 0; i < 100; i++) { s += i; sum = i > sum ? i : sum; }\nshared = s;", false),
    ("#pragma omp parallel for\nfor (int i = 0; i < 100; i++) cells[i] = cells[i + 1];", true),
    ("#pragma omp parallel\n{\n#pragma omp for nowait\nfor (int i = 0; i < 100; i++) cells[i] = i;\n#pragma omp for\nfor (int i = 0; i < 100; i++) cells[100 + i] = cells[99 - i];\n}", true),
    ("#pragma omp parallel\n{\n#pragma omp for\nfor (int i = 0; i < 100; i++) cells[i] = i;\n#pragma omp for\nfor (int i = 0; i < 100; i++) cells[100 + i] = cells[99 - i];\n}", false),
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp task\nshared = 1;\n#pragma omp taskwait\nshared++;\n}", false),
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp task\nshared = 1;\nshared++;\n}", true),
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp task\n{\n#pragma omp task\nshared = 1;\n}\n#pragma omp taskwait\nshared++;\n}", true),
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp taskgroup\n{\n#pragma omp task\n{\n#pragma omp task\nshared = 1;\n}\n}\nshared++;\n}", false),
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp task depend(out: a)\na = 1;\n#pragma omp task depend(in: a)\nshared = a;\n}", false),
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp task depend(out: a)\na = 1;\n#pragma omp task depend(in: b)\nshared = a;\n}", true),
    ("#pragma omp parallel\n#pragma omp single\nfor (int i = 0; i < 9; i++) {\n#pragma omp task depend(mutexinoutset: a)\na += i;\n}", false),
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp task depend(out: a)\na = 1;\n#pragma omp taskwait depend(in: a)\na++;\n}", false),
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp taskloop\nfor (int i = 0; i < 100; i++) cells[i] = i;\nshared = cells[7];\n}", false),
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp taskloop nogroup\nfor (int i = 0; i < 100; i++) cells[i] = i;\nshared = cells[7];\n}", true),
    // Tasks that reduce have a copy for each thread, which the runtime adds up. Those that one thread runs come one after the other, so the first
    // two wait until both have begun.
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp taskgroup task_reduction(+: sum)\nfor (int i = 0; i < 20; i++) {\n#pragma omp task in_reduction(+: sum)\nsum += i;\n}\nshared = sum;\n}", false),
    ("#pragma omp parallel\n#pragma omp single\n{\n#pragma omp taskgroup task_reduction(+: sum)\nfor (int i = 0; i < 20; i++) {\n#pragma omp task in_reduction(+: sum)\n{ sum += i; shared += i; if (i < 2) { __atomic_fetch_add(&a, 1, __ATOMIC_RELAXED); while (__atomic_load_n(&a, __ATOMIC_RELAXED) < 2) {} } }\n}\n}", true),
    ("long more = 0;\n#pragma omp parallel\n#pragma omp single\n#pragma omp taskloop reduction(+: sum, more) num_tasks(8)\nfor (int i = 0; i < 100; i++) { sum += i; more += sum; }\nshared = more;", false),
    ("#pragma omp parallel reduction(task, +: sum)\n{\nsum += 1;\n#pragma omp task in_reduction(+: sum)\nsum += 2;\n}", false),
    ("#pragma omp parallel for ordered\nfor (int i = 0; i < 20; i++) {\n#pragma omp ordered\nshared += i;\n}", false),
    // An iteration waits for one before it, and reads what that or another has written.
    ("#pragma omp parallel for ordered(1) schedule(static, 1)\nfor (int i = 3; i < 99; i++) {\n#pragma omp ordered depend(sink: i - 2)\ncells[i] = cells[i - 2] + 1;\n#pragma omp ordered depend(source)\n}", false),
    ("#pragma omp parallel for ordered(1) schedule(static, 1)\nfor (int i = 3; i < 99; i++) {\n#pragma omp ordered depend(sink: i - 2)\ncells[i] = cells[i - 1] + 1;\n#pragma omp ordered depend(source)\n}", true),
    ("#pragma omp parallel for ordered(2) schedule(static, 1)\nfor (int i = 1; i < 9; i++) for (int k = 1; k < 9; k++) {\n#pragma omp ordered depend(sink: i - 1, k) depend(sink: i, k - 1)\ncells[10 * i + k] = cells[10 * (i - 1) + k] + cells[10 * i + k - 1];\n#pragma omp ordered depend(source)\n}", false),
    ("#pragma omp parallel for ordered(2) schedule(static, 1)\nfor (int i = 1; i < 9; i++) for (int k = 1; k < 9; k++) {\n#pragma omp ordered depend(sink: i, k - 1)\ncells[10 * i + k] = cells[10 * (i - 1) + k] + cells[10 * i + k - 1];\n#pragma omp ordered depend(source)\n}", true),
    ("long own = 3;\n#pragma omp parallel private(own)\n{\nown = omp_get_thread_num();\n#pragma omp single copyprivate(own)\nown = 7;\n#pragma omp atomic\nshared += own;\n}", false),
    ("#pragma omp parallel sections\n{\n#pragma omp section\na = 1;\n#pragma omp section\nb = 2;\n}\nshared = a + b;", false),
    // Tasks that use the same stack and the same memory of the runtime, one after the other.
    ("#pragma omp parallel\n#pragma omp single\nfor (int i = 0; i < 300; i++) {\n#pragma omp task firstprivate(i)\n{ volatile long own[20]; for (int k = 0; k < 20; k++) own[k] = i; cells[i] = own[3]; }\n}", false),
    ("for (int r = 0; r < 5; r++)\n#pragma omp parallel num_threads(1 + r % 4)\n{\n#pragma omp for\nfor (int i = 0; i < 100; i++) cells[i] += r;\n}", false),
    ("omp_set_max_active_levels(2);\n#pragma omp parallel num_threads(2)\n{\nint outer = omp_get_thread_num();\n#pragma omp parallel num_threads(2)\ncells[outer * 2 + omp_get_thread_num()] = 1;\ncells[outer * 2]++;\n}", false),
];

#[test]
fn races_are_found_where_they_are_and_nowhere_else() {
    let mut wrong = Vec::new();
    // With more than four threads reductions go through a tree.
    let threads = 6;
    for (number, (body, race)) in CASES.iter().enumerate() {
        let folder = folder(&format!("openmp-races-{number}"));
        build_source(&folder, "prog.c", &program(threads, body), "cc -O1 -fopenmp");
        record(&folder);
        let races: Value = json(&folder, "races")["races"].clone();
        if races.as_array().is_some_and(Vec::is_empty) == *race {
            wrong.push(format!("{threads} threads: {body}\n{races:#}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
