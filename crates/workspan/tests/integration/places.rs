//! Where recordings and reports go, and what happens where they cannot.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::build::{self, scratch};
use crate::command::{record, report, run, workspan, Ended};
use crate::full_disk;

/// Names in a folder.
fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it exists").map(|e| e.expect("it exists").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

fn exit(folder: &Path, options: &[&str], status: &str) -> Ended {
    run(&mut record(folder, options, &build::program("endings"), &["exit", status]))
}

#[test]
fn the_former_recording_is_kept() {
    let folder = scratch("former");
    for status in ["1", "2", "3"] {
        exit(&folder, &["-o", "my.wspan"], status);
    }
    assert_eq!(listing(&folder), ["my.wspan", "my.wspan.old"]);
    assert_eq!(report(&folder, "my.wspan")["program"]["exit_code"], 3);
    assert_eq!(report(&folder, "my.wspan.old")["program"]["exit_code"], 2);
}

/// What cannot be written leaves the former recording with its strands.
#[test]
fn the_former_strands_are_kept() {
    let folder = scratch("former-strands");
    exit(&folder, &["--strands"], "0").check_success();
    fs::create_dir_all(folder.join("workspan.wspan.old/in the way")).expect("writable");
    exit(&folder, &["--strands"], "0").check_error(2, &["cannot write workspan.wspan", "parallelism 2.00"]);
    assert_eq!(listing(&folder), ["workspan.strands", "workspan.wspan", "workspan.wspan.old"]);
}

/// It is better reported before a long run than after it: the program does not run.
#[test]
fn places_that_cannot_be_written() {
    let folder = scratch("unwritable");
    fs::create_dir(folder.join("directory")).expect("writable");
    fs::write(folder.join("file"), "text").expect("writable");
    for (options, words) in [
        (["-o", "none/x.wspan"], ["none/x.wspan", "there is no folder none: make it with `mkdir -p none`"]),
        (["-o", "directory"], ["directory", "is a directory: name a file in it"]),
        (["-o", "file/x.wspan"], ["file/x.wspan", "Not a directory"]),
        // Not even root writes here.
        (["-o", "/proc/x.wspan"], ["/proc/x.wspan", "cannot write"]),
        (["--html", "none/x.html"], ["none/x.html", "there is no folder none"]),
        (["--json=none/x.json", "--repeat=1"], ["none/x.json", "there is no folder none"]),
    ] {
        let ended = exit(&folder, &options, "0");
        ended.check_error(2, &words);
        assert_eq!(ended.out(), "", "{options:?}");
    }
    assert_eq!(listing(&folder), ["directory", "file"]);
}

/// A device is written to, and never replaced.
#[test]
fn devices() {
    let folder = scratch("devices");
    assert_eq!(exit(&folder, &["-o", "/dev/null"], "7").code(), Some(7));
    let full = exit(&folder, &["-o", "/dev/full"], "0");
    full.check_error(2, &["cannot write /dev/full", "No space left", "parallelism 2.00"]);
    assert!(full.stdout.starts_with(b"out: "));
    // How the program ended matters more.
    exit(&folder, &["-o", "/dev/full"], "7").check_error(7, &["cannot write /dev/full"]);
    exit(&folder, &["--json=/dev/full"], "7").check_error(7, &["cannot write /dev/full"]);
    assert_eq!(listing(&folder), ["workspan.wspan"]);
    let ended = run(workspan(&folder).args(["report", "--json=/dev/stdout"]));
    assert!(ended.check_success().out().starts_with("{"));
}

/// A file system without room: the former recording stays, and nothing else does.
#[test]
fn a_full_disk() {
    let folder = scratch("full");
    let disk = folder.join("disk");
    fs::create_dir(&disk).expect("writable");
    exit(&folder, &["-o", "disk/x.wspan"], "0").check_success();
    let before = fs::read(disk.join("x.wspan")).expect("it was written");
    for room in [0, 1, before.len() / 2] {
        let mut command = record(&folder, &["-o", "disk/x.wspan"], &build::program("endings"), &["exit", "0"]);
        let full = run(full_disk::fill(&mut command, &disk, room));
        full.check_error(2, &["cannot write disk/x.wspan: No space left", "parallelism 2.00"]);
        assert!(full.stdout.starts_with(b"out: "));
        assert_eq!(fs::read(disk.join("x.wspan")).expect("it was there"), before, "{room} bytes of room");
        assert_eq!(listing(&disk), ["x.wspan"], "{room} bytes of room");
    }
}

/// `ulimit -f` concerns the shared memory too: an error that says so, and no death by a signal.
#[test]
fn a_limit_on_the_size_of_files() {
    let folder = scratch("limit");
    let command = record(&folder, &[], &build::program("endings"), &["exit", "0"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 100; exec \"$@\"", "sh"]).arg(command.get_program()).args(command.get_args());
    let ended = run(shell.current_dir(&folder));
    ended.check_error(2, &["cannot make shared memory", "workspan doctor", "File too large"]);
    assert_eq!(listing(&folder), [""; 0]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 100; exec \"$0\" doctor", env!("CARGO_BIN_EXE_workspan")]);
    let ended = run(shell.current_dir(&folder));
    assert_eq!(ended.code(), Some(1));
    assert!(ended.out().contains("ulimit -f unlimited"), "{}", ended.out());
}

/// The page comes beside the text, JSON in its place; `-` is standard output.
#[test]
fn forms_of_the_report() {
    let folder = scratch("forms");
    let ended = exit(&folder, &["--html", "page.html"], "0");
    assert!(ended.check_success().err().contains("parallelism 2.00"));
    assert!(fs::read_to_string(folder.join("page.html")).expect("requested").starts_with("<!DOCTYPE html>"));
    let ended = run(workspan(&folder).args(["report", "--json=again.json"]));
    assert_eq!((ended.check_success().out(), ended.err()), (String::new(), String::new()));
    let again = fs::read(folder.join("again.json")).expect("requested");
    assert_eq!(run(workspan(&folder).args(["report", "--json"])).stdout, again);
    assert_eq!(run(workspan(&folder).args(["report", "--json=-"])).stdout, again);
    assert_eq!(listing(&folder), ["again.json", "page.html", "workspan.wspan"]);
}
