//! Loops that a program shares among the threads of a team: work, the span with even iterations, and the verdict are those of
//! the program, with any team and each compiler. gcc puts the header of a static loop into the program; it is found there.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::build::scratch;
use crate::command::{report, run, workspan};
use crate::openmp_build::{openmp, Compiler};
use crate::openmp_run::{check_none, each, number, record, Threads, Wrong};
use crate::openmp_runner::compile;
use crate::verdicts::line;

const TEAMS: &[Threads] = &[Threads::Real(1), Threads::Real(2), Threads::Real(4), Threads::Real(8)];

/// Names, work and span with an iteration each.
fn cases(program: &Path) -> Vec<(String, i64, i64)> {
    let output = Command::new(program).arg("list").output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("names and numbers");
    let case = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse().expect("a number");
        (words[0].to_owned(), number(1), number(2))
    };
    text.lines().map(case).collect()
}

/// What the program can gain says the same for every team and compiler: the outcome, and the words that lead to it.
fn verdict(report: &Value) -> String {
    let verdict = &report["verdict"];
    format!("{} {}", verdict["outcome"], verdict["why"])
}

#[test]
fn static_loops_are_those_of_the_program() {
    let compilers = [Compiler::Clang, Compiler::Gcc];
    let mut runs = Vec::new();
    for compiler in compilers {
        let program = openmp("static.c", compiler);
        let cases = cases(&program);
        assert!(cases.len() >= 8, "{cases:?}");
        runs.extend(cases.into_iter().flat_map(|case| TEAMS.iter().map(move |team| (compiler, case.clone(), *team))));
    }
    let differences = each(&runs, |(compiler, (name, work, span), team)| {
        let report = match record(&openmp("static.c", *compiler), &[name], *team) {
            Ok(report) => report,
            Err(Wrong::Ours(message) | Wrong::Runtimes(message)) => return Some(message),
        };
        let program = &report["program"];
        let found = (number(&program["work_ns"]), number(&program["uniform"]["span_ns"]));
        let right = found == (*work, *span);
        let expected = if *work >= *span * 13 { "\"scales-well\" null" } else { "\"limited\" null" };
        let verdict = verdict(&report);
        (!right || verdict != expected).then(|| {
            format!("{name} by {compiler:?}, {team:?}: {found:?}, not {:?}; {verdict}, not {expected}", (work, span))
        })
    });
    check_none(&differences, &format!("{} runs", runs.len()));
}

/// What is a region and a loop, or sections, by one directive has a row of each: all work of all members is the loop's, at the directive.
#[test]
fn loops_that_begin_with_their_region_have_all_its_work() {
    let cases = [("dynamic", 2), ("dynamic", 3), ("guided", 2), ("runtime", 3), ("sections", 2)];
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let program = openmp("combined.c", compiler);
        for (case, team) in cases {
            let report = record(&program, &[case], Threads::Real(team)).unwrap_or_else(|wrong| panic!("{wrong}"));
            let kind = if case == "sections" { "sections" } else { "loop" };
            let rows = report["sites"].as_array().expect("a list").iter();
            let of_loop = rows.filter(|row| row["kind"] == kind).map(|row| (&row["line"], &row["work_ns"]));
            let found: Vec<(String, &Value)> =
                of_loop.map(|(line, work)| (format!("combined.c:{line}"), work)).collect();
            let place = line(Path::new("openmp/combined.c"), &format!("// {case}"));
            assert_eq!(found, [(place, &(1000 * team).into())], "{case} by {compiler:?}, {team} members");
        }
    }
}

