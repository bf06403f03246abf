//! Threads that wait by looking again and again: `programs/threads/looks.c`, in all ways, on one processor and on all; where loops are
//! known by their machine code, as two compilers write them, with a function that is called and without.
//!
//! Loops are known by samples: where the kernel does not permit them, only yields and sleeps are. What is compared is never time
//! itself, but parts of the same run.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::build::scratch;
use crate::command::{report, run, workspan};
use crate::threads::{built, compiled, threads};

/// Compilers, how much they optimise, and the steps of a piece then.
const BUILDS: [(&str, &str); 3] = [("gcc", "-O0"), ("gcc", "-O1"), ("clang-19", "-O2")];

/// Steps of a piece of work: some ten milliseconds.
const STEPS: &str = "8000000";

/// The first processor that may be used, as the kernel lists them.
fn first_processor() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("it is there");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a line");
    list.trim().split(['-', ',']).next().expect("a number").to_owned()
}

/// `command`, on one processor.
fn on_one(command: &Command) -> Command {
    let mut one = Command::new("taskset");
    one.args(["-c", &first_processor()]).arg(command.get_program()).args(command.get_args());
    one.current_dir(command.get_current_dir().expect("it has a folder"));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => one.env(name, value),
            None => one.env_remove(name),
        };
    }
    one
}

/// Reports of runs on one processor, and on all; none where `sampled`, and the kernel does not permit that.
fn reports(what: &str, way: &str, sampled: bool) -> Vec<Value> {
    let programs = match sampled {
        true => BUILDS.iter().map(|(compiler, level)| built("looks", compiler, level)).collect(),
        false => vec![threads("looks")],
    };
    let mut reports = Vec::new();
    for program in programs {
        let name = program.file_name().expect("it has one").to_string_lossy();
        let folder = scratch(&format!("{name}-{what}-{way}"));
        let mut command = workspan(&folder);
        command.args(["record", "-o", "looks.wspan", "--"]).arg(&program).args([what, way, STEPS]);
        for mut command in [on_one(&command), command] {
            let ended = run(&mut command);
            let err = ended.check_success().err();
            if sampled && err.contains("the kernel does not sample the program") {
                return Vec::new();
            }
            reports.push(report(&folder, "looks.wspan"));
        }
    }
    reports
}

fn number(report: &Value, path: &str) -> f64 {
    report.pointer(path).and_then(Value::as_f64).unwrap_or(0.0)
}

/// A helper that only looks is neither work nor the critical path.
#[track_caller]
fn check_helper(way: &str, sampled: bool, polls: bool) {
    for report in reports("helper", way, sampled) {
        let work = number(&report, "/program/work_ns");
        assert!(number(&report, "/sites/0/self_ns") < work / 5.0, "{way}: {report}");
        assert!(number(&report, "/sites/0/critical_share") < 0.5, "{way}: {report}");
        assert_eq!(number(&report, "/program/polled_ns") > work / 5.0, polls, "{way}: {report}");
        let main = report["verdict"]["text"].as_str().expect("text");
        assert!(main.contains("beside ") && main.contains("looks.c"), "{way}: {main}");
    }
}

/// Of two threads that work in turn only one works at a time.
#[track_caller]
fn check_turns(way: &str, sampled: bool) {
    for report in reports("turns", way, sampled) {
        let parallelism = number(&report, "/program/parallelism");
        assert!(parallelism < 1.5, "{way}: {parallelism}: {report}");
    }
}

#[test]
fn a_helper_that_spins() {
    check_helper("spin", true, true);
    check_helper("pause", true, true);
    check_helper("lock", true, true);
}

#[test]
fn a_helper_that_yields_or_sleeps() {
    check_helper("yield", false, true);
    check_helper("sleep", false, false);
    check_helper("nap", false, false);
}

#[test]
fn threads_that_work_in_turn() {
    check_turns("spin", true);
    check_turns("pause", true);
    check_turns("yield", false);
    check_turns("sleep", false);
}

/// Who looks, and is woken as if it slept, goes on behind who has woken it: no time was blocked.
#[test]
fn threads_that_are_woken_while_they_look() {
    for report in reports("turns", "wake", false) {
        let parallelism = number(&report, "/program/parallelism");
        assert!(parallelism < 1.5, "{parallelism}: {report}");
        // Otherwise each looks for as long as the other one works.
        assert!(number(&report, "/program/polled_ns") < number(&report, "/program/work_ns"), "{report}");
    }
}

/// Who looks in sleeps whether others have ended was not blocked by time: it goes on behind them. By hand: 21 pieces of work, of which the
/// longest path has five of a thread and one of `main`. Of the time slept, none is of that path.
#[track_caller]
fn check_ends(what: &str, way: &str) {
    for report in reports(what, way, false) {
        let parallelism = number(&report, "/program/parallelism");
        assert!((2.8..4.5).contains(&parallelism), "{what} {way}: {parallelism}: {report}");
        let verdict = report["verdict"]["text"].as_str().expect("text");
        assert!(!verdict.contains("waiting for"), "{what} {way}: {verdict}");
    }
}

