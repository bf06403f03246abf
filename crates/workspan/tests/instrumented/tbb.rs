//! Graphs of programs on oneTBB: closed forms, and races, planted and fixed (`programs/tbb/races.cpp`).

use std::path::{Path, PathBuf};

use crate::support::{build, folder, json, out, record_as, success};
use crate::threads::shape;

fn program(name: &str) -> PathBuf {
    let folder = folder(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/tbb/races.cpp");
    build(&folder, &format!("c++ -std=c++17 -O1 {} -o prog -ltbb", source.display()));
    folder
}

/// Construct, tasks that it creates; each is joined. The number of threads does not matter.
const FORMS: &[(&str, u64)] = &[
    // A range of n is halved until n tasks have one each.
    ("for", 64),
    ("deterministic", 32),
    ("reduction", 16),
    ("two", 2),
    ("three", 3),
    ("tasks", 50),
    ("rounds", 20),
    ("run_and_wait", 2),
    // A call of fib(n) with n > 1 creates one task: of 67 calls of fib(8) 33 do.
    ("fib", 33),
    ("enter", 1),
];

#[test]
fn tasks_have_their_shape_and_races_are_found_where_they_are() {
    let folder = program("tbb");
    for threads in [1, 2, 4] {
        for (name, tasks) in FORMS {
            record_as(&folder, &["./prog", name, &threads.to_string(), "0"]);
            let report = json(&folder, "report");
            assert_eq!(report["complete"], true, "{report:#}");
            // Locks that libtbb takes when it starts are syncs of the first thread, as many as its version has.
            let [_, create, join, _, barrier, contexts] = shape(&report);
            let found = [create, join, barrier, contexts];
            assert_eq!(
                found,
                [*tasks, *tasks, 0, 1 + tasks],
                "{name}, {threads} threads: create, join, barrier, contexts"
            );
        }
    }
    let list = out(&success(std::process::Command::new(folder.join("prog")).output().expect("it runs")));
    let mut wrong = Vec::new();
    assert!(list.lines().count() >= 20, "{list}");
    for name in list.lines() {
        for races in [false, true] {
            record_as(&folder, &["./prog", name, "4", if races { "1" } else { "0" }]);
            let found = json(&folder, "races")["races"].clone();
            if found.as_array().is_some_and(Vec::is_empty) == races {
                wrong.push(format!("{name}, races: {races}: {found:#}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
