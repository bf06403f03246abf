//! Events by context: real page faults at a known place, and ticks of the virtual clock in their stead wherever else.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::Value;
use workspan::args::{Clock, RunOptions};
use workspan::record::measure;

use crate::build::{program, scratch};
use crate::command::{run, workspan, Ended};
use crate::openmp_build::{openmp, Compiler};

/// Line of the loop that touches memory first, and of the one that computes.
fn lines(source: &Path, marks: [&str; 2]) -> [String; 2] {
    let text = fs::read_to_string(source).expect("the source is there");
    let name = source.file_name().expect("a file").to_string_lossy().into_owned();
    marks.map(|mark| {
        let at = text.lines().position(|line| line.contains(mark)).expect("the source has it");
        format!("{name}:{}", at + 1)
    })
}

fn record(folder: &Path, options: &[&str], program: &Path) -> Ended {
    let mut command = workspan(folder);
    command.args(["record", "--json=report.json", "--workers", "2"]).args(options).arg("--").arg(program);
    run(&mut command)
}

fn report(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("report.json")).expect("it was written")).expect("JSON")
}

/// Own events of all sites at a place.
fn at(events: &Value, place: &str) -> f64 {
    let sites = events["sites"].as_array().expect("a list");
    let here = sites.iter().filter(|site| site["name"].as_str().is_some_and(|name| name.ends_with(place)));
    here.filter_map(|site| site["own"][0].as_f64()).sum()
}

#[track_caller]
fn check_faults(folder: &Path, ended: &Ended, [touches, computes]: &[String; 2]) {
    let out = ended.check_success().out();
    let known: f64 = out.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number");
    assert!(known >= 6_000.0, "{out}");
    let report = report(folder);
    let events = &report["events"];
    let event = &events["events"][0];
    assert_eq!((&event["name"], &event["refused"]), (&"page-faults".into(), &Value::Null));
    let (there, elsewhere) = (at(events, touches), at(events, computes));
    assert!(there >= 0.9 * known && there <= 1.1 * known, "{there} of {known}: {events:#}");
    assert!(elsewhere <= 0.02 * known, "{elsewhere} of {known}: {events:#}");
    // What is attributed is no more than there is.
    let whole = event["whole"].as_f64();
    assert!(whole.is_none() || event["in_strands"].as_f64() <= whole, "{event:#}");
}

#[test]
fn page_faults_are_where_memory_is_touched_first() {
    let folder = scratch("events-rayon");
    let source = crate::build::root().join("programs/faults/src/main.rs");
    let ended = record(&folder, &["--events", "page-faults"], &program("faults"));
    check_faults(&folder, &ended, &lines(&source, ["par_chunks_mut(PAGE * 8)", "into_par_iter"]));
    // The recording has them, too.
    let again = run(workspan(&folder).args(["report", "--json"]));
    let again: Value = serde_json::from_slice(&again.check_success().stdout).expect("JSON");
    assert_eq!(again["events"], report(&folder)["events"]);
}

#[test]
fn so_they_are_with_openmp() {
    let folder = scratch("events-openmp");
    let source = crate::openmp_build::sources().join("faults.c");
    let text = fs::read_to_string(&source).expect("the source is there");
    let loops: Vec<usize> =
        (1..).zip(text.lines()).filter(|(_, line)| line.contains("#pragma")).map(|(n, _)| n).collect();
    let places = [loops[0], loops[1]].map(|line| format!("faults.c:{line}"));
    let ended = record(&folder, &["--events", "page-faults"], &openmp("faults.c", Compiler::Clang));
    check_faults(&folder, &ended, &places);
}

