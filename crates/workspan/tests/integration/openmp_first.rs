//! What the runtime does the first time: calls that are bound and watched for that are made as ever, at the places where the others are.

use std::path::Path;

use serde_json::Value;

use crate::build::scratch;
use crate::command::{report, run, workspan};
use crate::openmp_runner::compile;

/// Tasks of one directive, more than are watched, some of which run at once; with all kinds of constructs around them.
const TASKS: &str = r#"
#include <stdio.h>
static int sum, loops, ordered;
static int fib(int n)
{
    int a, b;
    if (n < 2) return n;
#pragma omp task shared(a) firstprivate(n) if(n % 3)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}
int main(void)
{
    int found = 0;
#pragma omp parallel
    {
#pragma omp single
        found = fib(14);
#pragma omp for schedule(dynamic, 3) reduction(+ : loops)
        for (int i = 0; i < 100; i++) loops += i;
#pragma omp critical
        sum++;
#pragma omp barrier
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < 10; i++)
#pragma omp ordered
            ordered = ordered * 3 + i;
#pragma omp sections
        {
#pragma omp section
            found += 1000;
#pragma omp section
            loops += 1;
        }
#pragma omp taskgroup
        {
#pragma omp task if(0)
            __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
        }
    }
    printf("%d %d %d\n", found, loops, ordered);
    return sum % 2;
}
"#;

fn tasks_of(found: &Value) -> Vec<u64> {
    let sites = found["sites"].as_array().expect("a list").iter();
    let mut counts: Vec<u64> =
        sites.filter(|site| site["kind"] == "task").map(|site| site["tasks"].as_u64().expect("a number")).collect();
    counts.sort_unstable();
    counts
}

/// Kind and place of each site. Locks have rows of their own where there are several at a place.
fn places(found: &Value) -> Vec<String> {
    let sites = found["sites"].as_array().expect("a list").iter();
    let place = |site: &Value| format!("{} {} {} {}", site["kind"], site["file"], site["line"], site["code"]);
    let mut places: Vec<String> = sites.map(place).collect();
    places.sort();
    places
}

fn check(folder: &Path, compiler: &str, options: &[&str]) {
    let what = format!("{compiler} {options:?}");
    let all: Vec<&str> = ["-O2", "-fopenmp"].iter().chain(options).copied().collect();
    let program = compile(compiler, folder, "prog.c", TASKS, &all);
    let one_place = compiler == "gcc" || options.contains(&"-g");
    for workers in ["1", "2", "3"] {
        let recorded = |clock: &str| {
            let mut command = workspan(folder);
            let ended = run(command.args(["record", "--clock", clock, "--workers", workers, "--"]).arg(&program));
            ended.check_success();
            assert_eq!(ended.out(), "1377 4951 14757\n", "{what}, {workers}");
            report(folder, "workspan.wspan")
        };
        let found = recorded("real");
        let team: u64 = workers.parse().expect("a number");
        // fib(14) makes a task in each of its calls but the 610 that make none. Without lines, clang's two calls for `if` are two places.
        let expected = if one_place { vec![team, 609] } else { vec![team, 188, 421] };
        assert_eq!(tasks_of(&found), expected, "{what}, {workers}: {}", found["sites"]);
        let program = &found["program"];
        assert!(program["first_use_ns"].as_i64().is_some_and(|took| took > 0), "{what}: {program}");
        // `main` does nothing before the region: the runtime reads its environment, and looks at the machine.
        let start = found["regions"].as_array().expect("a list").iter().find(|region| region["prefix"] == true);
        let start = start.and_then(|start| start["work_ns"].as_i64()).expect("code before the first region");
        assert!(program["first_use_ns"].as_i64() > Some(start), "{what}: {start} ns before the region, {program}");
        // With the virtual clock nothing is watched, as there is no time of the runtime's.
        let exact = recorded("virtual");
        assert_eq!(exact["program"]["first_use_ns"], Value::Null, "{what}");
        assert_eq!(places(&found), places(&exact), "{what}, {workers}");
    }
}

#[test]
fn first_creations_stand_where_all_others_do() {
    let folder = scratch("openmp-first");
    for compiler in ["clang-19", "gcc"] {
        // With lines and without, with calls that are bound when they are made or from the start, and by way of no table.
        for options in [&["-g"][..], &[], &["-g", "-Wl,-z,now"], &["-Wl,-z,lazy", "-no-pie"], &["-fno-plt"]] {
            check(&folder, compiler, options);
        }
    }
}

/// By what clang's code calls before the region, and by functions of the runtime that the program calls.
#[test]
fn whatever_starts_the_runtime_is_no_work() {
    let folder = scratch("openmp-start");
    for (name, before, clause) in [
        ("clause", "", "num_threads(2)"),
        ("condition", "", "if(argc > 0)"),
        ("threads", "omp_set_num_threads(2);", ""),
        ("dynamic", "omp_set_dynamic(0);", ""),
        ("clock", "double since = omp_get_wtime(); if (since < 0) return 1;", ""),
    ] {
        let code = format!(
            "#include <omp.h>\nint sum;\nint main(int argc, char **argv)\n{{\n    {before}\n#pragma omp parallel {clause}\n\
             #pragma omp atomic\n    sum++;\n    return argc > 9;\n}}\n"
        );
        for compiler in ["clang-19", "gcc"] {
            let program = compile(compiler, &folder, &format!("{name}.c"), &code, &["-O2", "-g", "-fopenmp"]);
            run(workspan(&folder).args(["record", "--workers", "2", "--"]).arg(&program)).check_success();
            let found = report(&folder, "workspan.wspan");
            let start = found["regions"].as_array().expect("a list").iter().find(|region| region["prefix"] == true);
            let start = start.and_then(|start| start["work_ns"].as_i64()).expect("code before the first region");
            let took = found["program"]["first_use_ns"].as_i64();
            assert!(took > Some(start), "{compiler}, {name}: {start} ns before the region, {took:?} for the start");
        }
    }
}
