//! `--what-if`: what is asked before a run is answered right after it, as `workspan what-if` answers it from a recording.
//! To accept changes:
//!
//! ```sh
//! INSTA_UPDATE=always cargo test -p workspan --test integration what_if_run
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::signal::{kill, Signal};
use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{record, report, run, start, workspan};
use crate::openmp_build::{openmp, Compiler};
use crate::openmp_run::run_openmp;

/// Scenarios for `planted marked`.
const MARKED: [&str; 4] = ["middle=8", "src/causes.rs:1-999=4", "middle=2,src/causes.rs:1-999=inf", "nowhere.rs:1=2"];

fn json(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).expect("it was written")).expect("JSON")
}

/// The answers in a report.
fn answers(report: &Value) -> &[Value] {
    report["what_if"].as_array().map_or(&[], Vec::as_slice)
}

/// Each answer is that of the verb, to the last digit.
#[track_caller]
fn check_same(folder: &Path, scenarios: &[&str], answers: &[Value]) {
    assert_eq!(answers.len(), scenarios.len(), "{answers:#?}");
    for (scenario, answer) in scenarios.iter().zip(answers) {
        let number = answer["run"].to_string();
        let parts = scenario.split(',').flat_map(|part| ["-s", part]);
        let ended = run(workspan(folder).args(["what-if", "--json", "--run", &number]).args(parts));
        let expected: Value = serde_json::from_slice(&ended.check_success().stdout).expect("JSON");
        assert_eq!(answer, &expected, "{scenario}");
    }
}

/// The answers as they stand in the text, between the report and what comes after it.
fn told(stderr: &str) -> String {
    let lines = stderr.lines().skip_while(|line| !line.contains(" instead of "));
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with("recorded in ")).collect();
    lines.join("\n").trim_end().to_owned() + "\n"
}

fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

fn options<'a>(scenarios: &[&'a str]) -> Vec<&'a str> {
    scenarios.iter().flat_map(|scenario| ["--what-if", scenario]).collect()
}

#[track_caller]
fn check_nothing_else(folder: &Path, expected: &[&str]) {
    let mut left: Vec<String> = fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("one").file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, expected);
}

#[test]
fn answers_are_those_of_the_verb() {
    let folder = scratch("asked");
    for workers in ["1", "4"] {
        let mut command = workspan(&folder);
        command.args(["record", "--clock", "virtual", "--strands", "--json=report.json", "--workers", workers]);
        command.args(options(&MARKED)).arg("--").arg(build::program("planted")).arg("marked");
        run(&mut command).check_success();
        check_same(&folder, &MARKED, answers(&json(&folder.join("report.json"))));
    }
}

#[test]
fn repeated_runs_are_asked_the_typical_one() {
    let folder = scratch("asked-repeated");
    let mut all = vec!["--strands", "--repeat", "3", "--json=report.json"];
    all.extend(options(&MARKED[..1]));
    run(&mut record(&folder, &all, &build::program("planted"), &["marked"])).check_success();
    let report = json(&folder.join("report.json"));
    assert_eq!(answers(&report)[0]["run"], 2);
    assert!(answers(&report)[0]["text"].as_str().expect("text").ends_with("with middle=8 (run 2 of 3)"));
    check_same(&folder, &MARKED[..1], answers(&report));
}

#[test]
fn a_run_of_rayon_leaves_no_strands() {
    let folder = scratch("asked-rayon");
    let mut all = vec!["--html", "page.html"];
    all.extend(options(&MARKED));
    let ended = run(&mut record(&folder, &all, &build::program("planted"), &["marked"]));
    settings().bind(|| insta::assert_snapshot!("asked.rayon", told(&ended.check_success().err())));
    check_nothing_else(&folder, &["page.html", "workspan.wspan"]);
    let page = fs::read_to_string(folder.join("page.html")).expect("it was written");
    assert!(page.contains("<h2>What if</h2>") && page.contains("with middle=8</strong>"));
    // A recording is not asked again.
    assert_eq!(report(&folder, "workspan.wspan")["what_if"], Value::Null);
    // Nor is there a place beside a device.
    let mut all = vec!["-o", "/dev/null"];
    all.extend(options(&MARKED[..1]));
    let ended = run(&mut record(&folder, &all, &build::program("planted"), &["marked"]));
    assert!(told(&ended.check_success().err()).starts_with("parallelism 5.00 instead of 1.11"), "{}", ended.err());
}

