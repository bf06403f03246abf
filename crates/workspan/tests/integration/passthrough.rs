//! The program's output, status and signals pass through `workspan record` untouched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::{kill, Signal};

use crate::build::{self, scratch};
use crate::command::{record, report, run, start, warnings, with_default_signals, workspan, Ended};

/// Ways to end, and the status that comes of it.
const ENDINGS: &[(&[&str], i32)] = &[
    (&["exit"], 0),
    (&["exit", "7"], 7),
    (&["exit", "255"], 255),
    (&["exit-inside", "7"], 7),
    (&["_exit", "4"], 4),
    (&["exec"], 5),
    (&["never", "3"], 3),
    (&["children"], 0),
    (&["fork"], 0),
    (&["panic"], 101),
    (&["no such way"], 2),
];

#[test]
fn bytes_and_status_are_those_of_the_native_run() {
    let folder = scratch("passthrough");
    for (arguments, status) in ENDINGS {
        check(&folder, arguments, *status);
    }
}

/// The line that says what to type next can be copied into a shell.
#[test]
fn the_next_command_is_quoted() {
    let folder = scratch("next");
    for (file, word) in [("my run.wspan", "'my run.wspan'"), ("it's.wspan", "\"it's.wspan\""), ("a.wspan", "a.wspan")] {
        let ended = run(&mut record(&folder, &["-o", file], &build::program("endings"), &["exit"]));
        let next = format!("recorded in {file}; next: workspan report {word} --html report.html");
        assert!(ended.err().contains(&next), "{}", ended.err());
    }
}

#[track_caller]
fn check(folder: &Path, arguments: &[&str], status: i32) {
    let native = run(Command::new(build::native("endings")).args(arguments));
    assert_eq!(native.code(), Some(status), "{arguments:?} natively");
    let program = build::program("endings");
    let with_text = run(&mut record(folder, &[], &program, arguments));
    assert_eq!(with_text.code(), Some(status), "{arguments:?}: {}", with_text.err());
    assert_eq!(with_text.stdout, native.stdout, "{arguments:?}");
    let talk = with_text.stderr.strip_prefix(&*native.stderr).expect("the program's own comes first");
    let talk = String::from_utf8_lossy(talk);
    assert!(talk.starts_with('\n') && talk.contains("\nrecorded in workspan.wspan; next: "), "{arguments:?}: {talk}");
    let with_file = run(&mut record(folder, &["--json=report.json"], &program, arguments));
    assert_eq!(with_file.code(), Some(status), "{arguments:?}: {}", with_file.err());
    assert_eq!((with_file.stdout, with_file.stderr), (native.stdout, native.stderr), "{arguments:?}");
    let json = fs::read(folder.join("report.json")).expect("the report was requested");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["program"]["exit_code"], status, "{arguments:?}");
}

#[test]
fn death_by_a_signal_is_death_by_the_same_signal() {
    let folder = scratch("signals");
    let aborted = run(&mut record(&folder, &[], &build::program("endings"), &["abort"]));
    assert_eq!(aborted.signal(), Some(Signal::SIGABRT as i32), "{}", aborted.err());
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGHUP] {
        check_killed(&folder, signal, "sent to the program", |running, program| {
            kill(program, signal).expect("it runs");
            running
        });
    }
}

#[test]
fn requests_to_end_are_passed_on() {
    let folder = scratch("requests");
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        check_killed(&folder, signal, "sent to workspan", |running, _| {
            running.signal(signal);
            running
        });
    }
}

#[test]
fn interrupts_from_the_terminal_leave_a_recording() {
    let folder = scratch("interrupts");
    for signal in [Signal::SIGINT, Signal::SIGQUIT] {
        check_killed(&folder, signal, "sent to the group", |running, _| {
            running.signal_group(signal);
            running
        });
    }
}

type Running = crate::command::Running;

/// From `cargo workspan` by way of cargo and `workspan record` to the program, and its end back.
#[test]
fn signals_pass_through_cargo() {
    let folder = scratch("through-cargo");
    build::program("endings");
    for (signal, to_group) in [(Signal::SIGTERM, false), (Signal::SIGINT, true)] {
        let mut command = build::cargo_workspan();
        command.current_dir(&folder).args(["run", "--release", "--quiet", "--workers", "2", "--clock", "virtual"]);
        command.arg("--target-dir").arg(build::target());
        command.arg("--manifest-path").arg(build::root().join("programs/endings/Cargo.toml")).args(["--", "hang"]);
        let running = start(&mut with_default_signals(&command));
        running.wait_until_ready();
        if to_group {
            running.signal_group(signal);
        } else {
            running.signal(signal);
        }
        let ended = running.wait();
        assert_eq!(ended.signal(), Some(signal as i32), "{:?} {}", ended.status, ended.err());
        assert_eq!(warnings(&report(&folder, "workspan.wspan")), ["killed", "virtual-clock"], "{signal}");
    }
}

