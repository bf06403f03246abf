//! Every verb that reads recordings, on every stored recording.
//!
//! The recordings in `tests/fixtures` were made with the virtual clock from `programs/shapes` and `programs/endings`;
//! what differs between machines was replaced, so that the same program gives the same bytes. They also show that files
//! of an older minor version stay readable. To record them again, and to accept what then changes in the snapshots:
//!
//! ```sh
//! WORKSPAN_BLESS=1 INSTA_UPDATE=always cargo test -p workspan --test integration fixtures
//! ```

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use nix::sys::signal::{kill, Signal};
use workspan::args::{Clock, RunOptions};
use workspan::record::measure;
use workspan_model::{Machine, Nanos, Recording, Run};
use workspan_read::{decode, encode};

use crate::build::{self, scratch};
use crate::command::{record, run, start, workspan};

pub(crate) const FIXTURES: &[&str] = &["taskprof", "mix", "par-bridge", "repeated", "killed"];

pub(crate) const VERBS: &[(&str, &[&str])] = &[
    ("report", &["report"]),
    ("report-json", &["report", "--json"]),
    ("info", &["info"]),
    ("info-json", &["info", "--json"]),
];

/// Where the recordings are; made anew if requested.
pub(crate) fn fixtures() -> PathBuf {
    static RECORDED: Once = Once::new();
    RECORDED.call_once(|| {
        if std::env::var_os("WORKSPAN_BLESS").is_some() {
            record_all();
        }
    });
    folder()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

#[test]
fn every_verb_on_every_recording() {
    let folder = fixtures();
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for fixture in FIXTURES {
            for (name, verb) in VERBS {
                let ended = run(workspan(&folder).args(*verb).arg(format!("{fixture}.wspan")));
                assert_eq!(ended.check_success().err(), "", "{name} of {fixture}");
                insta::assert_snapshot!(format!("{fixture}.{name}"), ended.out());
            }
        }
    });
}

/// What is read and written again is the same file.
#[test]
fn files_are_written_as_they_are_read() {
    let folder = fixtures();
    for fixture in FIXTURES {
        let bytes = fs::read(folder.join(format!("{fixture}.wspan"))).expect("it is stored");
        let (recording, problems) = decode(&bytes).expect("it can be read");
        assert_eq!(problems, [], "{fixture}");
        let again = decode(&encode(&recording)).expect("it was just written");
        assert!(again == (recording, Vec::new()), "{fixture}");
    }
}

fn record_all() {
    let measured = |shape: &str, virtual_task_cost: f64, repeat: u32| {
        let options = RunOptions {
            clock: Clock::Virtual,
            virtual_task_cost,
            // With more, the order in which sites are met depends on the day.
            workers: Some(1),
            logical_cores: Some(64),
            repeat,
            ..RunOptions::default()
        };
        let command = [build::program("shapes").into_os_string(), OsString::from(shape)];
        measure(&command, &options).expect("the program runs").0
    };
    store("taskprof", "shapes taskprof", measured("taskprof", 52.5, 1));
    store("mix", "shapes mix", measured("mix", 0.0, 1));
    store("par-bridge", "shapes par-bridge", measured("par-bridge", 0.0, 1));
    store("repeated", "shapes taskprof", measured("taskprof", 52.5, 3));
    let scratch = scratch("fixtures");
    let running = start(&mut record(&scratch, &[], &build::program("endings"), &["hang"]));
    kill(running.wait_until_ready(), Signal::SIGKILL).expect("it runs");
    running.wait();
    let bytes = fs::read(scratch.join("workspan.wspan")).expect("it was written");
    store("killed", "endings hang", decode(&bytes).expect("it can be read").0);
}

fn store(name: &str, command: &str, mut recording: Recording) {
    same_everywhere(&mut recording, command);
    fs::write(folder().join(format!("{name}.wspan")), encode(&recording)).expect("the fixtures are writable");
}

/// Replaces what differs between machines and runs.
pub(crate) fn same_everywhere(recording: &mut Recording, command: &str) {
    recording.command = command.split(' ').map(str::to_owned).collect();
    recording.directory = "/home/user/programs".to_owned();
    recording.made_at = 1_767_225_600;
    recording.machine = Machine {
        processor: "A processor".to_owned(),
        cpus: 2,
        system: "linux 6.1".to_owned(),
        ticks_per_second: 1_000_000_000,
        ..Machine::default()
    };
    for site in &mut recording.sites {
        assert!(!site.file.starts_with('/'), "{site:?}");
        site.addresses.clear();
    }
    for (run, n) in recording.runs.iter_mut().zip(1..) {
        *run = Run { wall: Nanos(n * 1_000_000), cpu: Nanos(n * 2_000_000), idle: Nanos(0), ..run.clone() };
        for totals in &mut run.totals {
            totals.wall = Nanos(0);
        }
    }
}
