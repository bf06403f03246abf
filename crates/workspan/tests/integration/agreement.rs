//! One question, one answer: what every command says of the same recording, on random strands with waits, and on what is
//! stored.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{run, workspan};
use crate::fixtures::{fixtures, FIXTURES};
use crate::openmp_build::{openmp, Compiler};
use crate::rows;
use crate::strand_verbs::recorded;

const PROCESSORS: u32 = 16;

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let ended = run(workspan(folder).args(arguments).arg("--json"));
    serde_json::from_slice(&ended.check_success().stdout).expect("it is JSON")
}

/// What the page draws of 1, 2, 4 … processors: bounds of the speedup; greedy, the least, the median and the most by work stealing and,
/// of loops, the median with even iterations.
fn page(folder: &Path) -> [Vec<Vec<f64>>; 2] {
    // In the recording's own folder: tests beside this one draw pages, too.
    run(workspan(folder).args(["report", "--html", "page.html"])).check_success();
    let text = fs::read_to_string(folder.join("page.html")).expect("it was written");
    ["bounds", "predicted"].map(|what| drawn(&text, what))
}

fn drawn(page: &str, what: &str) -> Vec<Vec<f64>> {
    let name = format!("\"{what}\":");
    let from = page.find(&name).expect("the page has them") + name.len();
    let mut values = serde_json::Deserializer::from_str(&page[from..]).into_iter::<Value>();
    let rows = values.next().expect("there is a list").expect("of lists");
    let row = |row: &Value| row.as_array().expect("a list").iter().map(|n| n.as_f64().expect("a number")).collect();
    rows.as_array().expect("a list").iter().map(row).collect()
}

/// The dots of the page are what `predict` says.
#[track_caller]
fn check_dots(label: &str, folder: &Path, dots: &[Vec<f64>]) {
    let predict = json(folder, &["predict", "-p", "1..1024"]);
    let points = predict["points"].as_array().expect("there are some");
    assert_eq!(dots.len(), points.len(), "{label}");
    for (dot, point) in dots.iter().zip(points) {
        let at = &point["processors"];
        for (number, what) in
            dot.iter().zip(["greedy_speedup", "speedup_min", "speedup", "speedup_max", "even_speedup"])
        {
            same(label, &format!("the page's {what} on {at}"), &Value::from(*number), &point[what]);
        }
        assert!(dot.len() >= 4, "{label}");
    }
}

#[track_caller]
fn same(label: &str, what: &str, found: &Value, expected: &Value) {
    match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => {
            // Costs are summed up in nanoseconds here, in parts of them there.
            let off = (found - expected).abs() / expected.abs().max(1.0);
            assert!(off < 1e-6, "{label}: {what} is {found}, not {expected}");
        }
        _ => assert_eq!(found, expected, "{label}: {what}"),
    }
}

