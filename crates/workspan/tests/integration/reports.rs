//! Reports in every form: of programs run just now with the virtual clock, and as pages and shortened tables of the
//! stored recordings. To accept changes:
//!
//! ```sh
//! INSTA_UPDATE=always cargo test -p workspan --test integration reports
//! ```

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use workspan::args::{Clock, RunOptions};
use workspan::record::measure;
use workspan_read::encode;

use crate::build::{self, scratch};
use crate::command::{report, run, workspan};
use crate::fixtures::{fixtures, same_everywhere, FIXTURES, VERBS};

/// Programs and what they show, beyond what the stored recordings do.
const FRESH: &[(&str, &str)] = &[
    // No task at all.
    ("endings", "never"),
    // Instances inside instances of the same site.
    ("shapes", "recursion"),
    // A parallel iterator inside another.
    ("shapes", "par-iter-nested"),
    // Serial code that goes on in another pool.
    ("shapes", "install-across"),
    // A task that nobody waits for has the longest chain.
    ("shapes", "spawn-detached"),
    // A branch that panics.
    ("shapes", "panic-right"),
];

/// With names of files only, and no hint how the snapshot was made.
fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

#[test]
fn every_form_of_fresh_recordings() {
    let folder = scratch("reports");
    settings().bind(|| {
        for (program, shape) in FRESH {
            let command = format!("{program} {shape}");
            let file = format!("{shape}.wspan");
            fs::write(folder.join(&file), recorded(program, shape, &command)).expect("writable");
            for (name, verb) in VERBS {
                let ended = run(workspan(&folder).args(*verb).arg(&file));
                assert_eq!(ended.check_success().err(), "", "{name} of {command}");
                insta::assert_snapshot!(format!("{shape}.{name}"), without_file(&ended.out()));
            }
            report(&folder, &file);
        }
    });
}

/// Without what a new version of the format changes.
fn without_file(text: &str) -> String {
    let of_file = |line: &str| {
        let line = line.trim_start();
        line.starts_with("file ") || line.starts_with("\"bytes\"") || line.starts_with("\"minor\"")
    };
    text.lines().filter(|line| !of_file(line)).flat_map(|line| [line, "\n"]).collect()
}

/// The recording of a run, without what differs between machines, toolchains and runs.
fn recorded(program: &str, shape: &str, command: &str) -> Vec<u8> {
    let options = RunOptions {
        clock: Clock::Virtual,
        virtual_task_cost: 0.5,
        // With more, the order in which sites are met depends on the day.
        workers: Some(1),
        logical_cores: Some(64),
        repeat: 1,
        ..RunOptions::default()
    };
    let words = [build::program(program).into_os_string(), OsString::from(shape)];
    let mut recording = measure(&words, &options).expect("the program runs").0;
    same_everywhere(&mut recording, command);
    for run in &mut recording.runs {
        run.features.clear();
        // A worker that finds nothing to do may come after the end.
        run.threads = run.threads.max(2 * run.pools);
        // A detached task that says that it is done has not ended yet.
        run.open.clear();
    }
    for site in &mut recording.sites {
        site.function = None;
    }
    encode(&recording)
}

#[test]
fn every_other_form_of_stored_recordings() {
    let (stored, folder) = (fixtures(), scratch("pages"));
    settings().bind(|| {
        for fixture in FIXTURES {
            let file = stored.join(format!("{fixture}.wspan"));
            report(&folder, &file);
            let ended = run(workspan(&folder).args(["report", "--top", "1", "--html", "page.html"]).arg(&file));
            assert_eq!(ended.check_success().err(), "workspan: wrote page.html\n", "{fixture}");
            insta::assert_snapshot!(format!("{fixture}.report-top"), ended.out());
            insta::assert_snapshot!(format!("{fixture}.report-html"), page(&folder));
            // In place of the text, to a file.
            let ended = run(workspan(&folder).args(["report", "--json=report.json"]).arg(&file));
            assert_eq!((ended.check_success().out(), ended.err()), (String::new(), String::new()), "{fixture}");
            let json = run(workspan(&folder).args(["report", "--json"]).arg(&file)).stdout;
            assert!(fs::read(folder.join("report.json")).expect("it was written") == json, "{fixture}");
        }
    });
}

/// What there is to read on a page: the text of its elements, one a line.
fn page(folder: &Path) -> String {
    let html = fs::read_to_string(folder.join("page.html")).expect("it was written");
    let mut text = String::new();
    let mut hidden = false;
    for part in html.split('<').skip(1) {
        // In the script it may also be a comparison.
        let (tag, content) = part.split_once('>').unwrap_or_default();
        if tag.starts_with("style") || tag.starts_with("script") {
            hidden = true;
        } else if tag.starts_with("/style") || tag.starts_with("/script") {
            hidden = false;
        } else if !hidden && !content.trim().is_empty() {
            text.extend([content.trim(), "\n"]);
        }
    }
    text
}
