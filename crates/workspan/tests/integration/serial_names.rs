//! Serial code is named by the function that ran it. The programs of `programs/serial` do a fixed amount of work in functions of
//! known names: a tenth of a second or more in each, of which some thirty samples come, and six are enough.
//!
//! Where the kernel does not permit samples, the tests see to it that the report says so, and names its rows as without.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{report, run, workspan};

/// What a compiler makes of a source of `programs/serial`.
fn compiled(folder: &Path, compiler: &[&str], source: &str) -> PathBuf {
    let program = folder.join("phases");
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).arg("-o").arg(&program).arg(source_of(source));
    run(&mut command).check_success();
    program
}

fn source_of(name: &str) -> PathBuf {
    build::root().join("programs/serial").join(name)
}

/// A report, and whether the program was sampled.
fn recorded(folder: &Path, options: &[&str], program: &Path, arguments: &[&str]) -> (Value, bool) {
    let mut command = workspan(folder);
    command.args(["record", "-o", "serial.wspan"]).args(options).arg("--").arg(program).args(arguments);
    let ended = run(&mut command);
    let refused = ended.check_success().err().contains("the kernel does not sample the program");
    (report(folder, "serial.wspan"), !refused)
}

/// Function and first and last line of each row of serial code that takes at least a twentieth of the span, in the order of the program.
fn named(report: &Value) -> Vec<(String, u64, u64)> {
    let rows = report["regions"].as_array().expect("an array").iter();
    let mut rows: Vec<&Value> = rows
        .filter(|row| row["kind"] == "serial" && row["critical_share"].as_f64().is_some_and(|share| share > 0.05))
        .collect();
    // Start-up is before a region, and the end is after one.
    rows.sort_by_key(|row| (!row["from"].is_null(), row["to"].is_null()));
    let text = |row: &Value| row["ran"]["function"].as_str().unwrap_or("nothing").to_owned();
    let line = |row: &Value, which: &str| row["ran"][which].as_u64().unwrap_or(0);
    rows.into_iter().map(|row| (text(row), line(row, "first_line"), line(row, "last_line"))).collect()
}

/// The lines of a function, from that which names it to the one that ends it.
fn lines(source: &str, function: &str) -> (u64, u64) {
    let text = fs::read_to_string(source_of(source)).expect("it is there");
    let of = |line: &str| line.contains(&format!("{function}(")) && line.ends_with('{');
    let mut rest = (1..).zip(text.lines()).skip_while(|(_, line)| !of(line));
    let (first, opening) = rest.next().expect("it is in the source");
    let indent = opening.len() - opening.trim_start().len();
    let closing = format!("{}}}", " ".repeat(indent));
    (first, rest.find(|(_, line)| *line == closing).expect("it ends").0)
}

/// Rows have these functions, and lines within them.
#[track_caller]
fn check(report: &Value, sampled: bool, source: &str, expected: &[&str]) {
    let found = named(report);
    if !sampled {
        assert!(found.iter().all(|(function, ..)| function == "nothing"), "{found:?}");
        return;
    }
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.rsplit("::").next().unwrap_or(name)).collect();
    assert_eq!(names, expected, "{found:?}");
    for ((_, first, last), function) in found.iter().zip(expected) {
        let (begin, end) = lines(source, function);
        assert!(
            begin <= *first && first <= last && *last <= end,
            "{function}: {first} to {last}, not in {begin} to {end}"
        );
    }
}

fn check_openmp(name: &str, compiler: &[&str]) {
    let folder = scratch(&format!("serial-{name}"));
    let program = compiled(&folder, compiler, "phases.c");
    let (report, sampled) = recorded(&folder, &[], &program, &[]);
    check(&report, sampled, "phases.c", &["read_input", "write_output", "summarise"]);
}

#[test]
fn around_a_loop_of_gcc() {
    check_openmp("gcc", &["gcc", "-O2", "-g", "-fopenmp"]);
}

/// Into whose functions clang's debug information inlines helpers to the last instruction.
#[test]
fn around_a_loop_of_clang() {
    check_openmp("clang", &["clang-19", "-O2", "-g", "-fopenmp"]);
}