#[track_caller]
fn check(label: &str, folder: &Path) {
    let report = json(folder, &["report"]);
    let parallelism = &report["program"]["parallelism"];
    if !parallelism.is_number() {
        return;
    }
    assert!(parallelism.as_f64() >= Some(1.0), "{label}: {parallelism}");
    let all = PROCESSORS.to_string();
    let predict = json(folder, &["predict", "-p", &all]);
    let calls = json(folder, &["calls"]);
    let advise = json(folder, &["advise"]);
    let what_if = json(folder, &["what-if", "-s", "src/a.rs:1-1000=1"]);
    let diff = json(folder, &["diff", "workspan.wspan", "workspan.wspan"]);
    for (what, found) in [
        ("the verdict's parallelism", &report["verdict"]["parallelism"]),
        ("predict's most speedup", &predict["program"]["most_speedup"]),
        ("calls' parallelism", &calls["program"]["parallelism"]),
        ("advise's parallelism", &advise["parallelism"]),
        ("what-if's parallelism", &what_if["before"]["parallelism"]),
        ("diff's parallelism", &diff["program"]["parallelism"]["before"]["median"]),
    ] {
        same(label, what, found, parallelism);
    }
    let [curve, dots] = page(folder);
    check_dots(label, folder, &dots);
    let most = curve.last().expect("there are some")[1];
    // Of loops and locks both ends are known: the curve has the upper one.
    let uniform = &report["program"]["uniform"]["parallelism"];
    same(label, "calls' other end", &calls["program"]["uniform_parallelism"], uniform);
    let highest = if uniform.is_null() { parallelism } else { uniform };
    // A thousand processors may be fewer than the program can use.
    let bounded = highest.as_f64().expect("checked").min(1024.0);
    assert!((most - bounded).abs() < 1e-6 * bounded, "{label}: the curve ends at {most}, not {highest}");
    assert!(curve.iter().all(|edges| 1.0 - 1e-9 <= edges[0] && edges[0] <= edges[1]), "{label}: {curve:?}");
    for (what, found) in [
        ("predict's span", &predict["program"]["span_ns"]),
        ("calls' span", &calls["program"]["span_ns"]),
        ("what-if's span", &what_if["before"]["span_ns"]),
    ] {
        same(label, what, found, &report["program"]["span_ns"]);
    }
    same(label, "time on one processor", &predict["program"]["recorded_ns"], &report["program"]["one_processor_ns"]);
    let (verdict, point) = (&report["verdict"], &predict["points"][0]);
    if verdict["even_iterations"] == true {
        // Predictions know the chunks alone, and that is the lower end of the verdict's range.
        same(label, "predicted speedup", &verdict["slowest"], &point["speedup"]);
        same(label, "that with even iterations", &verdict["speedup"], &point["even_speedup"]);
        let even = &report["program"]["uniform"]["parallelism"];
        same(label, "what-if's with even iterations", &what_if["before"]["even_parallelism"], even);
        if !advise["even_parallelism"].is_null() {
            same(label, "advise's with even iterations", &advise["even_parallelism"], even);
        }
        assert!(verdict["speedup"].as_f64() >= verdict["slowest"].as_f64(), "{label}: {verdict:#}");
    } else {
        same(label, "predicted time", &verdict["time_ns"], &point["time_ns"]);
        same(label, "predicted speedup", &verdict["speedup"], &point["speedup"]);
    }
    assert_eq!(rows::wrong(&report), None, "{label}");
}

#[test]
fn every_command_gives_the_same_answer_on_random_strands() {
    for seed in 0..60 {
        check(&format!("seed {seed}"), &recorded("agreement", seed));
    }
}

/// What is stored has no strands: commands that need none agree.
#[test]
fn every_command_gives_the_same_answer_on_stored_recordings() {
    let folder = fixtures();
    for fixture in FIXTURES {
        let file = format!("{fixture}.wspan");
        let report = json(&folder, &["report", &file]);
        let parallelism = &report["program"]["parallelism"];
        same(fixture, "the verdict's parallelism", &report["verdict"]["parallelism"], parallelism);
        let diff = json(&folder, &["diff", &file, &file]);
        same(fixture, "diff's parallelism", &diff["program"]["parallelism"]["before"]["median"], parallelism);
        let calls = run(workspan(&folder).args(["calls", "--json", &file]));
        // Recordings of older versions, and runs of which only the typical one is shown.
        if calls.status.success() && *fixture != "repeated" {
            let calls: Value = serde_json::from_slice(&calls.stdout).expect("it is JSON");
            same(fixture, "calls' parallelism", &calls["program"]["parallelism"], parallelism);
        }
    }
}

/// Real waits: of threads for one another by queues, channels, conditions and barriers, and for the clock.
#[test]
fn every_command_gives_the_same_answer_on_threads_that_wait() {
    let program = build::program("waits");
    for (name, waits) in [
        ("queue", true),
        ("ping-pong", true),
        ("condition", true),
        ("channel-in-task", true),
        ("barrier", true),
        ("sleeps", false),
        ("late", false),
    ] {
        let folder = scratch(&format!("agreement-{name}"));
        let mut command = workspan(&folder);
        command.args(["record", "--strands", "--workers", "2", "--"]).arg(&program).arg(name);
        run(&mut command).check_success();
        let (rows, blocked) = (events(&folder), json(&folder, &["report"])["program"]["blocked_ns"].as_i64());
        let edges = rows.iter().filter(|event| **event == "await").count();
        assert!(edges > 0 || !waits, "{name}: {edges} edges");
        assert!(waits || blocked >= Some(50_000_000), "{name}: {blocked:?}");
        check(name, &folder);
    }
}

