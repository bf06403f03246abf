//! `workspan inflation`: serial and parallel runs of real programs, strand by strand.

use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::build::{program, scratch};
use crate::command::{run, start, with_default_signals, workspan, Ended};
use crate::openmp_build::{openmp, Compiler};
use crate::tbb::by_gcc;
use crate::threads::threads;

fn inflation(folder: &Path, options: &[&str], program: &Path, arguments: &[&str]) -> Ended {
    let mut command = workspan(folder);
    command.args(["inflation", "--json=answer.json", "--repeat", "2", "--workers", "2"]).args(options);
    run(command.arg("--").arg(program).args(arguments))
}

fn answer(folder: &Path, ended: &Ended) -> Value {
    ended.check_success();
    let text = std::fs::read_to_string(folder.join("answer.json")).expect("it was written");
    serde_json::from_str(&text).expect("JSON")
}

/// Every strand of every run has its partner in every other.
#[track_caller]
fn check_same(what: &str, answer: &Value) {
    let nodes = &answer["nodes"];
    assert_eq!(nodes["same"], true, "{what}: {:#}", nodes["warnings"]);
    assert_eq!(nodes["matched"], nodes["strands"], "{what}");
    for run in ["base", "others"].iter().flat_map(|runs| nodes[runs].as_array().expect("runs")) {
        assert_eq!((run["missing"].as_u64(), run["extra"].as_u64()), (Some(0), Some(0)), "{what}: {nodes:#}");
    }
}

#[test]
fn rayon_is_the_same_node_for_node() {
    let folder = scratch("inflation-rayon");
    let planted = program("planted");
    for name in own_nodes(&planted) {
        let ended = inflation(&folder, &["--clock", "virtual"], &planted, &[&name]);
        let answer = answer(&folder, &ended);
        check_same(&name, &answer);
        // Ticks are the same on any number of workers.
        let program = &answer["nodes"]["program"];
        assert_eq!(program["work"]["base_ns"], program["work"]["new_ns"], "{name}");
        assert_eq!(program["critical"]["base_ns"], program["critical"]["new_ns"], "{name}");
    }
}

/// Workers begin at other times, branches are stolen or not: the program's nodes are the same.
#[test]
fn so_it_is_by_the_real_clock() {
    let folder = scratch("inflation-real");
    let planted = program("planted");
    for name in own_nodes(&planted) {
        let answer = answer(&folder, &inflation(&folder, &[], &planted, &[&name, "20"]));
        check_same(&name, &answer);
        assert_eq!((&answer["base"]["workers"], &answer["new"]["workers"]), (&1.into(), &2.into()), "{name}");
    }
}

/// Programs in which the same tasks do the same: who takes which item of `par_bridge` is accident.
fn own_nodes(planted: &Path) -> Vec<String> {
    let names = run(std::process::Command::new(planted).arg("list"));
    let names = names.check_success().out();
    names.lines().filter(|name| *name != "shared-iterator").map(str::to_owned).collect()
}

#[test]
fn openmp_is_the_same_node_for_node() {
    let folder = scratch("inflation-openmp");
    for (name, arguments) in [("fib", ["18", "8"]), ("tree", ["4", "2000"]), ("loops", ["static", "5"])] {
        let program = openmp(&format!("{name}.c"), Compiler::Clang);
        let answer = answer(&folder, &inflation(&folder, &[], &program, &arguments));
        check_same(name, &answer);
        assert_eq!((&answer["base"]["workers"], &answer["new"]["workers"]), (&1.into(), &2.into()));
    }
}

/// A program that makes a pool of its own size has no base with one worker, and nothing says that it had.
#[test]
fn workers_are_those_that_ran() {
    let folder = scratch("inflation-pool");
    let ended = inflation(&folder, &[], &program("scale"), &["pool", "3"]);
    let answer = answer(&folder, &ended);
    assert_eq!((&answer["base"]["workers"], &answer["new"]["workers"]), (&3.into(), &3.into()));
    assert!(
        answer["text"].as_str().is_some_and(|text| text.starts_with("3 workers instead of 3")),
        "{}",
        answer["text"]
    );
}

/// Nobody can set the number of threads that a program creates itself: both sides would be the same run.
#[test]
fn programs_whose_workers_cannot_be_set_are_refused() {
    let folder = scratch("inflation-refused");
    let own = threads("constructs");
    let words = [
        &format!("cannot compare {} on 1 and 2 workers", own.display()),
        "creates its threads itself",
        "Workspan cannot set their number",
        "`workspan diff",
    ];
    inflation(&folder, &[], &own, &[]).check_error(2, &words);
    assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 0, "nothing runs, and nothing is written");
}