#[test]
fn two_phases_between_the_same_neighbours() {
    let folder = scratch("serial-twice");
    let program = compiled(&folder, &["gcc", "-O2", "-g", "-fopenmp"], "phases.c");
    let (report, sampled) = recorded(&folder, &[], &program, &["twice"]);
    if !sampled {
        return;
    }
    check(&report, sampled, "phases.c", &["read_input", "main", "summarise"]);
    let rows = report["regions"].as_array().expect("an array");
    let both = rows.iter().find(|row| row["ran"]["function"] == "main").expect("it is there");
    let callees = both["ran"]["callees"].as_array().expect("an array").iter();
    let mut callees: Vec<&str> = callees.filter_map(|callee| callee["function"].as_str()).collect();
    callees.sort_unstable();
    assert_eq!(callees, ["order", "write_output"]);
}

/// Functions of a stripped program have no names; they are known by where they begin.
#[test]
fn of_a_stripped_program() {
    let folder = scratch("serial-stripped");
    let program = compiled(&folder, &["gcc", "-O2", "-s", "-fopenmp"], "phases.c");
    let (report, sampled) = recorded(&folder, &[], &program, &[]);
    let found = named(&report);
    assert_eq!(found.len(), 3, "{found:?}");
    let mut names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    if sampled {
        assert!(names.iter().all(|name| name.starts_with("phases+0x")), "{names:?}");
        names.dedup();
        assert_eq!(names.len(), 3, "each is another function: {names:?}");
    }
}

#[test]
fn of_threads_in_cpp() {
    let folder = scratch("serial-cpp");
    let program = compiled(&folder, &["g++", "-O2", "-g", "-pthread"], "phases.cpp");
    let (report, sampled) = recorded(&folder, &[], &program, &[]);
    check(&report, sampled, "phases.cpp", &["flush_all"]);
    let rows = report["regions"].as_array().expect("an array");
    let threads = rows.iter().find(|row| row["kind"] == "thread").expect("they are there");
    if sampled {
        assert_eq!(threads["ran"]["function"], "Table::build", "{threads}");
        assert_eq!(threads["ran"]["threads"], 2);
        assert_eq!(threads["ran"]["main_thread"], false);
    }
}

#[test]
fn of_threads_in_rust() {
    let folder = scratch("serial-rust");
    let program = compiled(&folder, &["rustc", "--edition=2021", "-Copt-level=3", "-g"], "threads.rs");
    let (report, sampled) = recorded(&folder, &[], &program, &[]);
    if !sampled {
        return;
    }
    check(&report, sampled, "threads.rs", &["write_output"]);
    let rows = report["regions"].as_array().expect("an array");
    let threads = rows.iter().find(|row| row["kind"] == "thread").expect("they are there");
    assert_eq!(threads["ran"]["function"], "threads::search", "{threads}");
}

#[test]
fn around_a_parallel_iterator() {
    let folder = scratch("serial-rayon");
    let (report, sampled) = recorded(&folder, &[], &build::program("serial"), &[]);
    check(&report, sampled, "src/main.rs", &["parse_header", "write_output"]);
}

/// What runs in a pool's `install` is the serial code of whoever called it.
#[test]
fn in_a_pool() {
    let folder = scratch("serial-install");
    let (report, sampled) = recorded(&folder, &[], &build::program("serial"), &["install"]);
    check(&report, sampled, "src/main.rs", &["parse_header", "write_output"]);
}

#[test]
fn where_the_kernel_refuses_rows_are_named_by_their_neighbours() {
    let folder = scratch("serial-refused");
    let program = compiled(&folder, &["gcc", "-O2", "-g", "-fopenmp"], "phases.c");
    let mut command = workspan(&folder);
    command.env("WORKSPAN_DISABLE", "samples").args(["record", "--repeat", "2", "--"]).arg(&program);
    let ended = run(&mut command);
    let text = ended.check_success().err();
    assert_eq!(text.matches("does not sample the program").count(), 1, "{text}");
    assert!(text.contains("serial code before phases.c:") || text.contains("serial code before "), "{text}");
    assert!(!text.contains("read_input"), "{text}");
    let report = report(&folder, "workspan.wspan");
    assert!(named(&report).iter().all(|(function, ..)| function == "nothing"));
}

/// With the virtual clock, ticks are no time, and what a report says is the same every time.
#[test]
fn with_the_virtual_clock_nothing_is_sampled() {
    let folder = scratch("serial-virtual");
    let program = compiled(&folder, &["gcc", "-O2", "-g", "-fopenmp"], "phases.c");
    let (report, sampled) = recorded(&folder, &["--clock", "virtual"], &program, &[]);
    assert!(sampled, "nothing was refused");
    let rows = report["regions"].as_array().expect("an array");
    assert!(rows.iter().all(|row| row.get("ran").is_none()), "{rows:?}");
}