/// Threads of rayon programs that show progress: by a message that is waited for with a limit, by a flag between sleeps. Nobody waits for
/// them, and their own waits are none of the path.
#[test]
fn a_progress_display_is_not_what_a_program_waits_for() {
    let program = build::program("waits");
    for name in ["display", "ticker"] {
        let folder = scratch(&format!("agreement-{name}"));
        let mut command = workspan(&folder);
        command.args(["record", "--strands", "--workers", "1", "--"]).arg(&program).arg(name);
        run(&mut command).check_success();
        let report = json(&folder, &["report"]);
        let parallelism = report["program"]["parallelism"].as_f64().expect("a number");
        // 32 tasks of the same size. One worker takes several periods of the display for them.
        assert!(parallelism > 8.0, "{name}: {parallelism}");
        assert_ne!(report["verdict"]["losses"][0]["parts"][0]["reason"], "waits", "{name}: {:#}", report["verdict"]);
        check(name, &folder);
    }
}

/// Loops of which chunks alone were seen.
#[test]
fn every_command_gives_the_same_answer_on_loops() {
    let program = openmp("static.c", Compiler::Clang);
    for name in ["even", "rounds", "often"] {
        let folder = scratch(&format!("agreement-loops-{name}"));
        let mut command = workspan(&folder);
        command.args(["record", "--strands", "--clock", "virtual", "--workers", "2", "--"]).arg(&program).arg(name);
        run(&mut command).check_success();
        assert_eq!(json(&folder, &["report"])["verdict"]["even_iterations"], true, "{name}");
        check(name, &folder);
    }
}

/// Strands leave out the order of locks: `predict` and the page are bounded by code under one lock, as the report is, and every
/// command that computes with strands says so.
#[test]
fn code_under_one_lock_bounds_what_is_predicted() {
    let program = openmp("constructs.c", Compiler::Gcc);
    // Two locks that are taken at one place are one in a recording.
    for (case, most, bound) in [
        ("critical_bound", 1.0, "takes 16 ns in any schedule, so the parallelism is at most 1.00"),
        ("lock_bound", 26.0 / 12.0, "takes 12 ns in any schedule, so the parallelism is at most 2.17"),
    ] {
        let folder = scratch(&format!("agreement-{case}"));
        let mut command = workspan(&folder);
        command.args(["record", "--strands", "--clock", "virtual", "--workers", "2", "--"]).arg(&program).arg(case);
        run(&mut command).check_success();
        let report = json(&folder, &["report"]);
        let predict = json(&folder, &["predict", "-p", "1..1024"]);
        let same = |what: &str, found: &Value, expected: &Value| same(case, what, found, expected);
        same("the report's parallelism", &report["program"]["parallelism"], &most.into());
        same("predict's most speedup", &predict["program"]["most_speedup"], &most.into());
        same("predict's span", &predict["program"]["span_ns"], &report["program"]["span_ns"]);
        let points = predict["points"].as_array().expect("there are some");
        for point in points {
            check_bounded(case, point, most, report["program"]["work_ns"].as_i64());
        }
        let verdict = &report["verdict"];
        let at =
            points.iter().find(|point| point["processors"] == verdict["processors"]).expect("it is a power of two");
        same("predicted time", &verdict["time_ns"], &at["time_ns"]);
        let [curve, dots] = page(&folder);
        check_dots(case, &folder, &dots);
        same("the curve's end", &curve.last().expect("there are some")[1].into(), &most.into());
        let part = "others.h:1-9999=2";
        for command in [&["calls"][..], &["predict"], &["predict", "-s", part], &["advise"], &["what-if", "-s", part]] {
            let answer = json(&folder, command);
            let warnings = answer["warnings"].as_array().expect("a list").iter().filter_map(Value::as_str);
            let found: Vec<&str> = warnings.filter(|warning| warning.contains(bound)).collect();
            assert_eq!(found.len(), 1, "{case}: {command:?}: {:#}", answer["warnings"]);
            assert!(found[0].contains("the lock at ") && found[0].contains("others.h:"), "{case}: {found:?}");
            let text = run(workspan(&folder).args(command)).check_success().out();
            assert!(text.contains(&format!("! {}", found[0])), "{case}: {text}");
        }
    }
}

