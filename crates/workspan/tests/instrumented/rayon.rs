//! Graphs of programs on rayon: closed forms, races, planted and fixed, and random programs (`programs/tasks`), not optimised, a little,
//! and fully.

use std::path::{Path, PathBuf};

use crate::support::{build, folder, json, out, record_as, success};
use crate::threads::shape;

fn program(name: &str, profile: &str) -> PathBuf {
    let folder = folder(name);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/tasks/Cargo.toml");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("graph-of-tasks-{profile}"));
    let arguments = format!("--manifest-path {} --target-dir {}", manifest.display(), target.display());
    build(&folder, &format!("cargo build --profile {profile} --locked {arguments}"));
    let built = if profile == "dev" { "debug" } else { profile };
    let built = target.join(format!("{}-unknown-linux-gnu/{built}/tasks", std::env::consts::ARCH));
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
    let folder = program("rayon", "release");
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
}

/// Pairs of a program that races and its fixed form, at least: each runs in three profiles.
const PAIRS: usize = 42;

#[test]
fn races_are_found_where_they_are_and_nowhere_else() {
    let mut wrong = Vec::new();
    for profile in ["dev", "release", "optimised"] {
        let folder = program(&format!("rayon-{profile}"), profile);
        let list = out(&success(std::process::Command::new(folder.join("prog")).output().expect("it runs")));
        assert!(list.lines().count() >= PAIRS, "{list}");
        for name in list.lines() {
            for races in [false, true] {
                record_as(&folder, &["./prog", name, "4", if races { "1" } else { "0" }]);
                let document = json(&folder, "races");
                assert_eq!(document["unseen_order"].as_array().map(Vec::len), Some(0));
                if document["races"].as_array().is_some_and(Vec::is_empty) == races {
                    wrong.push(format!("{name}, {profile}, races: {races}: {document:#}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Random programs, in each profile.
const RANDOM: u64 = 40;

#[test]
fn random_programs_race_where_their_structure_says() {
    let mut wrong = Vec::new();
    let mut racy = 0;
    for profile in ["dev", "optimised"] {
        let folder = program(&format!("rayon-random-{profile}"), profile);
        for seed in 0..RANDOM {
            let races = record_as(&folder, &["./prog", "random", "4", &seed.to_string()]).trim() == "true";
            racy += usize::from(races);
            let document = json(&folder, "races");
            if document["races"].as_array().is_some_and(Vec::is_empty) == races {
                wrong.push(format!("seed {seed}, {profile}, races: {races}: {document:#}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!((20..=60).contains(&racy), "{racy} race: they say little");
}