/// oneTBB counts as many processors as Workspan says.
#[test]
fn tbb_runs_on_one_worker_and_on_several() {
    let folder = scratch("inflation-tbb");
    let answer = answer(&folder, &inflation(&folder, &[], &by_gcc("constructs.cpp"), &["group"]));
    assert_eq!((&answer["base"]["workers"], &answer["new"]["workers"]), (&1.into(), &2.into()));
}

#[test]
fn what_is_counted_is_told() {
    let folder = scratch("inflation-events");
    let ended = inflation(&folder, &["--events", "page-faults,cycles"], &program("planted"), &["heavy-pair"]);
    let answer = answer(&folder, &ended);
    let events = answer["events"].as_array().expect("a list");
    let names: Vec<&str> = events.iter().filter_map(|event| event["name"].as_str()).collect();
    let always = ["minor-faults", "major-faults", "voluntary-switches", "involuntary-switches", "migrations"];
    assert_eq!(names[..5], always);
    assert_eq!(names[5..], ["page-faults", "cycles"]);
    assert!(events[0]["base"].as_f64() > Some(10.0) && events[0]["new"].as_f64() > Some(10.0), "{:#}", events[0]);
    for event in events {
        // Counted, or the reason why not.
        assert!(event["refused"].is_string() || event["base"].is_number(), "{event:#}");
        assert!(event["refused"].is_null() || event["base"].is_null(), "{event:#}");
    }
    // The same again from the recordings.
    let again = run(workspan(&folder).args(["diff", "--json", "inflation.base.wspan", "inflation.wspan"]));
    let again: Value = serde_json::from_slice(&again.check_success().stdout).expect("JSON");
    assert_eq!(again["nodes"]["program"], answer["nodes"]["program"]);
}

/// Where nothing can be compared, what there is is kept.
#[test]
fn the_first_run_can_be_interrupted() {
    let folder = scratch("inflation-interrupted");
    let mut command = workspan(&folder);
    command.args(["inflation", "--workers", "2", "--"]).arg(program("endings")).arg("graceful");
    let running = start(&mut with_default_signals(&command));
    running.wait_until_ready();
    running.signal_group(Signal::SIGINT);
    let ended = running.wait();
    assert_eq!(ended.signal(), Some(Signal::SIGINT as i32), "{}", ended.err());
    assert!(ended.err().contains("interrupted before there was anything to compare"), "{}", ended.err());
    assert!(folder.join("inflation.base.wspan").exists() && !folder.join("inflation.wspan").exists());
}

#[test]
fn what_goes_wrong_is_said() {
    let folder = scratch("inflation-wrong");
    let planted = program("planted");
    inflation(&folder, &["--events", "cycels"], &planted, &["list"]).check_error(2, &["`cycels` is no event"]);
    inflation(&folder, &["--fail-on", "work>2x"], &planted, &["list"]).check_error(2, &["condition on inflation"]);
    inflation(&folder, &[], Path::new("./gone"), &[]).check_error(127, &["cannot run ./gone"]);
    let team = openmp("fib.c", Compiler::Clang);
    for workers in ["255", "4096"] {
        let ended = run(workspan(&folder).args(["inflation", "--workers", workers, "--"]).arg(&team));
        ended.check_error(2, &[&format!("--workers {workers}: Workspan can follow at most 254 threads")]);
    }
    // The program's own failure is reported, and what was measured is kept.
    for (json, words) in [("answer.json", ""), ("/dev/full", "cannot write /dev/full")] {
        let folder = scratch("inflation-fails");
        let mut command = workspan(&folder);
        command.args(["inflation", "--repeat=1", "--workers=2", &format!("--json={json}"), "--"]);
        let failed = run(command.arg(program("scale")).args(["fail", "3"]));
        assert!(failed.code() == Some(3) && failed.err().contains(words), "{}", failed.err());
        for file in ["inflation.wspan", "inflation.base.wspan", "inflation.strands", "inflation.base.strands"] {
            assert!(folder.join(file).exists(), "{file}");
        }
        assert_eq!(folder.join("answer.json").exists(), json == "answer.json");
    }
    // Nothing is moved for what cannot be written.
    let kept_in = scratch("inflation-kept");
    inflation(&kept_in, &["--clock", "virtual"], &planted, &["heavy-pair"]).check_success();
    std::fs::create_dir_all(kept_in.join("inflation.wspan.old/in the way")).expect("writable");
    let kept = inflation(&kept_in, &["--clock", "virtual"], &planted, &["heavy-pair"]);
    kept.check_error(2, &["cannot write inflation.wspan"]);
    assert!(kept_in.join("inflation.strands").is_dir() && !kept_in.join("inflation.strands.old").exists());
    assert!(kept_in.join("inflation.base.strands.old").is_dir());
    let gate = inflation(&folder, &["--clock", "virtual", "--fail-on", "inflation>0.5"], &planted, &["heavy-pair"]);
    assert_eq!(gate.code(), Some(1), "{}", gate.err());
}
