//! `workspan scale`: identities of every run, what counts as waiting, what goes wrong, what is kept.
//!
//! Sleeps bound times from below, whatever else a machine does; nothing here is compared with a clock otherwise.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;
use workspan_testkit::patience::wait_for;

use crate::build::{self, cargo_workspan, scratch};
use crate::command::{run, start, with_default_signals, workspan, Ended};
use crate::openmp_build::{openmp, Compiler};
use crate::tbb::by_gcc;
use crate::threads::threads;

/// `workspan scale` with these options, for a program and its arguments.
fn scale(folder: &Path, options: &[&str], program: &Path, arguments: &[&str]) -> Command {
    let mut command = workspan(folder);
    command.arg("scale").args(options).arg("--").arg(program).args(arguments);
    command
}

/// One run of each kind, and no other.
const ONCE: &[&str] = &["--repeat=1", "--warm-up=0", "--no-sites", "--json=-"];

#[track_caller]
fn answer(ended: &Ended) -> Value {
    let answer: Value =
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.err()));
    let schema = fs::read_to_string(build::root().join("docs/format/scale.schema.json")).expect("it is there");
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let errors: Vec<String> = schema.iter_errors(&answer).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    answer
}

#[track_caller]
fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

/// Facts 2.1 to 2.4 of each P and of each run, and causes that add up. Returns the answer.
///
/// A program on rayon has one thread more than workers: `main` and a worker are both at work while one hands over to the
/// other, however long the machine lets that take. A program on OpenMP has none.
#[track_caller]
fn check_identities(answer: Value, runs: usize, threads_beside_workers: i64) -> Value {
    for point in answer["points"].as_array().expect("a list") {
        let p = number(&point["workers"]);
        let mean = |name: &str| number(&point[name]["mean_ns"]);
        assert_eq!(p * mean("time"), mean("work") + mean("idle"));
        assert_eq!(number(&point["inflation_ns"]), mean("work") - mean("one_worker"));
        assert_eq!(p * mean("time"), mean("one_worker") + mean("idle") + number(&point["inflation_ns"]));
        let each = |name: &str| numbers(&point[name]["runs_ns"]);
        let (times, idle, work) = (each("time"), each("idle"), each("work"));
        assert_eq!([times.len(), idle.len(), work.len()], [runs; 3]);
        for ((time, idle), work) in times.iter().zip(&idle).zip(&work) {
            assert_eq!(p * time, work + idle);
            assert!(*time > 0 && *work > 0 && *idle >= -threads_beside_workers * time, "{point}");
        }
        assert!(mean("idle") >= 0 || answer["warnings"].to_string().contains("is below zero"), "{answer}");
    }
    let causes = &answer["causes"];
    let parts =
        ["algorithmic_ns", "task_overhead_ns", "parallelism_ns", "scheduling_ns", "no_processor_ns", "inflation_ns"];
    assert_eq!(parts.map(|part| number(&causes[part])).iter().sum::<i64>(), number(&causes["total_ns"]));
    answer
}

fn program() -> PathBuf {
    build::program("scale")
}

fn native() -> PathBuf {
    build::native("scale")
}

#[test]
fn the_facts_hold_of_every_run() {
    let folder = scratch("scale-facts");
    let baseline = format!("--baseline='{}' work 2000000", native().display());
    let options = ["-p", "2,1", "--repeat=2", "--warm-up=0", "--no-sites", "--json=-", &baseline];
    let ended = run(&mut scale(&folder, &options, &program(), &["pieces", "2000000"]));
    let found = check_identities(answer(ended.check_success()), 2, 1);
    assert_eq!(found["complete"], true);
    assert_eq!(numbers(&found["baseline"]["runs_ns"]).len(), 2);
    assert_eq!(found["conditions"]["baseline"][1], "work");
    let options = ["-p", "1,2", "--repeat=2", "--warm-up=1", "--no-sites", "--json=-", "--pin"];
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let ended = run(&mut scale(&folder, &options, &openmp("fib.c", compiler), &["22", "10"]));
        let found = check_identities(answer(ended.check_success()), 2, 0);
        assert_eq!(found["conditions"]["pinned"], true);
    }
}

