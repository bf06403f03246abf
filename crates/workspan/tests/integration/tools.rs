//! Tools: what a library that is loaded into a program learns of its tasks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use workspan_testkit::oracle::Kind;
use workspan_testkit::{evaluate, generate};

use crate::build::{self, scratch};
use crate::call_sums;
use crate::command::{run, workspan};
use crate::openmp_build::{openmp, Compiler};
use crate::openmp_record;

/// The tool that checks the calls that it receives.
pub(crate) fn checker() -> PathBuf {
    let target = build::target().join("tools");
    let mut command = build::cargo();
    command.args(["build", "--release", "--quiet", "--locked", "--target-dir"]).arg(&target);
    command.arg("--manifest-path").arg(build::root().join("programs/checker/Cargo.toml"));
    let built = command.output().expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join("release/libchecker.so")
}

/// The example.
fn histogram(folder: &Path) -> PathBuf {
    let library = folder.join("libtask-histogram.so");
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(build::root().join("include"));
    command.arg("-o").arg(&library).arg(build::root().join("examples/task-histogram/task-histogram.c"));
    let built = command.output().expect("there is a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    library
}

/// What the checker has reported: threads, branches, spawned, members, without parent, open, faults.
fn told(text: &str) -> [u64; 7] {
    let line = text.lines().find(|line| line.starts_with("checker: threads ")).unwrap_or_else(|| panic!("{text}"));
    let numbers: Vec<u64> =
        line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{line}"))
}

/// Checks that the strands of the recording at `file` have the numbers that the tool has seen, `all` of them or most, and each
/// at most once.
fn check_numbers(file: &Path, numbers: &Path, all: bool, label: &str) {
    let text = std::fs::read_to_string(numbers).expect("the tool has written it");
    let told: BTreeSet<u64> = text.lines().map(|line| line.parse().expect("a number")).collect();
    let (mut recorded, mut count) = (BTreeSet::new(), 0);
    let each = |some: &[Option<u64>]| {
        count += some.iter().flatten().count();
        recorded.extend(some.iter().flatten());
    };
    workspan_store::seen(&workspan_store::folder_of(file), 1, each).expect("there are strands");
    assert_eq!(count, recorded.len(), "{label}: a number stands twice");
    let missing: Vec<&u64> = told.difference(&recorded).collect();
    let allowed = if all { 0 } else { told.len() / 2 };
    assert!(!told.is_empty() && missing.len() <= allowed, "{label}: {missing:?} of {} are in no row", told.len());
}

#[test]
fn random_programs() {
    let folder = scratch("tools-random");
    let (program, tool) = (build::program("random"), checker());
    let tool = tool.to_str().expect("text");
    for seed in 0..60 {
        let expected = evaluate(&generate(seed));
        let tasks = |kinds: &[Kind]| -> u64 {
            let sites = expected.sites.iter().filter(|((kind, _), _)| kinds.contains(kind));
            sites.map(|(_, answer)| answer.tasks).sum()
        };
        let bridges = expected.sites.keys().any(|(kind, _)| *kind == Kind::ParBridge);
        for workers in ["1", "2", "4"] {
            let mut command = workspan(&folder);
            command.args([
                "record",
                "--clock",
                "virtual",
                "--logical-cores",
                "8",
                "--workers",
                workers,
                "--tool",
                tool,
            ]);
            let numbers = folder.join("numbers");
            command.env("CHECKER_STRANDS", &numbers);
            let both = seed % 2 == 1;
            if both {
                // Neither is in the other's way.
                command.arg("--strands");
            }
            let ended = run(command.arg("--").arg(&program).arg(seed.to_string()));
            if both {
                // A turn at a shared iterator is no row of its own.
                let file = folder.join("workspan.wspan");
                check_numbers(&file, &numbers, !bridges, &format!("program {seed}, {workers} workers"));
            }
            let [_, branches, spawned, members, orphans, open, faults] = told(&ended.err());
            let label = format!("program {seed}, {workers} workers: {}", ended.err());
            assert_eq!((faults, open, members), (0, 0, 0), "{label}");
            assert_eq!(spawned, tasks(&[Kind::ScopeSpawn, Kind::Spawn]), "{label}");
            // Only the program itself has none.
            assert_eq!(orphans, 1, "{label}");
            // Threads that share an iterator are branches, too.
            let joins = tasks(&[Kind::Join, Kind::ParIter]);
            assert!(if bridges { branches >= joins } else { branches == joins }, "{joins}, {label}");
        }
    }
}

#[test]
fn openmp_programs() {
    let folder = scratch("tools-openmp");
    let tool = checker();
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let program = openmp("constructs.c", compiler);
        for threads in ["1", "2", "4"] {
            for (case, tasks) in [("taskgroup_nested", 2), ("marked_functions", 3), ("marks", 2)] {
                let mut command = workspan(&folder);
                command.args(["record", "--clock", "virtual", "--workers", threads, "--tool"]).arg(&tool);
                let file = folder.join("both.wspan");
                let steal = call_sums::STEAL.to_string();
                command.args(["--steal", steal.as_str(), "--strands", "-o"]).arg(&file);
                let numbers = folder.join("numbers");
                command.env("CHECKER_STRANDS", &numbers);
                let ended = run(command.arg("--").arg(&program).arg(case));
                check_numbers(&file, &numbers, true, &format!("{case}, {threads} threads"));
                assert_eq!(openmp_record::compare(&file, false), Ok(()), "{case}, {threads} threads");
                let [_, branches, spawned, members, _, _, faults] = told(&ended.err());
                let label = format!("{case}, {threads} threads: {}", ended.err());
                assert_eq!((branches, faults), (0, 0), "{label}");
                assert_eq!((spawned, members), (tasks, threads.parse().expect("a number")), "{label}");
            }
        }
    }
}

#[test]
fn the_example() {
    let folder = scratch("tools-example");
    let tool = histogram(&folder);
    let mut command = workspan(&folder);
    command.args(["record", "--workers", "2", "--tool"]).arg(&tool).arg("--");
    let ended = run(command.arg(build::program("bench")).args(["tree", "6", "100"]));
    let text = ended.err();
    let row =
        |place: &str| text.lines().find(|line| line.ends_with(place)).unwrap_or_else(|| panic!("{text}")).to_owned();
    let source = std::fs::read_to_string(build::root().join("programs/bench/src/loads.rs")).expect("it is there");
    let lines: Vec<usize> =
        (1..).zip(source.lines()).filter(|(_, line)| line.contains("rayon::join(")).map(|(n, _)| n).collect();
    let counts: Vec<String> = lines
        .iter()
        .filter_map(|line| text.lines().find(|row| row.ends_with(&format!("src/loads.rs:{line}"))))
        .map(|row| row.split_whitespace().next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(counts, ["1", "63"], "{text}");
    assert!(row("(the program)").trim_start().starts_with(char::is_numeric), "{text}");
}

#[test]
fn libraries_that_are_no_tools() {
    let folder = scratch("tools-none");
    let program = build::program("shapes");
    let started = |options: &[&str]| {
        let mut command = workspan(&folder);
        run(command.arg("record").args(options).arg("--").arg(&program).arg("join"))
    };
    started(&["--tool", "missing.so"]).check_error(2, &["missing.so"]);
    std::fs::write(folder.join("text.so"), "no library").expect("it can be written");
    let ended = started(&["--tool", "text.so"]);
    assert!(ended.err().contains("warning: the tool text.so was not loaded"), "{}", ended.err());
}
