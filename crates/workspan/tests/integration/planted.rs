//! Programs with a known reason not to scale: advice names it, what-if foretells what mending it gives.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{record, report, run, workspan};

/// Equal parts into which the fixed programs divide what was serial, and the factor of what-if.
const PIECES: f64 = 8.0;

/// The file with the programs, as debug information names it.
const FILE: &str = "src/causes.rs";

/// The line of `function` in which `text` stands, from 1.
fn line(function: &str, text: &str) -> u64 {
    let source = std::fs::read_to_string(build::root().join("programs/planted").join(FILE)).expect("it is there");
    let lines = (1..).zip(source.lines());
    let body = lines.skip_while(|(_, line)| !line.starts_with(&format!("fn {function}(")));
    let mut found = body.take_while(|(_, line)| *line != "}").filter(|(_, line)| line.contains(text));
    found.next().unwrap_or_else(|| panic!("`{text}` is not in {function}")).0
}

/// A recording of `planted ARGUMENTS` in `folder`.
fn recorded(folder: &Path, name: &str, arguments: &[&str], task_cost: &str) -> PathBuf {
    let file = folder.join(format!("{name}.wspan"));
    let options = ["--strands", "--virtual-task-cost", task_cost, "-o", file.to_str().expect("text")];
    run(&mut record(folder, &options, &build::program("planted"), arguments)).check_success();
    file
}

fn ask(folder: &Path, arguments: &[&str]) -> Value {
    let ended = run(workspan(folder).args(arguments).arg("--json"));
    serde_json::from_slice(&ended.check_success().stdout).expect("JSON")
}

/// What advice finds that is to be parallelised: the events around each piece, and its handle.
fn pieces(folder: &Path, file: &str, target: &str) -> Vec<([String; 2], String)> {
    let advice = ask(folder, &["advise", file, "--target", target, "--factor", "8"]);
    assert_eq!(advice["outcome"], "reached", "{advice:#}");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let findings = advice["findings"].as_array().expect("a list").iter();
    findings
        .filter(|finding| finding["kind"] == "parallelise")
        .map(|finding| {
            let piece = &finding["piece"];
            ([text(&piece["from"]), text(&piece["to"])], text(&finding["id"]))
        })
        .collect()
}

fn parallelism(value: &Value) -> f64 {
    value["parallelism"].as_f64().expect("a number")
}

/// What is predicted if all `parts` are this number of times faster.
fn foretold(folder: &Path, file: &str, parts: &[String]) -> f64 {
    let parts: Vec<String> = parts.iter().map(|part| format!("{part}={PIECES}")).collect();
    let mut arguments = vec!["what-if", file];
    arguments.extend(parts.iter().flat_map(|part| ["-s", part]));
    parallelism(&ask(folder, &arguments)["after"])
}

/// Advice finds the pieces between these events of a program; the prediction for them is reached, to the last digit.
#[track_caller]
fn check(name: &str, target: &str, planted: &[[String; 2]]) {
    let folder = scratch(&format!("planted-{name}"));
    recorded(&folder, "before", &[name], "0");
    let after = recorded(&folder, "after", &[name, "fixed"], "0");
    let found = pieces(&folder, "before.wspan", target);
    let (places, handles): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    assert_eq!(places, planted);
    let foretold = foretold(&folder, "before.wspan", &handles);
    let measured = parallelism(&report(&folder, after)["program"]);
    assert!((foretold - measured).abs() < 1e-6 * measured, "{foretold} predicted, {measured} measured");
    // Both recordings side by side say so, too.
    let parts: Vec<String> = handles.iter().map(|part| format!("{part}={PIECES}")).collect();
    let mut arguments = vec!["diff", "before.wspan", "after.wspan"];
    arguments.extend(parts.iter().flat_map(|part| ["-s", part]));
    let diff = ask(&folder, &arguments);
    let error = diff["prediction"]["error"].as_f64().expect("a share");
    assert!(error.abs() < 1e-6, "{diff:#}");
    assert_eq!(diff["program"]["span"]["change"], "less");
    assert_eq!(diff["program"]["work"]["change"], "same");
}

fn at(line: u64) -> String {
    format!("{FILE}:{line}")
}

fn begin() -> String {
    "begin".to_owned()
}

#[test]
fn a_serial_start() {
    // What is planted ends where the loop begins.
    let planted = line("serial_start", "divided(16_000, pieces);");
    check("serial-start", "20", &[[begin(), at(planted + 1)]]);
}

#[test]
fn a_serial_partition() {
    // At the top it is serial code, below it is in the branches of the join: both end where that forks.
    let planted = line("sort", "divided(items, pieces);");
    let piece = [begin(), at(planted + 1)];
    check("partition", "30", &[piece.clone(), piece]);
}