/// A run with two workers works and waits at least this number of times as long as something sleeps.
#[track_caller]
fn check_waits(program: &Path, arguments: &[&str], work: i64, idle: i64) {
    const MILLIS: i64 = 150;
    let test = std::thread::current().name().unwrap_or_default().replace(':', "-");
    let folder = scratch(&format!("scale-waits-{test}"));
    let millis = MILLIS.to_string();
    let arguments: Vec<&str> = arguments.iter().copied().chain([millis.as_str()]).collect();
    let ended = run(&mut scale(&folder, &[&["-p2"], ONCE].concat(), program, &arguments));
    let found = check_identities(answer(ended.check_success()), 1, 1);
    let point = &found["points"][0];
    let least = |times: i64| times * MILLIS * 1_000_000;
    let [found_work, found_idle] = ["work", "idle"].map(|name| number(&point[name]["mean_ns"]));
    assert!(found_work >= least(work), "{arguments:?}: work {found_work}");
    assert!(found_idle >= least(idle), "{arguments:?}: idle {found_idle}");
}

#[test]
fn who_waits_for_work_is_idle_and_who_is_blocked_is_not() {
    // Rayon's pool is not there yet while the main thread sleeps.
    check_waits(&program(), &["sleep", "serial"], 1, 1);
    check_waits(&program(), &["sleep", "task"], 2, 0);
    check_waits(&program(), &["sleep", "alone"], 1, 1);
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let waits = openmp("waits.c", compiler);
        for (place, work, idle) in [
            ("serial", 1, 1),
            ("members", 2, 0),
            ("barrier", 1, 1),
            ("ends", 1, 1),
            ("tasks", 2, 0),
            ("taskwait", 1, 1),
            ("taskgroup", 1, 1),
            ("nested", 1, 1),
        ] {
            check_waits(&waits, &[place], work, idle);
        }
    }
}

/// More threads are at work than there are workers: that is reported, and no run is made better than it was.
#[test]
fn idle_time_may_be_below_zero() {
    let folder = scratch("scale-threads");
    let ended = run(&mut scale(&folder, &[&["-p2"], ONCE].concat(), &program(), &["threads", "3", "150"]));
    let found = answer(ended.check_success());
    let point = &found["points"][0];
    let [time, idle, work] = ["time", "idle", "work"].map(|name| number(&point[name]["mean_ns"]));
    assert!(idle < 0 && 2 * time == work + idle, "{point}");
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("idle time with 2 workers is below zero"), "{warnings}");
}

#[test]
fn regions_and_sites_have_their_parts() {
    let folder = scratch("scale-sites");
    let options = ["-p1,2", "--repeat=2", "--warm-up=0", "--json=-"];
    let ended = run(&mut scale(&folder, &options, &program(), &["serial", "4000000", "50"]));
    let found = check_identities(answer(ended.check_success()), 2, 1);
    let regions = found["regions"].as_array().expect("a list");
    let parallel = regions.iter().find(|region| region["serial"] == false).expect("a region");
    assert!(parallel["name"].as_str().is_some_and(|name| name.contains("main.rs:")), "{parallel}");
    let serial: i64 = regions.iter().filter(|region| region["serial"] == true).map(|r| number(&r["idle_ns"])).sum();
    assert!(serial > 0, "one of two workers waits during serial code");
    for row in regions.iter().chain(found["sites"].as_array().expect("a list")) {
        assert_eq!(number(&row["inflation_ns"]), number(&row["work_ns"]) - number(&row["one_worker_ns"]));
    }
    // Their cost with one worker is known from the profile.
    assert!(number(&found["causes"]["task_overhead_ns"]) > 0);
    assert_eq!(fs::read_dir(&folder).expect("it is there").count(), 0, "nothing is left behind");
}

