//! Programs that ask how many threads there are, and take another path with one: the report says so, and how to see the other path;
//! one worker of a pool that says it has eight takes that, with the same numbers as with eight workers.

use std::path::Path;

use serde_json::{json, Value};

use crate::build::{self, scratch};
use crate::command::{report, run, warnings, workspan};
use crate::openmp_build::{openmp, Compiler};
use crate::tbb::by_gcc;

/// The report of a run with these options, and what the program printed.
fn asked(folder: &Path, options: &[&str], program: &Path, arguments: &[&str]) -> (Value, String) {
    let mut command = workspan(folder);
    command.args(["record", "--clock", "virtual"]).args(options).arg("--").arg(program).args(arguments);
    let ended = run(&mut command);
    ended.check_success();
    (report(folder, "workspan.wspan"), ended.out())
}

/// Work and span, without what else the program does.
fn numbers(report: &Value, besides: i64) -> [i64; 2] {
    let program = &report["program"];
    ["work_ns", "span_ns"].map(|name| program[name].as_i64().expect("a number") - besides)
}

fn message(report: &Value) -> &str {
    report["warnings"][0]["message"].as_str().expect("a text")
}

const SERIAL: [i64; 2] = [8000, 8000];
const PARALLEL: [i64; 2] = [8000, 1000];

#[test]
fn rayon_programs() {
    let folder = scratch("asked-threads-rayon");
    let program = build::program("endings");
    let ask = |options: &[&str]| asked(&folder, options, &program, &["asks"]).0;
    let one = ask(&["--workers", "1"]);
    assert_eq!(numbers(&one, 0), [10_000, 9_000], "a join of two branches of 1000 each, and the serial path");
    assert_eq!(warnings(&one), ["answered-one-thread", "virtual-clock"]);
    let text = message(&one);
    assert!(text.contains("rayon::current_num_threads") && text.contains("--workers 1 --logical-cores 16"), "{text}");
    for (options, answer) in [(&["--workers", "1", "--logical-cores", "8"][..], 8), (&["--workers", "3"], 3)] {
        let found = ask(options);
        assert_eq!(numbers(&found, 1000), [9000, 1000], "{options:?}");
        assert_eq!(warnings(&found), ["virtual-clock"], "{options:?}");
        let by = json!({ "answer": answer, "by": ["rayon::current_num_threads"] });
        assert_eq!(found["program"]["asked_threads"], by, "{options:?}");
        assert_eq!(found["program"]["workers"], options[1].parse::<u32>().expect("a number"));
    }
}

/// Rayon's own parts ask, too, which is not the program's doing.
#[test]
fn rayon_itself_does_not_count() {
    let folder = scratch("asked-threads-nothing");
    let (found, _) = asked(&folder, &["--workers", "1"], &build::program("shapes"), &["par-bridge"]);
    assert_eq!(found["program"]["asked_threads"], Value::Null);
}

#[test]
fn openmp_programs() {
    let folder = scratch("asked-threads-openmp");
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let program = openmp("asked.c", compiler);
        let ask = |options: &[&str], question| asked(&folder, options, &program, &[question]);
        let (one, printed) = ask(&["--workers", "1"], "max");
        assert_eq!((numbers(&one, 0), printed.trim()), (SERIAL, "1"), "{compiler:?}");
        assert!(warnings(&one).contains(&"answered-one-thread"), "{compiler:?}");
        let text = message(&one);
        assert!(text.contains("omp_get_max_threads") && text.contains("--logical-cores 16: a team of 16"), "{text}");
        for options in [&["--workers", "1", "--logical-cores", "8"][..], &["--logical-cores", "8"], &["--workers", "8"]]
        {
            let (found, printed) = ask(options, "max");
            assert_eq!((numbers(&found, 0), printed.trim()), (PARALLEL, "8"), "{compiler:?} {options:?}");
            assert_eq!(warnings(&found), ["virtual-clock"], "{compiler:?} {options:?}");
            let by = json!({ "answer": 8, "by": ["omp_get_max_threads"] });
            assert_eq!(found["program"]["asked_threads"], by, "{compiler:?} {options:?}");
        }
        let (found, printed) = ask(&["--workers", "1"], "processors");
        let by = json!({ "answer": printed.trim().parse::<u32>().expect("a number"), "by": ["omp_get_num_procs"] });
        assert_eq!(found["program"]["asked_threads"], by, "{compiler:?}");
        let (found, _) = ask(&["--workers", "1"], "raised");
        assert_eq!(found["program"]["asked_threads"]["answer"], 1, "{compiler:?}");
        assert_eq!(warnings(&found), ["virtual-clock"], "{compiler:?}: it got eight threads");
        let (found, _) = ask(&["--workers", "1"], "nothing");
        assert_eq!(found["program"]["asked_threads"], Value::Null, "{compiler:?}");
    }
}

#[test]
fn tbb_programs() {
    let folder = scratch("asked-threads-tbb");
    let program = by_gcc("asked.cpp");
    let (one, printed) = asked(&folder, &["--workers", "1"], &program, &[]);
    assert_eq!((numbers(&one, 0), printed.trim()), (SERIAL, "1"));
    assert!(message(&one).contains("tbb::this_task_arena::max_concurrency"));
    let (found, printed) = asked(&folder, &["--workers", "1", "--logical-cores", "8"], &program, &[]);
    assert_eq!((numbers(&found, 0), printed.trim()), (PARALLEL, "8"));
    assert_eq!(warnings(&found), ["virtual-clock"]);
}
