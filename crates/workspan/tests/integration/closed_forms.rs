//! Programs with a closed-form answer: exact, at 1, 2 and 4 workers, with every version of rayon-core.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use workspan::args::{Clock, RunOptions};
use workspan::exit::Outcome;
use workspan::record::measure;
use workspan_analysis::profile;
use workspan_model::{Nanos, Recording, SiteKind};

use crate::build;

/// Versions of rayon and rayon-core that were released together.
const VERSIONS: &[(&str, &str)] = &[
    ("1.6.1", "1.11.0"),
    ("1.7.0", "1.11.0"),
    ("1.8.0", "1.12.0"),
    ("1.9.0", "1.12.1"),
    ("1.10.0", "1.12.1"),
    ("1.11.0", "1.13.0"),
];

#[test]
fn newest_versions() {
    check_all(&build::program("shapes"));
}

#[test]
fn every_older_version() {
    for (rayon, core) in VERSIONS {
        let project = pinned(rayon, core);
        check_all(&build::release(&project, "shapes"));
    }
}

/// A copy of the project whose dependencies are pinned.
fn pinned(rayon: &str, core: &str) -> PathBuf {
    let source = build::root().join("programs/shapes");
    let project = build::target().join(format!("shapes-{rayon}"));
    fs::create_dir_all(project.join("src")).expect("the target directory is writable");
    for file in ["cost.rs", "main.rs", "shapes.rs"] {
        fs::copy(source.join("src").join(file), project.join("src").join(file)).expect("sources are there");
    }
    let manifest = fs::read_to_string(source.join("Cargo.toml")).expect("the manifest is there");
    let probe = build::root().join("crates/workspan-probe");
    let manifest = manifest
        .replace("rayon = \"1\"", &format!("rayon = \"={rayon}\""))
        .replace("rayon-core = \"1\"", &format!("rayon-core = \"={core}\""))
        .replace("../../crates/workspan-probe", &probe.to_string_lossy());
    let features = match core {
        "1.11.0" => "",
        "1.12.0" => "\"core-1-12\"",
        _ => "\"rayon-1-9\", \"core-1-12\"",
    };
    let manifest = manifest.replace("default = [\"rayon-1-9\", \"core-1-12\"]", &format!("default = [{features}]"));
    fs::write(project.join("Cargo.toml"), manifest).expect("the target directory is writable");
    project
}

fn check_all(build: &Path) {
    let mut differences = Vec::new();
    for workers in [1, 2, 4] {
        let list = Command::new(build).arg("list").env("RAYON_NUM_THREADS", workers.to_string()).output();
        let list = String::from_utf8(list.expect("the program runs").stdout).expect("names and numbers");
        assert!(list.lines().count() >= 40);
        for line in list.lines() {
            let mut words = line.split(' ');
            let name = words.next().expect("a name");
            let mut number = || words.next().and_then(|w| w.parse::<i64>().ok()).expect("a number");
            let expected = (Nanos(number()), Nanos(number()));
            let recording = record(build, name, workers);
            let run = &recording.runs[0];
            let program = profile(&recording, run).program;
            let work = if expected.0 == Nanos::ZERO { comparisons(build, name) } else { expected.0 };
            // No closed form for the span: at least it must be one.
            let span_is_right = match expected.1 {
                Nanos::ZERO => program.span.0 > 0 && program.span.0 * 2 < work.0,
                span => program.span == span,
            };
            if program.work != work || !span_is_right || run.lost_path != Nanos::ZERO {
                differences.push(format!("{name}, {workers} workers: {expected:?}, found {program:?}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}:\n{}", build.display(), differences.join("\n"));
}

/// The comparisons that a sort makes, which are its work.
fn comparisons(program: &Path, shape: &str) -> Nanos {
    let output = Command::new(program).args(["comparisons", shape]).output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("a number");
    Nanos(text.trim().parse().expect("a number"))
}

fn record(program: &Path, shape: &str, workers: u32) -> Recording {
    let options = RunOptions {
        clock: Clock::Virtual,
        virtual_task_cost: 52.5,
        workers: Some(workers),
        logical_cores: Some(64),
        repeat: 1,
        ..RunOptions::default()
    };
    let command = [program.as_os_str().to_owned(), OsString::from(shape)];
    let (recording, outcome) = measure(&command, &options).expect("the program runs");
    assert_eq!(outcome, Outcome::OK, "{shape}");
    assert!(recording.runs[0].complete(), "{shape}, {workers} workers: {:?}", recording.runs[0]);
    recording
}

/// TaskProf's worked example: parallelism 3.27, task overhead 27.63 %, and its recursion rule: of the two spawn sites of
/// the recursive function, tasks below a task of the same site are not added again.
#[test]
fn the_worked_example_of_taskprof() {
    let recording = record(&build::program("shapes"), "taskprof", 2);
    let profile = profile(&recording, &recording.runs[0]);
    assert_eq!(profile.program.tasks, 16);
    assert_eq!(profile.program.overhead, Nanos(840));
    assert_eq!(format!("{:.2}", profile.program.parallelism.expect("a span").0), "3.27");
    assert_eq!(format!("{:.4}", profile.program.task_overhead.expect("work").0), "0.2763");
    let mut spawns: Vec<_> = profile
        .sites
        .iter()
        .filter(|row| recording.sites[row.site.0 as usize].kind == SiteKind::ScopeSpawn)
        .map(|row| (recording.sites[row.site.0 as usize].line, row.tasks, row.work.0, row.span.0, row.critical.0))
        .collect();
    spawns.sort_unstable();
    let answers: Vec<_> =
        spawns.iter().map(|(_, tasks, work, span, critical)| (*tasks, *work, *span, *critical)).collect();
    // First site: the whole left subtree (860/230), then 430/230 and a leaf of 200 below the right one.
    // Second site: the whole right subtree, 430/230 and a leaf of 220 below the left one.
    assert_eq!(answers, [(7, 1490, 660, 0), (7, 1510, 680, 220), (1, 660, 660, 660), (1, 620, 620, 0)]);
}