#[test]
fn everything_that_is_asked_for_is_written() {
    let folder = scratch("scale-files");
    let options = [
        "-p1,2",
        "--repeat=2",
        "--warm-up=0",
        "--no-sites",
        "--json=a.json",
        "--csv=a.csv",
        "--svg=a.svg",
        "--html=a.html",
    ];
    let ended = run(&mut scale(&folder, &options, &program(), &["pieces", "100000"]));
    let out = ended.check_success().out();
    assert!(out.starts_with("speedup ") && out.contains("inflation-specific") && out.contains("P·T_P"), "{out}");
    let text = |name: &str| fs::read_to_string(folder.join(name)).expect("it was requested");
    check_identities(serde_json::from_str(&text("a.json")).expect("JSON"), 2, 1);
    assert_eq!(text("a.csv").lines().count(), 3);
    assert!(text("a.svg").starts_with("<svg ") && text("a.html").contains("<svg "));
    // What cannot be written keeps nothing else from coming.
    let options =
        ["-p1,2", "--repeat=1", "--no-sites", "--json=b.json", "--csv=/dev/full", "--svg=/dev/full", "--html=b.html"];
    let full = run(&mut scale(&folder, &options, &program(), &["pieces", "100000"]));
    full.check_error(2, &["cannot write /dev/full"]);
    assert_eq!(full.err().matches("cannot write /dev/full").count(), 2, "{}", full.err());
    assert!(full.out().starts_with("speedup ") && text("b.html").contains("<svg "), "{}", full.out());
    check_identities(serde_json::from_str(&text("b.json")).expect("JSON"), 1, 1);
    let csv =
        run(&mut scale(&folder, &["-p2", "--repeat=1", "--no-sites", "--csv"], &program(), &["pieces", "100000"]));
    assert!(csv.check_success().out().starts_with("workers,runs,time_ns"));
}

/// The status may be the program's answer.
#[test]
fn a_status_that_all_runs_end_with_is_no_error() {
    let folder = scratch("scale-status");
    let ended = run(&mut scale(&folder, &[ONCE, &["-p1,2"]].concat(), &program(), &["status", "3", "100000"]));
    let warnings = answer(&ended)["warnings"].to_string();
    assert!(warnings.contains("all runs ended with status 3"), "{warnings}");
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    let folder = scratch("scale-errors");
    let check = |options: &[&str], arguments: &[&str], code: i32, words: &[&str]| {
        let ended = run(&mut scale(&folder, &[ONCE, options].concat(), &program(), arguments));
        ended.check_error(code, words);
        assert_eq!(ended.out(), "");
    };
    check(&["-p0"], &["pieces", "1000"], 2, &["0 is not from 1 to 253"]);
    check(&["-p1,x"], &["pieces", "1000"], 2, &["invalid value 'x'"]);
    check(&["--baseline=a 'b"], &["pieces", "1000"], 2, &["a ' is not closed"]);
    check(&["--elision="], &["pieces", "1000"], 2, &["--elision"]);
    check(&["--csv"], &["pieces", "1000"], 2, &["--json and --csv"]);
    check(&["--svg=no/such/folder/a.svg"], &["pieces", "1000"], 2, &["cannot write no/such/folder/a.svg"]);
    check(&["--baseline=./no-such-program"], &["pieces", "1000"], 127, &["cannot run ./no-such-program"]);
    let differ = ["ended with status 2", "ended with status 1 (one worker", "it wrote: this program fails"];
    check(&["-p1,2"], &["fail", "{workers}"], 2, &differ);
    check(&["-p1,2"], &["pool", "3"], 2, &["ran 3 workers, not 1 as requested", "{workers}"]);
    let baseline = format!("--baseline='{}' fail 4", native().display());
    check(&[&baseline], &["pieces", "1000"], 2, &["ended with status 4 (the baseline)", "end alike"]);
    let ended = run(&mut scale(&folder, ONCE, Path::new("./no-such-program"), &[]));
    ended.check_error(127, &["cannot run ./no-such-program"]);
    let ended = run(&mut scale(&folder, ONCE, &native(), &["pieces", "1000"]));
    ended.check_error(2, &["is not instrumented and does not use OpenMP"]);
}

