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

fn check(folder: &Path, compiler: &str, options: &[&str]) {
    let what = format!("{compiler} {options:?}");
    let all: Vec<&str> = ["-O2", "-fopenmp"].iter().chain(options).copied().collect();
    let program = compile(compiler, folder, "prog.c", TASKS, &all);
    let one_place = compiler == "gcc" || options.contains(&"-g");
    for workers in ["1", "2", "3"] {
        let ended = run(workspan(folder).args(["record", "--workers", workers, "--"]).arg(&program));
        ended.check_success();
        assert_eq!(ended.out(), "1377 4951 14757\n", "{what}, {workers}");
        let found = report(folder, "workspan.wspan");
        let team: u64 = workers.parse().expect("a number");
        // fib(14) makes a task in each of its calls but the 610 that make none. Without lines, clang's two calls for `if` are two places.
        let expected = if one_place { vec![team, 609] } else { vec![team, 188, 421] };
        assert_eq!(tasks_of(&found), expected, "{what}, {workers}: {}", found["sites"]);
        let program = &found["program"];
        assert!(program["first_use_ns"].as_i64().is_some_and(|took| took > 0), "{what}: {program}");
        assert!(program["work_ns"].as_i64().is_some_and(|work| work > 0), "{what}: {program}");
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

/// With the virtual clock nothing is taken out, as there is no time of the runtime's.
#[test]
fn the_virtual_clock_has_no_first_use() {
    let folder = scratch("openmp-first-virtual");
    let program = compile("gcc", &folder, "prog.c", TASKS, &["-O2", "-fopenmp"]);
    run(workspan(&folder).args(["record", "--clock", "virtual", "--workers", "2", "--"]).arg(&program)).check_success();
    assert_eq!(report(&folder, "workspan.wspan")["program"]["first_use_ns"], Value::Null);
}