/// A program that hangs in a region is ended, and workspan with it; what it had done is in the recording.
#[track_caller]
fn check_killed(folder: &Path, signal: Signal, how: &str, end: impl FnOnce(Running, nix::unistd::Pid) -> Running) {
    let mut command = with_default_signals(&record(folder, &[], &build::program("endings"), &["hang"]));
    let running = start(&mut command);
    let program = running.wait_until_ready();
    let ended = end(running, program).wait();
    assert_eq!(ended.signal(), Some(signal as i32), "{signal} {how}: {:?} {}", ended.status, ended.err());
    assert!(ended.err().contains(&format!("{signal} ended the program")), "{}", ended.err());
    let report = report(folder, "workspan.wspan");
    assert_eq!(warnings(&report), ["killed", "virtual-clock"], "{signal} {how}");
    assert_eq!(report["program"]["signal"], signal as i32);
    assert_eq!(report["program"]["complete"], false);
}

/// The program decides what a request to end means.
#[test]
fn a_program_that_ends_in_its_own_way() {
    let folder = scratch("graceful");
    let running = start(&mut record(&folder, &[], &build::program("endings"), &["graceful", "3"]));
    running.wait_until_ready();
    running.signal(Signal::SIGTERM);
    let ended = running.wait();
    assert_eq!(ended.code(), Some(3), "{}", ended.err());
    assert_eq!(warnings(&report(&folder, "workspan.wspan")), ["virtual-clock"]);
}

/// `nohup workspan record …`: what is ignored stays ignored, here and in the program.
#[test]
fn ignored_signals_stay_ignored() {
    let folder = scratch("ignored");
    let inner = record(&folder, &[], &build::program("endings"), &["graceful", "3"]);
    let mut command = Command::new("env");
    command.arg("--ignore-signal=INT,HUP").arg(inner.get_program()).args(inner.get_args()).current_dir(&folder);
    let running = start(&mut command);
    running.wait_until_ready();
    for signal in [Signal::SIGHUP, Signal::SIGINT] {
        running.signal_group(signal);
    }
    running.signal(Signal::SIGTERM);
    let ended = running.wait();
    assert_eq!(ended.code(), Some(3), "{:?}: {}", ended.status, ended.err());
}

/// What the program learns about its workers stays true, whatever its loops are split for, unless one worker is to answer for more
/// ([`crate::asked`]).
#[test]
fn the_program_is_told_the_truth_about_its_workers() {
    let folder = scratch("workers");
    let workers = |options: &[&str]| {
        let mut command = workspan(&folder);
        command.args(["record", "--clock", "virtual"]).args(options).arg("--").arg(build::program("endings"));
        run(command.arg("workers").env("RAYON_NUM_THREADS", "5")).out()
    };
    assert!(workers(&[]).starts_with("5 workers\n"));
    assert!(workers(&["--workers", "3", "--logical-cores", "64"]).starts_with("3 workers\n"));
}

/// Of the first process that has hooks, and of no other.
#[test]
fn further_processes_are_counted() {
    let folder = scratch("children");
    run(&mut record(&folder, &[], &build::program("endings"), &["children"])).check_success();
    let found = report(&folder, "workspan.wspan");
    assert_eq!(warnings(&found), ["other-processes", "virtual-clock"]);
    assert!(found["warnings"][0]["message"].as_str().is_some_and(|m| m.starts_with("2 further processes")));
    assert_eq!(found["program"]["work_ns"], 2_000);
    // A forked child counts nothing.
    run(&mut record(&folder, &[], &build::program("endings"), &["fork"])).check_success();
    let found = report(&folder, "workspan.wspan");
    assert_eq!((warnings(&found), &found["program"]["work_ns"]), (vec!["virtual-clock"], &2_000.into()));
}

/// A script is run if what it starts has hooks; if it has none, the script's status is kept all the same.
#[test]
fn scripts() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch("scripts");
    let script = |text: &str| -> PathBuf {
        let file = folder.join("script");
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("writable");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
        file
    };
    let ended = run(&mut record(
        &folder,
        &[],
        &script("\"$@\"; exit 9"),
        &[build::program("endings").to_str().expect("a plain path"), "exit"],
    ));
    assert_eq!(ended.code(), Some(9), "{}", ended.err());
    assert_eq!(report(&folder, "workspan.wspan")["program"]["work_ns"], 2_000);
    let silent = |text: &str| -> Ended { run(&mut record(&folder, &["-o", "none.wspan"], &script(text), &[])) };
    silent("exit 9").check_error(9, &["did not report"]);
    silent("exit 0").check_error(2, &["did not report"]);
    assert!(!folder.join("none.wspan").exists());
}