/// Most of each iteration is under one lock: where one chunk was seen, even iterations could run beside each other, and the lock is what they
/// wait for all the same. In the verdict, in predictions, and in what other commands say; with strands and without.
#[test]
fn a_lock_bounds_even_iterations() {
    let source = fs::read_to_string(build::root().join("programs/openmp/hotlock.c")).expect("it is there");
    let line = source.lines().position(|line| line.contains("critical(sum)")).expect("it is there") + 1;
    for (compiler, schedule, workers) in [
        (Compiler::Gcc, "dynamic", "1"),
        (Compiler::Gcc, "static", "1"),
        (Compiler::Gcc, "static", "2"),
        (Compiler::Clang, "dynamic", "1"),
        (Compiler::Clang, "dynamic", "2"),
        (Compiler::Clang, "static", "2"),
    ] {
        let case = format!("{compiler:?} {schedule}, {workers} workers");
        let program = openmp("hotlock.c", compiler);
        let folder = scratch(&format!("agreement-hotlock-{compiler:?}-{schedule}-{workers}"));
        for strands in [&[][..], &["--strands"]] {
            let mut command = workspan(&folder);
            command.args(["record", "--clock", "virtual", "--workers", workers]).args(strands);
            run(command.arg("--").arg(&program).arg(schedule)).check_success();
            let report = json(&folder, &["report"]);
            let verdict = &report["verdict"];
            let losses = verdict["losses"].as_array().expect("a list");
            let said =
                losses.iter().filter(|loss| loss["cause"] == "lock-contention" && loss["share"].as_f64() > Some(0.5));
            assert_eq!(said.count(), 1, "{case} {strands:?}: {verdict:#}");
            let text = verdict["text"].as_str().expect("text");
            assert!(text.contains(&format!("hotlock.c:{line}")), "{case} {strands:?}: {text}");
        }
        let predict = json(&folder, &["predict", "-p", "1..1024"]);
        let most = |program: &Value| program["even_most_speedup"].as_f64().or(program["most_speedup"].as_f64());
        assert_eq!(most(&predict["program"]), Some(1000.0 / 600.0), "{case}: {:#}", predict["program"]);
        for command in ["calls", "advise"] {
            let text = run(workspan(&folder).arg(command)).check_success().out();
            let bounds = ["1.00–1.67", "parallelism 1.67 if", "takes 600 ns in any schedule"];
            let bounded = bounds.iter().any(|bound| text.contains(bound));
            assert!(bounded, "{case}: {command}: {text}");
        }
    }
}

/// Iterations that differ in cost, of which chunks alone are seen: strands know no more of them than totals do.
#[test]
fn uneven_iterations_are_said_to_be() {
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        let program = openmp("uneven.c", compiler);
        let folder = scratch(&format!("agreement-uneven-{compiler:?}"));
        for strands in [&[][..], &["--strands"]] {
            let mut command = workspan(&folder);
            command.args(["record", "--clock", "virtual", "--workers", "2"]).args(strands);
            run(command.arg("--").arg(&program)).check_success();
            let verdict = &json(&folder, &["report"])["verdict"];
            let found = [&verdict["outcome"], &verdict["why"]];
            assert_eq!(found, ["inconclusive", "uneven-loop"], "{compiler:?} {strands:?}: {verdict:#}");
        }
    }
}

/// A number of processors that `predict` shows: no speedup is more than `most`.
#[track_caller]
fn check_bounded(case: &str, point: &Value, most: f64, work: Option<i64>) {
    for what in ["greedy_speedup", "speedup", "speedup_min", "speedup_max"] {
        assert!(point[what].as_f64() <= Some(most + 1e-9), "{case}: {what} of {point:#}");
    }
    let number = |what: &str| point[what].as_i64().expect("a number");
    assert!(["laws_ns", "greedy_ns", "brent_ns"].map(number).is_sorted(), "{case}: {point:#}");
    let all = number("processors") * number("time_ns");
    assert_eq!(Some(all - number("idle_ns") - number("overhead_ns")), work, "{case}: {point:#}");
}

/// The events of a recording's strands.
fn events(folder: &Path) -> Vec<String> {
    let table = run(workspan(folder).args(["export", "workspan.wspan", "--format", "csv", "--table", "strands"]));
    let text = table.check_success().out();
    text.lines().skip(1).filter_map(|line| line.split(',').nth(1).map(str::to_owned)).collect()
}
