//! Questions about a made-up task graph, with known answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use workspan_query::{is_graph, Cell, GraphFolder, QueryError};
use workspan_trace::control::{Kind, FIRST_SEGMENT};

use crate::made::{file, recording, Buffer, VARIABLE};
use crate::{number, text, Answer};

/// Where the graph's loop begins to load and to store.
const LOADED: u64 = 0x10_0000;
const STORED: u64 = 0x20_0000;

/// `0:0` allocates and loads, `0:1` creates `1:0`, `0:2` loops in a second chunk, `0:3` joins, `0:4` frees.
fn graph(name: &str) -> PathBuf {
    let folder = file(name).with_extension("graph");
    fs::create_dir_all(&folder).expect("writable");
    let mut first = Buffer::default();
    first.control(Kind::Begin, &[10, 0]).load(0x1000).control(Kind::Allocate, &[LOADED, 800, 0]).load(0x1008);
    first.control(Kind::Create, &[20, 21, 2]);
    let mut second = Buffer::default();
    // The call that allocates ends the chunk before.
    second.control(Kind::Allocate, &[STORED, 16, 1]).segment(5, &[LOADED, STORED, 4, 3]);
    second.control(Kind::Join, &[30, 40, 2]).control(Kind::Free, &[LOADED, 3]);
    second.control(Kind::Allocate, &[LOADED, 8, 4]).load(0x1010).control(Kind::End, &[60]);
    let mut other = Buffer::default();
    other.control(Kind::Begin, &[22, 1]).store(LOADED).control(Kind::Free, &[STORED, 2]).control(Kind::End, &[35]);
    recording(
        &format!("{}/events", folder.file_name().and_then(|name| name.to_str()).expect("a name")),
        &[vec![first, second], vec![other]],
    );
    folder
}

fn ask(folder: &Path, sql: &str) -> Result<Answer, QueryError> {
    let mut answer = Answer::default();
    GraphFolder::open(folder)?.run(sql, &mut answer)?;
    Ok(answer)
}

#[track_caller]
fn check(folder: &Path, sql: &str, expected: &[&[Cell]]) {
    let answer = ask(folder, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert_eq!(answer.rows, expected, "{sql}");
}

fn hex(address: u64) -> Cell {
    number(address.into())
}

#[test]
fn tables_have_answers() {
    let folder = graph("query-answers");
    check(
        &folder,
        "select task, type, loads, stores from tasks order by position",
        &[
            &[text("0:0"), text("W"), number(2), number(0)],
            &[text("0:1"), text("C"), number(0), number(0)],
            &[text("0:2"), text("W"), number(6), number(6)],
            &[text("1:0"), text("W"), number(1), number(2)],
            &[text("0:3"), text("J"), number(0), number(0)],
            &[text("0:4"), text("W"), number(1), number(0)],
        ],
    );
    check(&folder, "select successor from edges where predecessor = '1:0'", &[&[text("0:3")]]);
    check(&folder, "select sum(runs) from blocks where function = 'f'", &[&[number(7)]]);
    check(&folder, "select line, size from operations where access = 'update'", &[&[number(15), number(8)]]);
}

/// Each access of a task, those of a loop one by one, and no other task's.
#[test]
fn accesses_are_those_of_their_task() {
    let folder = graph("query-accesses");
    check(
        &folder,
        "select iteration, access, address, size, line from accesses where task = '0:2' and access = 'store' and address < 2097160 \
         order by event, iteration, operation",
        &[
            &[number(0), text("store"), hex(STORED), number(4), number(20)],
            &[number(1), text("store"), hex(STORED + 4), number(4), number(20)],
        ],
    );
    check(&folder, "select count(*) from accesses where context = 1", &[&[number(3)]]);
    check(&folder, "select max(address) from accesses where task = '1:0'", &[&[hex(VARIABLE + 16)]]);
    check(&folder, "select count(*) from accesses where task = '7:7'", &[&[number(0)]]);
    check(&folder, "select count(*) from accesses", &[&[number(18)]]);
    let counted = "select task, loads, stores from tasks where loads + stores > 0 order by task";
    let listed = "select task, sum(case when access <> 'store' then 1 else 0 end) as loads, \
                  sum(case when access <> 'load' then 1 else 0 end) as stores from accesses group by task order by task";
    assert_eq!(ask(&folder, listed).expect("an answer").rows, ask(&folder, counted).expect("an answer").rows);
}

/// Memory that is allocated again is another allocation; what nobody freed has no end.
#[test]
fn allocations_end_where_they_are_freed() {
    let folder = graph("query-allocations");
    check(
        &folder,
        "select address, size, task, ticket, freed_ticket, freed_by from allocations order by ticket",
        &[
            &[hex(LOADED), number(800), text("0:0"), number(0), number(3), text("0:4")],
            &[hex(STORED), number(16), text("0:2"), number(1), number(2), text("1:0")],
            &[hex(LOADED), number(8), text("0:4"), number(4), Cell::Null, Cell::Null],
        ],
    );
    // The call of the second one is in the chunk before.
    let first = i128::from(FIRST_SEGMENT);
    check(&folder, "select segment from allocation_events where ticket = 1", &[&[number(first)]]);
}

#[test]
fn errors_list_the_tables() {
    let folder = graph("query-errors");
    let error = ask(&folder, "select * from nodes").expect_err("no such table").to_string();
    let tables = "there is no table `nodes`; there are tasks, edges, blocks, operations, accesses, allocation_events, allocations";
    assert_eq!(error, tables);
    let error = ask(&folder, "select nothing from accesses").expect_err("no such column").to_string();
    assert!(error.starts_with("there is no column `nothing` here; there are task, context"), "{error}");
    let error = ask(&folder, "drop table tasks").expect_err("it would change something").to_string();
    assert!(error.contains("not supported"), "{error}");
}

fn program(folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workspan-query"));
    command.args(["--csv", "--"]).arg(folder).arg("select count(*) as n from tasks").output().expect("it runs")
}

#[test]
fn what_is_missing_is_said() {
    let folder = graph("query-cut");
    assert_eq!(String::from_utf8_lossy(&program(&folder).stdout), "n\n6\n");
    let events = folder.join("events.wsg");
    let whole = fs::read(&events).expect("it is there");
    for (bytes, message) in [
        (whole[..whole.len() - 30].to_vec(), "warning"),
        ([&whole[..8], &[99, 0, 0, 0], &whole[12..]].concat(), "its format has version 99"),
        (b"something".to_vec(), "it is no task graph"),
    ] {
        fs::write(&events, bytes).expect("writable");
        let output = program(&folder);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            errors.lines().all(|line| line.starts_with("workspan-query: ")) && errors.contains(message),
            "{errors}"
        );
        assert_eq!(output.status.code(), Some(if message == "warning" { 0 } else { 2 }), "{errors}");
    }
    assert!(is_graph(&folder) && !is_graph(&folder.join("events.wsg")));
}

/// Whatever has become of the file, it is read as far as it goes, or there is one sentence.
#[test]
fn damaged_graphs_have_answers_or_errors() {
    let folder = graph("query-damaged");
    let events = folder.join("events.wsg");
    let whole = fs::read(&events).expect("it is there");
    let mut state = 1_u64;
    for _ in 0..150 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(state >> 33).expect("small") % bytes.len();
            bytes[at] = state.to_le_bytes()[6];
        }
        fs::write(&events, bytes).expect("writable");
        for sql in ["select * from allocations", "select sum(size), max(line) from accesses", "select * from tasks"] {
            let _ = ask(&folder, sql);
        }
    }
}
