//! What ends early leaves a recording that says so.

use std::path::Path;

use nix::sys::signal::{kill, Signal};
use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{record, report, run, start, warnings, workspan};

/// Ticks of the join with which the program begins, and of its longer branch.
const BEFORE: (i64, i64) = (2_000, 1_000);

#[test]
fn killed_inside_a_region() {
    let folder = scratch("killed");
    let running = start(&mut record(&folder, &[], &build::program("endings"), &["hang"]));
    kill(running.wait_until_ready(), Signal::SIGKILL).expect("it runs");
    assert_eq!(running.wait().signal(), Some(Signal::SIGKILL as i32));
    check(&folder, "killed", false, true);
}

#[test]
fn every_other_end() {
    let folder = scratch("ends");
    for (arguments, warning, complete, open) in [
        (&["exit-inside", "7"], "exit-inside-region", false, true),
        (&["_exit", "0"], "end-unseen", false, false),
        (&["exec", ""], "end-unseen", false, false),
        (&["abort", ""], "killed", false, true),
        // Unwinding ends the region, and exit handlers run: nothing is missing.
        (&["panic", ""], "", true, false),
    ] {
        let arguments: Vec<&str> = arguments.iter().copied().filter(|word| !word.is_empty()).collect();
        run(&mut record(&folder, &[], &build::program("endings"), &arguments));
        check(&folder, warning, complete, open);
    }
}

/// What had run by then is there, the region that was open is marked, and the text report says what is the matter.
#[track_caller]
fn check(folder: &Path, warning: &str, complete: bool, open: bool) {
    let found = report(folder, "workspan.wspan");
    let mut expected = vec![warning, "virtual-clock"];
    expected.retain(|code| !code.is_empty());
    assert_eq!(warnings(&found), expected);
    assert_eq!(found["program"]["complete"], complete, "{warning}");
    let at_least = |key: &str, least: i64| {
        assert!(found["program"][key].as_i64().is_some_and(|value| value >= least), "{warning}: {}", found["program"]);
    };
    at_least("work_ns", BEFORE.0);
    at_least("span_ns", BEFORE.1);
    let joins: Vec<&Value> = array(&found, "sites").iter().filter(|site| site["kind"] == "join").collect();
    assert!(joins.iter().any(|site| site["work_ns"] == BEFORE.0 && site["file"] == "src/main.rs"), "{joins:?}");
    assert_eq!(array(&found, "regions").iter().any(|region| region["open"] == true), open, "{warning}");
    let text = run(workspan(folder).arg("report"));
    let second = text.check_success().out().lines().nth(1).map(str::to_owned).expect("a second line");
    let dead = second.starts_with("! the program ") || second.contains(" ended the program: ");
    assert_eq!(dead, !complete, "{second}");
}

fn array<'a>(report: &'a Value, key: &str) -> &'a Vec<Value> {
    report[key].as_array().expect("a list")
}

/// Whoever stops one run stops them all; what has been measured is kept.
#[test]
fn repeated_runs_end_with_a_signal() {
    let folder = scratch("repeated");
    let running = start(&mut record(&folder, &["--repeat", "3"], &build::program("endings"), &["hang"]));
    kill(running.wait_until_ready(), Signal::SIGKILL).expect("it runs");
    assert_eq!(running.wait().signal(), Some(Signal::SIGKILL as i32));
    assert_eq!(report(&folder, "workspan.wspan")["recorded"]["runs"], 1);
    // A status that is no success is no reason to stop; the first such is passed on.
    let ended = run(&mut record(&folder, &["--repeat", "3"], &build::program("endings"), &["exit", "7"]));
    assert_eq!(ended.code(), Some(7));
    assert_eq!(report(&folder, "workspan.wspan")["recorded"]["runs"], 3);
}
