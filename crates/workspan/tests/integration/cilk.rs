//! The programs by which Cilkprof was measured, in Rust and in C, with the real clock: each finds that its result is
//! right, and its report names its own lines.

use std::path::Path;

use crate::build::{program, scratch};
use crate::command::{report, run, workspan};
use crate::openmp_build::{cilk, Compiler};

/// Program, size and cutoff: small, and yet every kind of task that it has is made.
const CASES: &[[&str; 3]] = &[
    ["fib", "16", "0"],
    ["fib", "20", "10"],
    ["cholesky", "150", "16"],
    ["cilksort", "20000", "256"],
    ["fft", "4096", "64"],
    ["heat", "65", "8"],
    ["knapsack", "30", "0"],
    ["knapsack", "40", "20"],
    ["lu", "150", "16"],
    ["matmul", "130", "16"],
    ["nqueens", "8", "0"],
    ["nqueens", "9", "5"],
    ["rectmul", "100", "16"],
    ["strassen", "128", "16"],
];

#[test]
fn in_rust() {
    let program = program("cilk");
    for [name, size, cutoff] in CASES {
        check(&program, &[name, size, cutoff], &format!("src/{name}.rs"));
    }
}

#[test]
fn in_c_by_clang() {
    for [name, size, cutoff] in CASES {
        let file = format!("{name}.c");
        check(&cilk(&file, Compiler::Clang), &[size, cutoff], &file);
    }
}

#[test]
fn in_c_by_gcc() {
    for [name, size, cutoff] in CASES.iter().filter(|case| ["lu", "nqueens"].contains(&case[0])) {
        let file = format!("{name}.c");
        check(&cilk(&file, Compiler::Gcc), &[size, cutoff], &file);
    }
}

/// A run whose result is right, and whose tasks come from this file.
#[track_caller]
fn check(program: &Path, arguments: &[&str], file: &str) {
    // One for each program that was built: several tests run at a time.
    let built = program.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let folder = scratch(&format!("cilk-{built}-{}", file.replace('/', "-")));
    let mut command = workspan(&folder);
    command.args(["record", "--workers", "2", "--"]).arg(program).args(arguments);
    let ended = run(&mut command);
    let what = format!("{} {}", program.display(), arguments.join(" "));
    assert_eq!(ended.code(), Some(0), "{what}: {}", ended.err());
    assert!(ended.out().starts_with("peak_kib "), "{what}: {}", ended.out());
    let report = report(&folder, "workspan.wspan");
    let number = |name: &str| report["program"][name].as_f64().unwrap_or_default();
    assert!(number("work_ns") > 0.0 && number("parallelism") > 0.0, "{what}: {}", report["program"]);
    let mut sites = report["sites"].as_array().expect("a list").iter();
    let here = sites
        .any(|site| site["tasks"].as_u64() > Some(0) && site["file"].as_str().is_some_and(|path| path.ends_with(file)));
    assert!(here, "{what}: {}", report["sites"]);
}

/// A program that cannot know whether its result is right says that it is not.
#[test]
fn wrong_results() {
    for (program, arguments) in
        [(program("cilk"), &["nqueens", "17", "17", "1"][..]), (cilk("nqueens.c", Compiler::Clang), &["17", "17", "1"])]
    {
        let ended = run(std::process::Command::new(program).args(arguments));
        ended.check_error(1, &["wrong result"]);
    }
}
