//! Programs with a known reason not to scale to 16 processors: the verdict names it, and of the fixed ones says that they do.

use std::path::Path;

use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{record, report, run};
use crate::openmp_build::{openmp, Compiler};
use crate::openmp_run::{recorded, Threads};

/// What losses add up to: with the speedup, the number of processors. Tasks are created on one processor as well.
#[track_caller]
fn check_sums(verdict: &Value) {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{verdict:#}"));
    let losses = verdict["losses"].as_array().expect("a list");
    let losses = losses.iter().filter(|loss| loss["cause"] != "task-overhead");
    let lost: f64 = losses.map(|loss| number(&loss["speedup"])).sum();
    let all = number(&verdict["speedup"]) + lost;
    assert!((all - number(&verdict["processors"])).abs() < 1e-6, "{verdict:#}");
}

/// What a verdict says, in short: the outcome; if it is limited by what, where and why.
pub(crate) fn said(report: &Value) -> String {
    let verdict = &report["verdict"];
    check_sums(verdict);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let outcome = text(&verdict["outcome"]);
    match outcome.as_str() {
        "limited" => {
            let loss = &verdict["losses"][0];
            let part = &loss["parts"][0];
            let line = line_of(report, part["id"].as_str().unwrap_or_default());
            format!("{}: {} {line}", text(&loss["cause"]), text(&part["reason"]))
        }
        "inconclusive" => format!("inconclusive: {}", text(&verdict["why"])),
        _ => outcome,
    }
}

/// The last part of the file, and the line: of serial code, of where it ends or begins.
fn line_of(report: &Value, id: &str) -> String {
    let all = ["sites", "regions"].into_iter().flat_map(|rows| report[rows].as_array().expect("a list"));
    let Some(row) = all.into_iter().find(|row| row["id"] == id) else {
        return "?".to_owned();
    };
    let places = [row, &row["place"], &row["to"], &row["from"]];
    let place = places.into_iter().find(|place| place["line"].is_number()).expect("a place");
    let file = place["file"].as_str().unwrap_or_default();
    format!("{}:{}", file.rsplit('/').next().unwrap_or(file), place["line"])
}

/// `NAME:LINE` of the first line of a program that has `text`.
pub(crate) fn line(file: &Path, text: &str) -> String {
    let source = std::fs::read_to_string(build::root().join("programs").join(file)).expect("it is there");
    let mut found = (1..).zip(source.lines()).filter(|(_, line)| line.contains(text));
    let (line, _) = found.next().unwrap_or_else(|| panic!("`{text}` is not in {}", file.display()));
    format!("{}:{line}", file.file_name().expect("a file").to_string_lossy())
}

/// The verdict on `planted NAME`, and on the same without the reason.
#[track_caller]
fn check(name: &str, task_cost: &str, expected: &str) {
    check_any(name, task_cost, &[expected.to_owned()]);
}

/// One of these.
#[track_caller]
fn check_any(name: &str, task_cost: &str, expected: &[String]) {
    for strands in [false, true] {
        let folder = scratch(&format!("verdict-{name}-{strands}"));
        let verdict = |arguments: &[&str]| {
            let mut options = vec!["--virtual-task-cost", task_cost];
            options.extend(strands.then_some("--strands"));
            run(&mut record(&folder, &options, &build::program("planted"), arguments)).check_success();
            said(&report(&folder, "workspan.wspan"))
        };
        let found = verdict(&[name]);
        assert!(expected.contains(&found), "{name}, strands: {strands}: {found}, not {expected:?}");
        let mended = verdict(&[name, "fixed"]);
        // Bounds alone do not always decide.
        let bounds = !strands && mended == "inconclusive: only-bounds";
        assert!(bounds || mended == "scales-well", "{name}, fixed, strands: {strands}: {mended}");
    }
}

fn causes(text: &str) -> String {
    line(Path::new("planted/src/causes.rs"), text)
}

fn scaling(text: &str) -> String {
    line(Path::new("planted/src/scaling.rs"), text)
}

#[test]
fn serial_code() {
    let prefix = causes("(0..64).into_par_iter()");
    check("serial-start", "0", &format!("parallelism: serial-start {prefix}"));
    let middle = line_after(&scaling("divided(16_000, pieces);"));
    check("serial-middle", "0", &format!("parallelism: serial-between {middle}"));
    let end = scaling("(0..64).into_par_iter().for_each(|_| cost(1_000));");
    check("serial-end", "0", &format!("parallelism: serial-end {end}"));
    let fold = scaling("let parts: Vec<u64>");
    check("folds", "0", &format!("parallelism: serial-end {fold}"));
}

fn line_after(place: &str) -> String {
    let (file, line) = place.rsplit_once(':').expect("a line");
    format!("{file}:{}", line.parse::<u32>().expect("a number") + 1)
}

#[test]
fn sizes_of_tasks() {
    let fine = causes("rayon::join(|| halves");
    check("too-fine", "5", &format!("task-overhead: small-tasks {fine}"));
    let coarse = scaling("scope.spawn(move |_| cost(64_000 / tasks));");
    check("too-coarse", "0", &format!("parallelism: few-tasks {coarse}"));
    let uneven = scaling("scope.spawn(move |_| if task == 0");
    check("uneven", "0", &format!("parallelism: long-task {uneven}"));
    // Both are as long.
    let pair = ["first", "second"].map(|which| causes(&format!("scope.spawn(move |_| divided(10_000, {which}));")));
    check_any("heavy-pair", "0", &pair.map(|line| format!("parallelism: long-task {line}")));
}

#[test]
fn shapes() {
    let stages = scaling("pieces(tasks).for_each");
    check("shrinking", "0", &format!("parallelism: few-tasks {stages}"));
    let steps = scaling("pieces(count).for_each(|_| cost(3_200 / count));");
    check("narrow-steps", "0", &format!("parallelism: few-tasks {steps}"));
    let levels = scaling("let branch = ||");
    check("two-levels", "0", &format!("parallelism: few-tasks {levels}"));
    let chain = scaling("scope.spawn(move |scope| link(scope, left - 1, first));");
    check("chain", "0", &format!("parallelism: own-code {chain}"));
    let iterator = scaling("items.par_bridge()");
    check("shared-iterator", "0", &format!("parallelism: shared-iterator {iterator}"));
}

/// The verdict on a case of `scaling.c`, on 64 virtual cores: by totals and by strands.
#[track_caller]
fn check_openmp(case: &str, compiler: Compiler, expected: [&str; 2]) {
    let program = openmp("scaling.c", compiler);
    for (strands, expected) in [None, Some(0)].into_iter().zip(expected) {
        let (ended, verdict) = recorded(&program, &[case], Threads::Virtual(64), strands, |file| {
            said(&report(file.parent().expect("a folder"), file))
        });
        let label = format!("{case} by {compiler:?}, strands: {strands:?}");
        assert_eq!(ended, Ok(()), "{label}");
        assert_eq!(verdict, expected, "{label}");
    }
}

fn openmp_line(text: &str) -> String {
    line(Path::new("openmp/scaling.c"), text)
}

#[test]
fn openmp_programs() {
    let between = format!("parallelism: serial-between {}", line_after(&openmp_line("    cost(4000);")));
    let single = format!("parallelism: own-code {}", openmp_line("#pragma omp parallel // prepared by one"));
    let row = openmp_line("#pragma omp task depend(inout : row)");
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let lock = format!("lock-contention: lock {}", openmp_line("#pragma omp critical"));
        check_openmp("convoy", compiler, [&lock; 2]);
        check_openmp("between", compiler, [&between; 2]);
        check_openmp("single", compiler, [&single; 2]);
        let created = format!("parallelism: own-code {}", openmp_line("#pragma omp parallel // created by one"));
        check_openmp("created", compiler, [&created; 2]);
        let in_turn = format!("parallelism: in-turn {row}");
        check_openmp("row", compiler, [&in_turn; 2]);
        check_openmp("even", compiler, ["scales-well"; 2]);
        check_openmp("tree", compiler, ["scales-well"; 2]);
    }
    // Of gcc's loops only the region around them is known.
    let loops = [("coarse", "schedule(static, 16)", "few-tasks"), ("uneven", "// one is longer", "long-task")];
    for (case, text, reason) in loops {
        let at = openmp_line(text);
        let [chunks, reason] = ["chunks", reason].map(|reason| format!("parallelism: {reason} {at}"));
        check_openmp(case, Compiler::Clang, [&chunks, &reason]);
    }
}

/// What the first part of the first loss says.
fn words(report: &Value) -> String {
    report["verdict"]["losses"][0]["parts"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// A loop has as many chunks, or iterations, as the program has given it, whatever the team: what a member does before its first chunk is
/// none, and neither is all that the only member runs.
#[test]
fn loops_have_the_chunks_of_the_program() {
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let program = openmp("scaling.c", compiler);
        for threads in [Threads::Real(1), Threads::Real(2), Threads::Real(3), Threads::Virtual(64)] {
            let (ended, text) = recorded(&program, &["files"], threads, Some(0), |file| {
                words(&report(file.parent().expect("a folder"), file))
            });
            let label = format!("{compiler:?}, {threads:?}: {text}");
            assert_eq!(ended, Ok(()), "{label}");
            let eight = ["about 8 iterations at a time of the loop at ", "about 8 chunks of the loop at "];
            assert!(eight.iter().any(|start| text.starts_with(start)), "{label}");
        }
    }
}
