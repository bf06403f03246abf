//! `--strands`: the strands amount to what the collector reported on the fly, to the last tick, however the program ran.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::{kill, Signal};
use serde_json::Value;
use workspan::args::{Clock, RunOptions};
use workspan::exit::Outcome;
use workspan::record::strands::convert_run;
use workspan::record::{measure_into, Measured};
use workspan_analysis::strands::Replay;
use workspan_model::{Nanos, Recording, Run, Strand, Totals};
use workspan_read::log::Converted;
use workspan_store::Reader;

use crate::build::{self, scratch};
use crate::call_sums;
use crate::command::{record, run, start, workspan};
use crate::openmp_build::{openmp, Compiler};
use crate::tools;

/// Random programs; each runs three times.
const PROGRAMS: u64 = 500;

#[test]
fn random_programs() {
    let program = build::program("random");
    let mut differences = Vec::new();
    for seed in 0..PROGRAMS {
        for workers in [1, 2, 4] {
            differences.extend(check(&program, &seed.to_string(), 8, workers, true));
        }
    }
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
}

/// A tool that listens at the same time changes nothing.
#[test]
fn with_a_tool() {
    let (program, tool) = (build::program("random"), tools::checker());
    let mut differences = Vec::new();
    for seed in 0..40 {
        for workers in [1, 2, 4] {
            let options = RunOptions { tool: Some(tool.clone()), ..RunOptions::default() };
            differences.extend(check_with(options, &program, &seed.to_string(), 8, workers, true));
        }
    }
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn programs_with_closed_forms() {
    let program = build::program("shapes");
    let list = Command::new(&program).arg("list").output().expect("the program runs");
    let list = String::from_utf8(list.stdout).expect("names and numbers");
    let mut differences = Vec::new();
    for name in list.lines().filter_map(|line| line.split(' ').next()) {
        for workers in [1, 2, 4] {
            // Several of them have critical paths of equal length, of which either is right.
            differences.extend(check(&program, name, 64, workers, false));
        }
    }
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn programs_with_marks() {
    let program = build::program("planted");
    let list = Command::new(&program).arg("list").output().expect("the program runs");
    let list = String::from_utf8(list.stdout).expect("names");
    let mut differences = Vec::new();
    for name in list.lines() {
        for workers in [1, 2, 4] {
            let told = ["marked", "marks", "functions"].contains(&name);
            differences.extend(check(&program, name, 64, workers, told));
        }
    }
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
}

/// The same run, seen twice: nothing differs but by rounding, which the span has none of.
#[test]
fn the_real_clock() {
    let program = build::program("shapes");
    for name in
        ["tree", "taskprof", "mix", "scope-nested", "install-across", "spawn-detached", "panic-in-task", "par-sort"]
    {
        let options = RunOptions { strands: true, workers: Some(2), repeat: 1, ..RunOptions::default() };
        let command = [program.as_os_str().to_owned(), OsString::from(name)];
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing.wspan");
        let measured = measure_into(&command, &options, &file).expect("the program runs");
        let (found, converted, _) = replayed(&measured);
        let expected = &measured.recording.runs[0];
        assert!(converted.whole() && converted.lone == 0, "{name}: {converted:?}");
        assert_eq!(found.span, expected.span, "{name}");
        // Costs are rounded strand by strand.
        let strands = i64::try_from(converted.strands).expect("few");
        assert!((found.work() - expected.work()).0.abs() <= strands, "{name}: {converted:?}");
    }
}

/// A strand begins where its code does, though it is stopped at constructs that end none, and pauses while its thread runs tasks: so
/// from their starts on strands of a thread do not overlap.
#[test]
fn a_thread_runs_one_strand_at_a_time() {
    let program = openmp("mergesort.c", Compiler::Clang);
    let options = RunOptions { strands: true, workers: Some(2), repeat: 1, ..RunOptions::default() };
    let command = [program.as_os_str().to_owned(), OsString::from("400000")];
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing.wspan");
    let measured = measure_into(&command, &options, &file).expect("the program runs");
    let (_, _, mut rows) = replayed(&measured);
    rows.retain(|row| row.cost.0 > 0);
    rows.sort_by_key(|row| (row.thread, row.start));
    let overlap = |pair: &[Strand]| match pair[0].thread == pair[1].thread {
        true => (pair[0].start + pair[0].cost - pair[1].start).0.max(0),
        false => 0,
    };
    let overlaps: i64 = rows.windows(2).map(overlap).sum();
    let work = measured.recording.runs[0].work().0;
    // What was calibrated is not exact.
    assert!(rows.len() > 1_000 && overlaps < work / 50, "{overlaps} of {work} ns in {} strands", rows.len());
}

/// What differs between what the strands of `program ARGUMENT` amount to and what the collector reported. `paths`: also where
/// the critical path is.
fn check(program: &Path, argument: &str, cores: u32, workers: u32, paths: bool) -> Option<String> {
    check_with(RunOptions::default(), program, argument, cores, workers, paths)
}

/// The same, with further options.
fn check_with(
    others: RunOptions,
    program: &Path,
    argument: &str,
    cores: u32,
    workers: u32,
    paths: bool,
) -> Option<String> {
    let options = RunOptions {
        clock: Clock::Virtual,
        strands: true,
        workers: Some(workers),
        logical_cores: Some(cores),
        repeat: 1,
        steal: Some(call_sums::STEAL.unsigned_abs()),
        ..others
    };
    let command = [program.as_os_str().to_owned(), OsString::from(argument)];
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing.wspan");
    let measured = measure_into(&command, &options, &file).expect("the program runs");
    assert_eq!(measured.outcome, Outcome::OK, "{argument}");
    let (mut found, converted, rows) = replayed(&measured);
    let expected = &measured.recording.runs[0];
    if !paths {
        assert_eq!(found.critical.iter().copied().sum::<Nanos>(), found.span);
        found.critical.clone_from(&expected.critical);
    }
    let label = format!("{argument}, {workers} workers");
    if !converted.whole() || converted.lone > 0 {
        return Some(format!("{label}: {converted:?}"));
    }
    let recording = &measured.recording;
    // Items of a shared iterator stand in the rows of whoever took the first one.
    let burdens = workers == 1 || expected.totals.iter().all(|totals| totals.items == 0);
    let calls = || {
        let told = if paths { call_sums::fly_difference(recording, expected, &rows) } else { None };
        let burdened = if burdens { call_sums::burdened_difference(recording, expected, &rows) } else { None };
        told.or(burdened).or_else(|| call_sums::graph_difference(recording, &rows))
    };
    difference(recording, expected, &found).or_else(calls).map(|difference| format!("{label}: {difference}"))
}

/// The run that the strands amount to, and them.
fn replayed(measured: &Measured) -> (Run, Converted, Vec<Strand>) {
    let recording = &measured.recording;
    let run = &recording.runs[0];
    let mut replay = Replay::new(recording);
    let mut rows = Vec::new();
    let feed = |strands: &[Strand], _: &[u64]| {
        replay.feed(strands);
        rows.extend_from_slice(strands);
        Ok::<(), ()>(())
    };
    let converted = convert_run(recording, run, &measured.logs[0], feed).expect("the spool can be read");
    let replayed = replay.finish();
    assert!(replayed.problems.is_empty(), "{:?}", replayed.problems);
    (replayed.into_run(run), converted, rows)
}

fn difference(recording: &Recording, expected: &Run, found: &Run) -> Option<String> {
    if (expected.work(), expected.span) != (found.work(), found.span) {
        let [expected, found] = [expected, found].map(|run| (run.work(), run.span));
        return Some(format!("{expected:?}, found {found:?}"));
    }
    // On the fly, the time that a shared iterator takes is its task's who happened to ask it.
    let bridges = expected.workers > 1 && expected.totals.iter().any(|totals| totals.items > 0);
    let comparable = |totals: &Totals| {
        // Time on the wall is in no row; what calls on the path amount to is compared by way of `calls`.
        // So are burdened spans.
        let (wall, on_path, burdened_span) = Default::default();
        let mut totals = Totals { wall, on_path, burdened_span, ..totals.clone() };
        if bridges {
            (totals.task_work, totals.sizes) = Default::default();
        }
        totals
    };
    for (index, id) in recording.contexts.ids().enumerate() {
        let [expected, found] =
            [expected, found].map(|run| (comparable(&run.totals[index]), run.critical[index], run.blocked));
        if expected != found {
            let site = recording.contexts.site(id).map(|site| &recording.sites[site.0 as usize]);
            return Some(format!("{site:?}: {expected:?}, found {found:?}"));
        }
    }
    None
}

/// By way of the folder, with both commands.
#[test]
fn the_folder_holds_what_was_recorded() {
    let folder = scratch("strands");
    let program = build::program("shapes");
    for former in [false, true] {
        let ended = run(&mut record(&folder, &["--strands", "--repeat", "2"], &program, &["taskprof"]));
        let merged = "parallelism 3.27 of merged runs: the least cost of each strand in 2 runs; 100 % of";
        assert!(ended.check_success().err().contains(merged), "{}", ended.err());
        assert_eq!(folder.join("workspan.strands.old").is_dir(), former);
    }
    let strands = folder.join("workspan.strands");
    assert_eq!(Reader::runs(&strands).expect("it is there"), [1, 2]);
    for number in [1, 2] {
        let (work, problems) = read(&strands, number);
        assert_eq!((work, problems), (3040, Vec::<String>::new()));
    }
    // Without strands, there are none of a former recording beside it.
    run(&mut record(&folder, &[], &program, &["taskprof"])).check_success();
    assert!(!strands.exists());
    let left: Vec<_> =
        fs::read_dir(&folder).expect("it is there").map(|entry| entry.expect("one").file_name()).collect();
    assert!(left.iter().all(|name| name.to_string_lossy().starts_with("workspan.")), "{left:?}");
}

/// Work of a run's strands, and what is wrong with them.
fn read(folder: &Path, run: u32) -> (i64, Vec<String>) {
    let mut reader = Reader::open(folder, run).expect("strands are there");
    let mut work = 0;
    while let Some(strands) = reader.next_batch().expect("they can be read") {
        work += strands.iter().map(|strand| strand.cost.0).sum::<i64>();
    }
    (work, reader.problems().iter().map(ToString::to_string).collect())
}

#[test]
fn a_killed_program_leaves_what_it_has_logged() {
    let folder = scratch("strands-killed");
    let running = start(&mut record(&folder, &["--strands"], &build::program("endings"), &["hang"]));
    kill(running.wait_until_ready(), Signal::SIGKILL).expect("it runs");
    assert_eq!(running.wait().signal(), Some(Signal::SIGKILL as i32));
    let (work, problems) = read(&folder.join("workspan.strands"), 1);
    // The join before, of two branches, is whole.
    assert!(work >= 2_000, "{work}");
    assert!(problems.iter().any(|problem| problem.contains("end was not seen")), "{problems:?}");
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_before_the_program_runs() {
    let folder = scratch("strands-nowhere");
    fs::write(folder.join("workspan.strands"), "in the way").expect("the folder is writable");
    let ended = run(&mut record(&folder, &["--strands"], &build::program("shapes"), &["join"]));
    ended.check_error(2, &["workspan.strands", "in the way"]);
    assert!(!folder.join("workspan.wspan").exists());
    run(&mut record(&folder, &["--strands", "-o", "/dev/null"], &build::program("shapes"), &["join"]))
        .check_error(2, &["--strands", "/dev/null"]);
}

/// `workspan calls`, from strands and from what the collector reported.
#[test]
fn calls_are_the_same_with_strands_and_without() {
    let folder = scratch("calls-told");
    let ask = |options: &[&str], program: &Path, arguments: &[&str]| {
        run(&mut record(&folder, options, program, arguments)).check_success();
        let ended = run(workspan(&folder).args(["calls", "--json"]));
        serde_json::from_slice::<Value>(&ended.check_success().stdout).expect("JSON")
    };
    let rows = |answer: &Value| -> Vec<[Value; 3]> {
        let rows = answer["calls"].as_array().expect("rows").clone();
        rows.into_iter().map(|row| [&row["callee"], &row["on_work"], &row["on_span"]].map(Value::clone)).collect()
    };
    let openmp = openmp("random.c", Compiler::Clang);
    for (program, arguments) in [(build::program("random"), &["5"][..]), (openmp, &["5", "1"])] {
        let [with, without] = [&["--strands"][..], &[]].map(|options| ask(options, &program, arguments));
        assert_eq!([&with["from"], &without["from"]], ["strands", "collector"]);
        assert_eq!(without["program"]["burdened_span_ns"], Value::Null);
        let [with, without] = [&with, &without].map(rows);
        assert!(with.len() > 2 && with == without, "{with:#?} {without:#?}");
        run(workspan(&folder).args(["calls", "--by", "height"])).check_error(2, &["holds no strands", "--strands"]);
    }
}

/// The report has the burdened span of the program and of its sites: that of `workspan calls`, with strands and without.
#[test]
fn the_burdened_span_is_in_the_report() {
    let folder = scratch("burdened");
    let program = build::program("shapes");
    let ask = |arguments: &[&str]| {
        let ended = run(&mut record(&folder, arguments, &program, &["taskprof"]));
        ended.check_success();
        let ask = |arguments: &[&str]| run(workspan(&folder).args(arguments)).check_success().stdout.clone();
        let [calls, report] = [&["calls", "--json"][..], &["report", "--json"]]
            .map(|arguments| serde_json::from_slice::<Value>(&ask(arguments)).expect("JSON"));
        (ended.err(), calls, report)
    };
    let steal = ["--strands", "--steal", "100"];
    for (arguments, from) in [(&steal[..], "strands"), (&steal[1..], "collector")] {
        let (text, calls, report) = ask(arguments);
        assert_eq!((&calls["from"], &calls["steal_from"]), (&from.into(), &"recorded".into()));
        let burdened = &report["program"]["burdened"];
        // The four tasks around the longest leaf are spawned and waited for, each for twice 100.
        assert_eq!((burdened["span_ns"].as_i64(), report["recorded"]["steal_ns"].as_i64()), (Some(1730), Some(100)));
        assert_eq!(calls["program"]["burdened_span_ns"], burdened["span_ns"]);
        assert!(text.contains("1.76") && text.contains("burdened: each steal costs 100 ns"), "{text}");
        let told: i64 =
            calls["calls"].as_array().expect("rows").iter().filter_map(|c| c["burdened_span_ns"].as_i64()).sum();
        let sites = report["sites"].as_array().expect("rows");
        assert_eq!(sites.iter().filter_map(|site| site["burdened"]["span_ns"].as_i64()).sum::<i64>(), told);
    }
    let (_, _, report) = ask(&[]);
    assert_eq!((&report["program"]["burdened"], &report["recorded"]["steal_ns"]), (&Value::Null, &Value::Null));
}