#[test]
fn a_heavy_pair() {
    let folder = scratch("planted-pair");
    recorded(&folder, "before", &["heavy-pair"], "0");
    let both = [line("heavy_pair", "divided(10_000, first)"), line("heavy_pair", "divided(10_000, second)")];
    let advice = ask(&folder, &["advise", "before.wspan", "--target", "30", "--factor", "8"]);
    let found: Vec<&Value> = advice["findings"].as_array().expect("a list").iter().collect();
    let found: Vec<&&Value> = found.iter().filter(|finding| finding["kind"] == "parallelise").collect();
    assert_eq!(found.len(), 2, "{advice:#}");
    for (finding, line) in found.iter().zip(both) {
        assert!(finding["text"].as_str().expect("text").contains(&at(line)), "{finding:#}");
        assert!(finding["caveats"].as_array().expect("a list").contains(&"only-together".into()), "{finding:#}");
    }
    let before = parallelism(&report(&folder, "before.wspan")["program"]);
    assert!((before - 5.2).abs() < 1e-9, "{before}");
    // One alone is of no use.
    let one = foretold(&folder, "before.wspan", &[at(both[0])]);
    let half = recorded(&folder, "half", &["heavy-pair-half", "fixed"], "0");
    let measured = parallelism(&report(&folder, half)["program"]);
    assert_eq!((one, measured), (before, before));
    // Both are.
    let two = foretold(&folder, "before.wspan", &both.map(at));
    let whole = recorded(&folder, "whole", &["heavy-pair", "fixed"], "0");
    let measured = parallelism(&report(&folder, whole)["program"]);
    assert!((two - 41.6).abs() < 1e-9 && (measured - 41.6).abs() < 1e-9, "{two} predicted, {measured} measured");
}

#[test]
fn tasks_too_fine() {
    let folder = scratch("planted-fine");
    recorded(&folder, "before", &["too-fine"], "5");
    let advice = ask(&folder, &["advise", "before.wspan"]);
    assert_eq!(advice["outcome"], "already-enough");
    let findings = advice["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), 1, "{advice:#}");
    let tasks = &findings[0]["tasks"];
    assert_eq!(findings[0]["kind"], "too-fine");
    let join = line("many_tasks", "rayon::join");
    assert!(findings[0]["text"].as_str().expect("text").contains(&at(join)), "{advice:#}");
    assert_eq!((&tasks["creation_ns"], &tasks["cutoff_ns"]), (&5.into(), &50.into()));
    // Tasks of the fixed program are above the cutoff.
    let after = recorded(&folder, "after", &["too-fine", "fixed"], "5");
    let report = report(&folder, &after);
    let overhead = report["program"]["task_overhead"].as_f64().expect("a share");
    assert!(overhead < 0.1, "{overhead}");
    let advice = ask(&folder, &["advise", "after.wspan"]);
    assert_eq!(advice["findings"], Value::Array(Vec::new()), "{advice:#}");
}

/// The row of a marked region: calls, work, span, what it has of the critical path.
fn row(report: &Value, name: &str) -> [i64; 4] {
    let rows = report["sites"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no `{name}` in {report:#}"));
    assert_eq!(row["kind"], "marked");
    ["instances", "work_ns", "span_ns", "critical_ns"].map(|key| row[key].as_i64().expect("a number"))
}

#[test]
fn a_marked_part_of_a_strand() {
    let folder = scratch("planted-marked");
    let before = recorded(&folder, "before", &["marked"], "0");
    let answer = report(&folder, before);
    let mark = line("marked", "workspan_probe::region");
    assert_eq!(row(&answer, "middle"), [1, 8_000, 8_000, 8_000]);
    let found = |text: &str| text.contains(&format!("{} marked `middle`", at(mark)));
    assert!(found(&run(workspan(&folder).args(["report", "before.wspan"])).check_success().out()));
    assert_eq!(answer["program"]["span_ns"], 9_000);
    let foretold = foretold(&folder, "before.wspan", &["middle".to_owned()]);
    let after = recorded(&folder, "after", &["marked", "fixed"], "0");
    let answer = report(&folder, after);
    assert_eq!(row(&answer, "middle")[..3], [1, 8_000, 1_000]);
    assert_eq!((foretold, parallelism(&answer["program"])), (5.0, 5.0));
}

#[test]
fn marks_that_do_not_nest() {
    let folder = scratch("planted-marks");
    for workers in ["1", "2", "4"] {
        let mut command = workspan(&folder);
        command.args(["record", "--strands", "--clock", "virtual", "--workers", workers, "--"]);
        run(command.arg(build::program("planted")).arg("marks")).check_success();
        let answer = report(&folder, "workspan.wspan");
        let program = &answer["program"];
        assert_eq!((&program["work_ns"], &program["span_ns"]), (&183.into(), &153.into()), "{answer:#}");
        // What is begun within a region ends with it.
        assert_eq!(row(&answer, "outer"), [1, 165, 135, 100]);
        assert_eq!(row(&answer, "both")[..2], [2, 60]);
        assert_eq!(row(&answer, "forgotten")[..2], [2, 60]);
        assert_eq!(row(&answer, "inner"), [1, 5, 5, 5]);
        let advice = ask(&folder, &["advise"]);
        assert_eq!(advice["warnings"], Value::Array(Vec::new()));
    }
}

#[test]
fn marked_functions() {
    let folder = scratch("planted-functions");
    for workers in ["1", "2", "4"] {
        let mut command = workspan(&folder);
        command.args(["record", "--clock", "virtual", "--workers", workers, "--"]);
        run(command.arg(build::program("planted")).arg("functions")).check_success();
        let answer = report(&folder, "workspan.wspan");
        // A call within another of the same function is part of that one.
        assert_eq!(row(&answer, "planted::causes::walk"), [7, 70, 30, 0]);
        // They run beside each other, in a program whose span is 30.
        assert_eq!(row(&answer, "planted::causes::leaf"), [7, 70, 30, 30]);
        let found =
            answer["sites"].as_array().expect("a list").iter().find(|row| row["name"] == "planted::causes::leaf");
        assert_eq!(found.expect("it is there")["line"], line("leaf", "fn leaf"));
    }
}
