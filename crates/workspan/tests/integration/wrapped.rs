//! Threads whose function runs what it is given (`programs/threads/wrapped.c`): who has them created says more of them.

use std::fs;

use serde_json::Value;

use crate::build;
use crate::command::report;
use crate::openmp_run::number;
use crate::threads::{built, record};

/// Line, number, work and span of the threads of each site, in the order of the source.
fn threads(report: &Value) -> Vec<(i64, i64, i64, i64)> {
    let sites = report["sites"].as_array().expect("a list");
    let threads = sites.iter().filter(|site| site["kind"] == "thread");
    let row = |site: &Value| {
        let [line, instances] = [&site["line"], &site["instances"]].map(number);
        (line, instances, number(&site["work_ns"]), number(&site["span_ns"]))
    };
    let mut rows: Vec<_> = threads.map(row).collect();
    rows.sort_unstable();
    rows
}

fn line(begin: &str, end: &str) -> i64 {
    let source = fs::read_to_string(build::root().join("programs/threads/wrapped.c")).expect("it is there");
    let at = source.lines().position(|line| line.starts_with(begin) && line.ends_with(end));
    at.expect("it has this line") as i64 + 1
}

#[track_caller]
fn check(case: &str, expected: &[(i64, i64, i64, i64)]) {
    for (compiler, level) in [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O0"), ("clang-19", "-O2")] {
        let run = record(&built("wrapped", compiler, level), &[case], false).expect("it runs");
        let report = report(&run.folder, "workspan.wspan");
        assert_eq!(threads(&report), expected, "{compiler} {level}: {:#}", report["sites"]);
        assert_eq!(report["program"]["complete"], true, "{compiler} {level}");
    }
}

/// By the line that calls the wrapper, not by the function with which all begin.
#[test]
fn threads_of_a_wrapper_differ_by_who_calls_it() {
    check("roles", &[(line("", "// squeezers"), 3, 300, 100), (line("", "// collector"), 1, 10, 10)]);
}

/// Their span is what they ran until the program ended.
#[test]
fn threads_that_nobody_joins_have_ended() {
    check("left", &[(line("", "// servers"), 2, 400, 200)]);
}

/// A wrapper that is given the function with which the thread begins says less than that function.
#[test]
fn threads_of_a_wrapper_that_passes_their_function_on() {
    let expected = [(line("static void *counts", "{"), 1, 30, 30), (line("static void *calls", "{"), 2, 100, 50)];
    check("passed", &expected);
}