#[test]
fn both_sides_of_a_comparison_have_them() {
    let folder = scratch("events-inflation");
    let mut command = workspan(&folder);
    command.args([
        "inflation",
        "--json=answer.json",
        "--repeat=1",
        "--workers=2",
        "--events=page-faults,migrations",
        "--",
    ]);
    run(command.arg(program("faults"))).check_success();
    let text = fs::read_to_string(folder.join("answer.json")).expect("it was written");
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    let site = &answer["event_sites"]["sites"].as_array().expect("a list");
    let most = site
        .iter()
        .max_by(|a, b| a["own"][0]["new"].as_f64().partial_cmp(&b["own"][0]["new"].as_f64()).expect("numbers"));
    let most = &most.expect("there are sites")["own"][0];
    // The same memory is touched, whoever does it.
    for side in ["base", "new"] {
        assert!(most[side].as_f64().is_some_and(|faults| (6_000.0..6_600.0).contains(&faults)), "{most:#}");
    }
    assert!(most["inflation"].as_f64().is_some_and(|times| (0.9..1.1).contains(&times)), "{most:#}");
    // The same again from the recordings.
    let again = run(workspan(&folder).args(["diff", "--json", "inflation.base.wspan", "inflation.wspan"]));
    let again: Value = serde_json::from_slice(&again.check_success().stdout).expect("JSON");
    assert_eq!(again["events"]["events"], answer["event_sites"]["events"]);
    let text = run(workspan(&folder).args(["diff", "inflation.base.wspan", "inflation.wspan"]));
    assert!(text.check_success().out().contains("page-faults"), "{}", text.out());
}

/// Ticks are events of their own with the virtual clock: each context has as many as it has work.
#[track_caller]
fn check_ticks(program: &Path, argument: &str, workers: u32, logical_cores: Option<u32>) {
    let options = RunOptions {
        clock: Clock::Virtual,
        workers: Some(workers),
        logical_cores,
        repeat: 1,
        events: Some("page-faults,cycles".to_owned()),
        ..RunOptions::default()
    };
    let command = [program.as_os_str().to_owned(), OsString::from(argument)];
    let (recording, _) = measure(&command, &options).expect("the program runs");
    let run = &recording.runs[0];
    assert!(run.complete(), "{argument}, {workers} workers");
    assert_eq!(run.events.len(), 2);
    for (event, a_tick) in run.events.iter().zip(1..) {
        let expected: Vec<u64> = run.totals.iter().map(|totals| totals.self_work.0.cast_unsigned() * a_tick).collect();
        assert_eq!(event.counts, expected, "{argument}, {workers} workers: {}", event.name);
    }
}

#[test]
fn random_programs_charge_them_as_they_charge_time() {
    for seed in 0..100 {
        for workers in [1, 2, 4] {
            check_ticks(&program("random"), &seed.to_string(), workers, Some(8));
        }
    }
}

#[test]
fn so_do_random_programs_with_openmp() {
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let random = openmp("random.c", compiler);
        for seed in 0..50 {
            check_ticks(&random, &seed.to_string(), 1 + seed % 4, None);
        }
    }
}

#[test]
fn what_cannot_be_counted_is_told() {
    let folder = scratch("events-refused");
    // No processor has this one.
    let ended = record(&folder, &["--events", "rffffffffffff,page-faults"], &program("faults"));
    ended.check_success();
    let report = report(&folder);
    let [refused, counted] = [0, 1].map(|i: usize| &report["events"]["events"][i]);
    assert!(refused["in_strands"].is_null() && refused["refused"].is_string(), "{refused:#}");
    assert!(counted["in_strands"].as_f64() > Some(6_000.0), "{counted:#}");
    let warnings = report["warnings"].as_array().expect("a list");
    let told = warnings.iter().filter(|warning| warning["code"] == "event-not-counted").count();
    assert_eq!(told, 1, "{warnings:#?}");
    record(&folder, &["--events", "cycels"], &program("faults")).check_error(2, &["`cycels` is no event"]);
    let nine = ["cycles"; 9].join(",");
    record(&folder, &["--events", &nine], &program("faults")).check_error(2, &["9 events; at most 8 can be counted"]);
}