/// Nothing would set the number of workers, and nothing would see their idle time: every P would measure the same run.
#[test]
fn programs_whose_workers_cannot_be_set_are_refused() {
    let folder = scratch("scale-refused");
    let check = |program: &Path, arguments: &[&str], words: &[&str]| {
        let does = format!("--baseline='{}'", script(&folder, ": > ran").display());
        for options in [&["-p1,2"][..], &["-p2", "--no-sites", "--json=-"], &["-p1,2", &does]] {
            let ended = run(&mut scale(&folder, options, program, arguments));
            ended.check_error(2, words);
            assert_eq!(ended.out(), "");
            assert!(!ended.err().contains("started no workers"), "{}", ended.err());
        }
        assert!(!folder.join("ran").exists(), "nothing runs before the refusal");
    };
    let own = threads("constructs");
    let record = format!("-- {}`", own.display());
    check(&own, &[], &["creates its threads itself", "cannot set their number", &record, "`workspan predict"]);
    // An option of the program's own sets the number, but idle time would still be made up.
    check(&own, &["{workers}", "{P}"], &["creates its threads itself", "idle time"]);
    // Also behind a wrapper.
    check(Path::new("env"), &[&own.to_string_lossy()], &["creates its threads itself", &record]);
}

/// The library for idle time alone knows nothing of oneTBB: such programs have all hooks, which set the workers and see who waits.
#[test]
fn tbb_has_as_many_workers_as_requested() {
    let folder = scratch("scale-tbb");
    let ended = run(&mut scale(&folder, &[&["-p1,2"], ONCE].concat(), &by_gcc("bench.cpp"), &["fib", "23"]));
    let found = check_identities(answer(ended.check_success()), 1, 1);
    assert!(!found["warnings"].to_string().contains("started no workers"), "{:#}", found["warnings"]);
    let points = found["points"].as_array().expect("a list");
    let workers: Vec<_> = points.iter().map(|point| point["workers"].as_u64()).collect();
    assert_eq!(workers, [Some(1), Some(2)]);
}

#[test]
fn a_program_that_starts_no_workers_is_told_of() {
    let folder = scratch("scale-serial");
    let ended = run(&mut scale(&folder, &[&["-p1,2"], ONCE].concat(), &program(), &["work", "100000"]));
    let found = check_identities(answer(ended.check_success()), 1, 1);
    let warnings = found["warnings"].to_string();
    // Nobody sees here whether it had threads of its own.
    assert!(warnings.contains("started no workers of rayon: it ran serially, or on threads"), "{warnings}");
}

