//! Threads whose function runs what it is given (`programs/threads/wrapped.c`): who has them created says more of them.

use std::fs;

use serde_json::Value;

use crate::build;
use crate::command::report;
use crate::openmp_run::number;
use crate::threads::{built, record};

/// Place, number, work and span of the threads of each site, in the order of the source. The place is a line where threads are created, or the
/// function that they run: its first line may be that of what is inlined into it.
fn threads(report: &Value) -> Vec<(String, i64, i64, i64)> {
    let sites = report["sites"].as_array().expect("a list");
    let mut threads: Vec<&Value> = sites.iter().filter(|site| site["kind"] == "thread").collect();
    threads.sort_by_key(|site| {
        (number(&site["line"]), number(&site["work_ns"]).wrapping_neg(), site["function"].as_str().map(str::to_owned))
    });
    let row = |site: &&Value| {
        let place = match site["function"].as_str() {
            Some("main") => site["line"].to_string(),
            function => function.unwrap_or_default().to_owned(),
        };
        (place, number(&site["instances"]), number(&site["work_ns"]), number(&site["span_ns"]))
    };
    threads.iter().map(row).collect()
}

/// The line that ends so.
fn line(end: &str) -> String {
    let source = fs::read_to_string(build::root().join("programs/threads/wrapped.c")).expect("it is there");
    (source.lines().position(|line| line.ends_with(end)).expect("it has this line") + 1).to_string()
}

#[track_caller]
fn check(case: &str, expected: &[(&str, i64, i64, i64)]) {
    let expected: Vec<_> =
        expected.iter().map(|(place, n, work, span)| ((*place).to_owned(), *n, *work, *span)).collect();
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
    check("roles", &[(&line("// squeezers"), 3, 300, 100), (&line("// collector"), 1, 10, 10)]);
}

/// Their span is what they ran until the program ended.
#[test]
fn threads_that_nobody_joins_have_ended() {
    check("left", &[(&line("// servers"), 2, 400, 200)]);
}

/// A wrapper that is given the function with which the thread begins says less than that function, and that less than the one which it is given.
#[test]
fn threads_of_a_wrapper_that_passes_their_function_on() {
    check("passed", &[("squeeze", 1, 50, 50), ("collect", 1, 50, 50), ("counts", 1, 30, 30)]);
}
