//! OpenMP programs that end, or start other processes, in unusual ways: their status is their own, and what had run by then
//! is there.

use std::process::Command;

use crate::build::scratch;
use crate::command::{report, run, warnings, workspan};
use crate::openmp_build::{openmp, Compiler};

/// Ticks up to the task, and of it all.
const BEFORE: i64 = 105;
const ALL: i64 = 1_115;

#[test]
fn endings() {
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        for (how, work, warning) in [
            ("exit-inside", 1_105, "exit-inside-region"),
            // Of a process that is gone at once, the strands that had not ended are lost.
            ("exit-at-once", BEFORE, "end-unseen"),
            ("abort", BEFORE, "killed"),
            ("kill", BEFORE, "killed"),
            ("exec", ALL, "end-unseen"),
            ("fork", ALL, "other-processes"),
            // Its child does nothing of what is profiled.
            ("fork-inside", ALL, ""),
            ("handler", ALL, ""),
            ("thread-left", ALL, "still-running"),
            ("", ALL, ""),
        ] {
            check(compiler, how, work, warning);
        }
    }
}

#[track_caller]
fn check(compiler: Compiler, how: &str, work: i64, warning: &str) {
    let folder = scratch("openmp-endings");
    let program = openmp("endings.c", compiler);
    let ended = run(workspan(&folder).args(["record", "--clock", "virtual", "--"]).arg(&program).arg(how));
    // In a child of its own, gcc's runtime would wait for threads that fork has not brought along.
    let status = if how == "fork" { Some(5) } else { run(Command::new(&program).arg(how)).code() };
    assert_eq!(ended.code(), status, "{compiler:?} {how}: {}", ended.err());
    let found = report(&folder, "workspan.wspan");
    // A crash may be the fault of the runtime that stands in for gcc's.
    let swapped = if compiler == Compiler::Gcc && how == "abort" { "swapped-runtime" } else { "" };
    let mut expected = vec![warning, "virtual-clock", swapped];
    expected.retain(|code| !code.is_empty());
    assert_eq!(warnings(&found), expected, "{compiler:?} {how}");
    let program = &found["program"];
    assert_eq!((&program["work_ns"], &program["span_ns"]), (&work.into(), &work.into()), "{compiler:?} {how}");
    assert_eq!(program["complete"], ["", "other-processes"].contains(&warning), "{compiler:?} {how}");
}
