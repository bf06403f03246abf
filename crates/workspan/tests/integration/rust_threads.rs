//! Threads of Rust's standard library, in programs without rayon: a thread is called by the line of the program that creates it,
//! not by the library's code that starts all of them.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::build::{self, scratch};
use crate::command::{report, run, workspan};

/// The lines of the source that create threads, and the functions that they are in.
fn expected() -> BTreeSet<(u64, String)> {
    let source = fs::read_to_string(build::root().join("programs/threads/spawned.rs")).expect("it is there");
    let creates = |(number, line): (u64, &str)| Some((number, line.split_once("// creates, in ")?.1.to_owned()));
    (1..).zip(source.lines()).filter_map(creates).collect()
}

/// As a debug build, as a release build, with the names that the compiler makes by default or the new ones, and with no more
/// than lines.
#[test]
fn are_called_by_the_line_that_creates_them() {
    let folder = scratch("rust-threads");
    let expected = expected();
    assert_eq!(expected.len(), 6);
    for (name, options) in [
        ("debug", &["-Copt-level=0", "-g"][..]),
        ("small", &["-Copt-level=1", "-g"]),
        ("release", &["-Copt-level=3", "-g"]),
        ("lines", &["-Copt-level=3", "-Cdebuginfo=line-tables-only"]),
        ("mangled", &["-Copt-level=2", "-g", "-Csymbol-mangling-version=v0"]),
    ] {
        let mut command = Command::new("rustc");
        command.args(["--edition=2021", "--crate-name=spawned"]).args(options).arg("-o").arg(folder.join(name));
        run(command.arg(build::root().join("programs/threads/spawned.rs"))).check_success();
        let file = folder.join(name).with_extension("wspan");
        let mut command = workspan(&folder);
        command.args(["record", "-o"]).arg(&file).arg("--").arg(folder.join(name));
        run(&mut command).check_success();
        let report = report(&folder, &file);
        let threads = report["sites"].as_array().expect("an array").iter().filter(|site| site["kind"] == "thread");
        let found: BTreeSet<(u64, String)> = threads
            .map(|site| {
                let function = site["function"].as_str().unwrap_or_default();
                assert!(
                    site["file"].as_str().is_some_and(|file| file.ends_with("threads/spawned.rs")),
                    "{name}: {site}"
                );
                // In a closure of the function, as what it gives to `scope`.
                let function = function.trim_start_matches("spawned::").split("::").next().unwrap_or_default();
                (site["line"].as_u64().unwrap_or(0), function.to_owned())
            })
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}