#[test]
fn sleeps_until_others_have_ended() {
    check_ends("ends", "sleep");
    check_ends("ends", "doze");
    check_ends("asked", "sleep");
    check_ends("asked", "doze");
}

/// Reports of `lookers`, on one processor and on all, and with strands.
fn lookers(case: &str) -> [Value; 3] {
    let program = threads("lookers");
    let folder = scratch(&format!("lookers-{case}"));
    let recorded = |options: &[&str]| {
        let mut command = workspan(&folder);
        command.args(["record", "-o", "looks.wspan"]).args(options).arg("--").arg(&program).args([case, STEPS]);
        command
    };
    [on_one(&recorded(&[])), recorded(&[]), recorded(&["--strands"])].map(|mut command| {
        run(&mut command).check_success();
        report(&folder, "looks.wspan")
    })
}

/// Who looks at one word does not go on behind who wakes those who wait for another: 31 pieces of work, a span of 19 by hand, of 30 otherwise.
#[test]
fn threads_that_are_woken_at_other_words() {
    for report in lookers("other") {
        let parallelism = number(&report, "/program/parallelism");
        assert!(parallelism > 1.35, "{parallelism}: {report}");
    }
}

/// A thread that waits in sleeps wakes the one that looks: all work is in a row. Where nobody is seen to end the sleeps they are time blocked,
/// which is on the path as well.
#[test]
fn threads_that_are_woken_by_who_has_slept() {
    for report in lookers("behind") {
        let parallelism = number(&report, "/program/parallelism");
        assert!(parallelism < 1.35, "{parallelism}: {report}");
    }
}

/// Who looks goes on behind who has let it, though that one says so only when the other one has gone on: no time was waited for nothing.
#[test]
fn threads_that_are_woken_late() {
    for report in lookers("late") {
        let parallelism = number(&report, "/program/parallelism");
        assert!(parallelism < 1.1, "{parallelism}: {report}");
        assert!(number(&report, "/program/polled_ns") < number(&report, "/program/work_ns") / 10.0, "{report}");
    }
}

/// A wait of C++'s yields some times before it sleeps, and where it is let go on at once, as by a count that is not down yet, it yields again: one
/// wait, whose end somebody says.
#[test]
fn threads_that_are_let_go_on_for_nothing() {
    for report in lookers("twice") {
        let polled = report.pointer("/program/polled_ns").and_then(Value::as_f64).unwrap_or(0.0);
        assert!(polled < number(&report, "/program/work_ns") / 10.0, "{report}");
        assert!(number(&report, "/program/parallelism") < 1.1, "{report}");
    }
}

/// Threads that begin, and allocate, wait for each other in the kernel. Nobody waits for the outside world: 64 leaves beside each other. One
/// leaf that a busy machine disturbs is the longest path: of the parallelism, what most runs have counts.
#[test]
fn trees_of_asynchronous_calls() {
    let program = compiled("asynchronous.cpp", "g++", "asynchronous", &["-std=c++17", "-pthread"]);
    let folder = scratch("asynchronous");
    let mut parallelism = [0; 9].map(|_| {
        run(workspan(&folder).args(["record", "-o", "a.wspan", "--"]).arg(&program).args(["6", "1000000"]))
            .check_success();
        let report = report(&folder, "a.wspan");
        let blocked = number(&report, "/program/blocked_ns") / number(&report, "/program/work_ns");
        assert!(blocked < 0.05, "{blocked} of the work: {report}");
        number(&report, "/program/parallelism")
    });
    parallelism.sort_by(f64::total_cmp);
    assert!(parallelism[4] > 32.0, "{parallelism:?}");
}

/// Threads that map memory and touch it wait for each other in the kernel: not for the outside world.
#[test]
fn threads_that_wait_for_memory() {
    let program = threads("mapped");
    let folder = scratch("mapped");
    let mut command = workspan(&folder);
    run(command.args(["record", "-o", "mapped.wspan", "--"]).arg(&program).args(["8", "200"])).check_success();
    let report = report(&folder, "mapped.wspan");
    let (blocked, work) = (number(&report, "/program/blocked_ns"), number(&report, "/program/work_ns"));
    assert!(blocked < work / 10.0, "{blocked} of {work}: {report}");
    assert!(number(&report, "/program/parallelism") > 4.0, "{report}");
}

/// What works is not taken for a look.
#[test]
fn threads_that_only_work() {
    for report in reports("busy", "spin", true) {
        assert!(number(&report, "/program/parallelism") > 1.5, "{report}");
        assert_eq!(report.pointer("/program/polled_ns"), None, "{report}");
    }
}