/// Whatever libomp says of gcc's entry points, and whatever code gcc moves into the header of a loop: both are at the directive.
#[test]
fn places_are_those_of_the_directives() {
    let cases = [
        ("critical_bound", "critical", "others.h", "#pragma omp critical(bound)"),
        ("critical", "critical", "others.h", "#pragma omp critical"),
        ("loop_reduction", "loop", "worksharing.h", "#pragma omp parallel for reduction(+ : sum)"),
        ("parallel_task_reduction", "parallel", "clauses.h", "#pragma omp parallel reduction(task, + : sum)"),
    ];
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let program = openmp("constructs.c", compiler);
        for (case, kind, file, directive) in cases {
            for team in [1, 2, 3] {
                let report = record(&program, &[case], Threads::Real(team)).unwrap_or_else(|wrong| panic!("{wrong}"));
                let rows = report["sites"].as_array().expect("a list").iter().filter(|row| row["kind"] == kind);
                let found: Vec<String> = rows.map(|row| format!("{file}:{}", row["line"])).collect();
                let place = line(&Path::new("openmp/constructs").join(file), directive);
                assert_eq!(found, [place], "{case} by {compiler:?}, {team} members");
            }
        }
    }
}

/// Loops over iterators of the standard library, whose code stands where the loop begins.
#[test]
fn loops_over_iterators_are_in_the_program() {
    for compiler in [Compiler::ClangCpp, Compiler::GccCpp] {
        let program = openmp("constructs.cpp", compiler);
        for case in ["loop_over_iterators", "loop_over_range"] {
            let report = record(&program, &[case], Threads::Real(2)).unwrap_or_else(|wrong| panic!("{wrong}"));
            let rows = report["sites"].as_array().expect("a list").iter().filter(|row| row["kind"] == "loop");
            let places: Vec<&str> = rows.filter_map(|row| row["file"].as_str()).collect();
            assert!(
                matches!(places[..], [file] if file.ends_with("constructs.cpp")),
                "{case} by {compiler:?}: {places:?}"
            );
        }
    }
}

/// With virtual cores, functions that note where the program's code begins and ends stand in for the bodies of regions: arguments arrive,
/// in registers and on the stack, and results are as they are without. With the real clock: by the virtual one nothing is replaced.
#[test]
fn bodies_of_regions_get_their_arguments() {
    let folder = scratch("openmp-bodies");
    for compiler in [Compiler::Clang, Compiler::Gcc, Compiler::ClangCpp, Compiler::GccCpp] {
        let program = openmp("boundaries.c", compiler);
        let native = run(Command::new(&program).env("OMP_NUM_THREADS", "8")).out();
        let ended = run(workspan(&folder).args(["record", "--logical-cores", "8", "--"]).arg(&program));
        ended.check_success();
        assert_eq!((ended.out(), native.starts_with("1 ")), (native, true), "{compiler:?}");
        let report = report(&folder, "workspan.wspan");
        assert_eq!(
            (&report["program"]["complete"], &report["program"]["workers"]),
            (&true.into(), &8.into()),
            "{compiler:?}"
        );
    }
}

/// Each member waits for the one before it by looking at a flag, calling nothing, or by yielding.
const SPINS: &str = r#"
#include <omp.h>
#include <sched.h>
#include <stdio.h>
static int done[64];
int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        for (int row = 1; row <= 20; row++) {
            // The last member comes first, and nobody ends before it.
            while (me < omp_get_num_threads() - 1 && __atomic_load_n(&done[me + 1], __ATOMIC_ACQUIRE) < row)
                if (argc > 1) sched_yield();
            __atomic_store_n(&done[me], row, __ATOMIC_RELEASE);
        }
    }
    printf("%d\n", done[0]);
    return 0;
}
"#;

/// Whoever has the turn never gives it back, or does so by yielding: the program ends all the same, in some seconds.
#[test]
fn programs_that_spin_end_with_virtual_cores() {
    let folder = scratch("openmp-spins");
    for compiler in ["clang-19", "gcc"] {
        let program = compile(compiler, &folder, "prog.c", SPINS, &["-O2", "-g", "-fopenmp"]);
        for arguments in [&[][..], &["yield"]] {
            let ended =
                run(workspan(&folder).args(["record", "--logical-cores", "6", "--"]).arg(&program).args(arguments));
            ended.check_success();
            let found = report(&folder, "workspan.wspan");
            assert_eq!(
                (ended.out(), &found["program"]["workers"]),
                ("20\n".to_owned(), &6.into()),
                "{compiler} {arguments:?}"
            );
        }
    }
}