/// A script that `does` something with its arguments.
fn script(folder: &Path, does: &str) -> PathBuf {
    let path = folder.join("program.sh");
    fs::write(&path, format!("#!/bin/sh\n{does}\n")).expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

#[test]
fn the_work_may_depend_on_the_number_of_workers() {
    let folder = scratch("scale-varies");
    let does = format!("echo \"$RAYON_NUM_THREADS $1\" >> runs; exec '{}' pieces 100000", program().display());
    let program = script(&folder, &does);
    let ended = run(&mut scale(&folder, &[&["-p1,2,3"], ONCE].concat(), &program, &["p={P}/w={workers}"]));
    let found = check_identities(answer(ended.check_success()), 1, 1);
    let runs = fs::read_to_string(folder.join("runs")).expect("it ran");
    let expected = ["1 p=1/w=1", "1 p=2/w=1", "2 p=2/w=2", "1 p=3/w=1", "3 p=3/w=3"];
    assert_eq!(runs.lines().collect::<Vec<_>>(), expected);
    let points = found["points"].as_array().expect("a list");
    let ones: Vec<_> = points.iter().map(|point| number(&point["one_worker"]["mean_ns"])).collect();
    assert_eq!(ones.len(), 3);
    assert!(ones[0] != ones[1] && ones[1] != ones[2], "each has runs of its own: {ones:?}");
    assert_eq!(found["conditions"]["command"][1], "p={P}/w={workers}");
}

/// Interrupts a measurement in its run number `at`, which hangs.
fn interrupted(name: &str, at: usize) -> Ended {
    let folder = scratch(name);
    let hooked = program();
    let does = format!(
        "echo x >> runs\nif [ $(wc -l < runs) -ge {at} ]; then : > hangs; exec sleep 300; fi\nexec '{}' pieces 100000",
        hooked.display()
    );
    let program = script(&folder, &does);
    let options = ["-p1,2", "--repeat=9", "--warm-up=0", "--json=-"];
    let running = start(&mut with_default_signals(&scale(&folder, &options, &program, &[])));
    wait_for(&format!("run {at}"), || folder.join("hangs").exists().then_some(()));
    running.signal_group(Signal::SIGINT);
    running.wait()
}

#[test]
fn what_is_done_is_kept_when_it_is_interrupted() {
    // One worker, two, two, one.
    let ended = interrupted("scale-interrupted", 4);
    assert_eq!(ended.signal(), Some(Signal::SIGINT as i32), "{}", ended.err());
    let found = answer(&ended);
    assert_eq!(found["complete"], false);
    let runs: Vec<usize> = found["points"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|point| numbers(&point["time"]["runs_ns"]).len())
        .collect();
    assert_eq!(runs, [1, 2]);
    let ended = interrupted("scale-interrupted-at-once", 1);
    assert_eq!(ended.signal(), Some(Signal::SIGINT as i32), "{}", ended.err());
    assert_eq!(ended.out(), "");
    assert!(ended.err().contains("interrupted before there was anything to compare"), "{}", ended.err());
}

#[test]
fn cargo_builds_and_measures() {
    let folder = scratch("scale-cargo");
    // It is built there already.
    program();
    let mut command = cargo_workspan();
    command.args(["scale", "--release", "--quiet", "--workers", "1,2", "--repeat=1", "--warm-up=0", "--json=-"]);
    command.arg("--svg=curves.svg");
    command.arg("--manifest-path").arg(build::root().join("programs/scale/Cargo.toml"));
    command.arg("--target-dir").arg(build::target()).args(["--", "pieces", "100000"]);
    let ended = run(command.current_dir(&folder));
    let found = check_identities(answer(ended.check_success()), 1, 1);
    assert!(folder.join("curves.svg").exists());
    assert!(found["regions"].as_array().is_some_and(|regions| !regions.is_empty()), "{}", found["warnings"]);
    // The hooks that are in it are for idle time alone.
    let idle = build::target().join("workspan-idle/release/scale");
    let refused = run(workspan(&folder).arg("record").arg("--").arg(&idle).args(["pieces", "1000"]));
    refused.check_error(2, &["to measure nothing but idle time", "cargo workspan build"]);
    let alone = run(Command::new(&idle).args(["pieces", "1000"]));
    alone.check_success();
    check_waits(&idle, &["sleep", "alone"], 1, 1);
}

#[test]
fn what_the_program_writes_is_shown_if_asked_for() {
    let folder = scratch("scale-output");
    let program = script(&folder, &format!("echo said; exec '{}' pieces 1000", program().display()));
    let quiet = run(&mut scale(&folder, &[&["-p2"], ONCE].concat(), &program, &[]));
    assert!(!quiet.check_success().err().contains("said"));
    let shown = run(&mut scale(&folder, &[&["-p2", "--show-output"], ONCE].concat(), &program, &[]));
    assert_eq!(shown.check_success().err().matches("said\n").count(), 2, "{}", shown.err());
    answer(&shown);
}
