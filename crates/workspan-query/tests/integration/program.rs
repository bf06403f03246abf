//! The program `workspan-query`: what it writes, and its status.

use std::process::{Command, Output, Stdio};

use workspan_testkit::strands::{random, RandomRun};

use crate::Folder;

const SITES: &str =
    "select place, kind, strands, work_ns, round(share, 3) as share from site_totals order by work_ns desc, place";

const SEED: u64 = 39;

fn folder(name: &str) -> Folder {
    let RandomRun { recording, rows } = random(SEED);
    Folder::of(name, &recording, &[&rows])
}

/// `workspan-query OPTIONS -- FOLDER SQL`, as `workspan query` runs it.
fn program(folder: &Folder, options: &[&str], sql: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workspan-query"));
    command.args(options).arg("--").arg(&folder.path).arg(sql).stdin(Stdio::null());
    command
}

fn ask(folder: &Folder, options: &[&str], sql: &str) -> Output {
    program(folder, options, sql).output().expect("it runs")
}

#[track_caller]
fn answer(folder: &Folder, options: &[&str], sql: &str) -> String {
    let output = ask(folder, options, sql);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{:?}: {errors}", output.status);
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn answers_have_three_forms() {
    let folder = folder("forms");
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (name, options) in [("query", &[] as &[&str]), ("query-json", &["--json"]), ("query-csv", &["--csv"])] {
            insta::assert_snapshot!(format!("made-up-{SEED}.{name}"), answer(&folder, options, SITES));
        }
    });
    let quoted = answer(&folder, &["--csv"], "select 'a,\"b' as x, null as y, true as z");
    assert_eq!(quoted, "x,y,z\n\"a,\"\"b\",,true\n");
    assert_eq!(answer(&folder, &[], "select value from generate_series(1, 3000)").lines().count(), 3001);
}

/// A question may begin like an option: with a comment.
#[test]
fn a_question_is_no_option() {
    assert_eq!(answer(&folder("comment"), &["--csv"], "-- one\nselect 1 as one"), "one\n1\n");
}

#[test]
fn errors_are_short() {
    let folder = folder("program errors");
    for (sql, expected) in [
        ("select nothing from nodes", "workspan-query: error: there is no column `nothing` here; there are "),
        ("drop table nodes", "workspan-query: error: "),
    ] {
        let output = ask(&folder, &[], sql);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.starts_with(expected) && errors.lines().count() == 1, "{errors}");
        assert!(output.stdout.is_empty());
    }
    let none = Command::new(env!("CARGO_BIN_EXE_workspan-query")).output().expect("it runs");
    assert_eq!(none.status.code(), Some(2));
}

/// `workspan query … | head -1`.
#[test]
fn a_reader_who_has_enough_is_no_error() {
    let folder = folder("enough");
    let mut command = program(&folder, &["--csv"], "select value from generate_series(1, 1000000)");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