#[test]
fn a_run_of_openmp_leaves_no_strands() {
    let folder = scratch("asked-openmp");
    let program = openmp("constructs.c", Compiler::Clang);
    let scenarios = scenarios_of_openmp();
    let scenarios: Vec<&str> = scenarios.iter().map(String::as_str).collect();
    for (also, left) in [(&["--strands"][..], true), (&[], false)] {
        let mut command = workspan(&folder);
        command.args(["record", "--clock", "virtual", "--workers", "2", "--json=report.json"]).args(also);
        command.args(options(&scenarios)).arg("--").arg(&program).arg("task_pair");
        run_openmp(command, &folder.join("stderr")).expect("it runs");
        assert_eq!(folder.join("workspan.strands").is_dir(), left);
        let report = json(&folder.join("report.json"));
        if left {
            check_same(&folder, &scenarios, answers(&report));
        }
        let first = &answers(&report)[0];
        // The task, and what goes on beside it up to the wait: 1 + (4 / 4 | 3 / 4) + 2.
        let spans = ["before", "after", "ceiling"].map(|when| first[when]["span_ns"].as_i64().expect("a number"));
        assert_eq!(spans, [7, 4, 3]);
    }
    // Names of files are then those of the repository.
    let mut command = workspan(&build::root());
    command.args(["record", "--clock", "virtual", "--workers", "2", "-o"]).arg(folder.join("workspan.wspan"));
    command.args(options(&scenarios)).arg("--").arg(&program).arg("task_pair");
    run_openmp(command, &folder.join("stderr")).expect("it runs");
    let text = told(&fs::read_to_string(folder.join("stderr")).expect("it was written"));
    settings().bind(|| insta::assert_snapshot!("asked.openmp", text));
}

/// The task of `task_pair`, and all of it.
fn scenarios_of_openmp() -> [String; 2] {
    let file = build::root().join("programs/openmp/constructs/tasks.h");
    let source = fs::read_to_string(file).expect("it is there");
    let first = source.lines().position(|line| line.starts_with("CASE(task_pair,")).expect("it is there") + 1;
    let lines = (first..).zip(source.lines().skip(first - 1));
    let task = lines.into_iter().find(|(_, line)| line.contains("omp task ")).expect("it has one").0;
    [format!("tasks.h:{task}=4"), format!("tasks.h:{first}-{}=inf", first + 13)]
}

#[test]
fn what_the_program_does_not_have_is_said_after_the_run() {
    let folder = scratch("asked-unknown");
    let all = options(&["nothing=8", "middle=8", "s-00000000/=2,middle=2"]);
    let ended = run(&mut record(&folder, &all, &build::program("planted"), &["marked"]));
    ended.check_error(
        2,
        &[
            "workspan: error: --what-if nothing=8: the program marked no region `nothing`",
            "--what-if s-00000000/=2,middle=2: the recording has no site `s-00000000`",
            "parallelism 5.00 instead of 1.11",
            "recorded in workspan.wspan",
        ],
    );
    assert_eq!(report(&folder, "workspan.wspan")["program"]["span_ns"], 9_000);
    // The program's own status goes before.
    let ended = run(&mut record(&folder, &options(&["nothing=8"]), &build::program("endings"), &["exit", "7"]));
    ended.check_error(7, &["marked no region `nothing`"]);
}

#[test]
fn what_is_badly_formed_is_said_before_the_run() {
    let folder = scratch("asked-badly");
    for (scenario, words) in [
        ("middle", "`middle` is not PART=FACTOR"),
        ("middle=8,", "`` is not PART=FACTOR"),
        ("middle=0.5", "`0.5` is not a factor"),
        ("a.rs:20-10=8", "ends before it begins"),
    ] {
        let refused = |ended: crate::command::Ended| {
            ended.check_error(2, &["--what-if", words]);
            assert_eq!(ended.out(), "");
        };
        refused(run(&mut record(&folder, &["--what-if", scenario], &build::program("endings"), &["exit", "0"])));
        let mut cargo = build::cargo_workspan();
        refused(run(cargo.args(["run", "--what-if", scenario]).current_dir(&folder)));
    }
    check_nothing_else(&folder, &[]);
}

#[test]
fn a_killed_program_is_answered_too() {
    let folder = scratch("asked-killed");
    let all = ["--what-if", "nowhere.rs:1=2", "--json=report.json"];
    let running = start(&mut record(&folder, &all, &build::program("endings"), &["hang"]));
    kill(running.wait_until_ready(), Signal::SIGKILL).expect("it runs");
    assert_eq!(running.wait().signal(), Some(Signal::SIGKILL as i32));
    let report = json(&folder.join("report.json"));
    let warnings = answers(&report)[0]["warnings"].to_string();
    assert!(warnings.contains("not all strands are known: the program's end was not seen"), "{warnings}");
    check_nothing_else(&folder, &["report.json", "workspan.wspan"]);
}

#[test]
fn cargo_passes_it_on() {
    let folder = scratch("asked-cargo");
    let report: PathBuf = folder.join("report.json");
    let mut command = build::cargo_workspan();
    command.args([
        "run",
        "--release",
        "--quiet",
        "--clock",
        "virtual",
        "--what-if",
        "middle=8",
        "--what-if=middle=inf",
    ]);
    command.arg("--target-dir").arg(build::target()).arg(format!("--json={}", report.display()));
    command.arg("-o").arg(folder.join("run.wspan")).args(["--", "marked"]);
    run(command.current_dir(build::root().join("programs/planted"))).check_success();
    let report = json(&report);
    let spans: Vec<&Value> = answers(&report).iter().map(|answer| &answer["after"]["span_ns"]).collect();
    assert_eq!(spans, [2_000, 1_000]);
}
