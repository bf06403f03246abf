//! Graphs of programs on rayon: closed forms, and races, planted and fixed (`programs/tasks`).

use std::path::{Path, PathBuf};

use crate::support::{build, folder, json, out, record_as, success};
use crate::threads::shape;

fn program(name: &str) -> PathBuf {
    let folder = folder(name);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/tasks/Cargo.toml");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("graph-of-tasks");
    let arguments = format!("--manifest-path {} --target-dir {}", manifest.display(), target.display());
    build(&folder, &format!("cargo build --release --locked {arguments}"));
    let built = target.join(format!("{}-unknown-linux-gnu/release/tasks", std::env::consts::ARCH));
    std::fs::copy(built, folder.join("prog")).expect("it was built");
    folder
}

/// Tasks of a construct, by threads.
type Tasks = fn(u64) -> u64;

/// Construct, tasks that it creates with `n` threads in the pool; each is joined. A call from outside of the pool is one.
const FORMS: &[(&str, Tasks)] = &[
    ("one_join", |_| 2),
    // A call of fib(n) with n > 1 creates one task: of 67 calls of fib(8) 33 do.
    ("fib", |_| 34),
    ("spawns", |_| 21),
    ("everywhere", |n| n),
    ("inside", |_| 3),
];

#[test]
fn tasks_have_their_shape_and_races_are_found_where_they_are() {
    let folder = program("rayon");
    for threads in [1, 2, 4] {
        for (name, tasks) in FORMS {
            record_as(&folder, &["./prog", name, &threads.to_string(), "0"]);
            let report = json(&folder, "report");
            assert_eq!(report["complete"], true, "{report:#}");
            let [_, create, join, _, barrier, _] = shape(&report);
            // The pool's threads are created, too, and nobody waits for them.
            let tasks = tasks(threads);
            assert_eq!([create, join, barrier], [tasks + threads, tasks, 0], "{name}, {threads} threads");
        }
    }
    let list = out(&success(std::process::Command::new(folder.join("prog")).output().expect("it runs")));
    let mut wrong = Vec::new();
    assert!(list.lines().count() >= 11, "{list}");
    for name in list.lines() {
        for races in [false, true] {
            record_as(&folder, &["./prog", name, "4", if races { "1" } else { "0" }]);
            let document = json(&folder, "races");
            assert_eq!(document["unseen_order"].as_array().map(Vec::len), Some(0));
            if document["races"].as_array().is_some_and(Vec::is_empty) == races {
                wrong.push(format!("{name}, races: {races}: {document:#}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
