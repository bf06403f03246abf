//! Why strands inflate: the allocations that `workspan inflation --graph` names, in programs whose reason is known. They say
//! themselves how long their strands take, by the virtual clock.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{build, err, folder, out, success, workspan};

/// The program, built twice in a folder: for the runs, and for the graph.
fn built(name: &str) -> PathBuf {
    let folder = folder(name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["programs/inflation/memory.c", "include/workspan.h"] {
        let name = Path::new(file).file_name().expect("a name");
        fs::copy(root.join(file), folder.join(name)).expect("it is there");
    }
    let options = ["-O1", "-g", "-fopenmp", "-I.", "memory.c", "-o"];
    let native = std::process::Command::new("clang-19").args(options).arg("native").current_dir(&folder).status();
    assert!(native.expect("clang is there").success());
    build(&folder, &format!("clang-19 {} instrumented", options.join(" ")));
    folder
}

/// What is said of a case: its strands, and the text.
fn answer(folder: &Path, case: &str, options: &[&str]) -> (Value, String) {
    let graph = format!("{case}.graph");
    success(workspan(folder, &["graph", "record", "-o", &graph, "--", "./instrumented", case]));
    let run = |form: &[&str]| {
        let start = ["inflation", "--clock", "virtual", "--repeat", "2", "--workers", "2", "--graph", &graph];
        success(workspan(folder, &[&start, options, form, &["--", "./native", case]].concat()))
    };
    run(&["--json=answer.json"]);
    let text = fs::read_to_string(folder.join("answer.json")).expect("it was written");
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    (answer["memory"].clone(), err(&run(&[])))
}

/// The one allocation that is named has this cause and these lines.
#[track_caller]
fn check(folder: &Path, case: &str, (cause, allocated, bytes, at): (&str, u32, u64, u32), words: &str) {
    let (memory, text) = answer(folder, case, &["--cache", "256"]);
    assert_eq!((&memory["cache_bytes"], &memory["complete"]), (&(256 << 10).into(), &true.into()), "{case}");
    let strands = memory["strands"].as_array().expect("a list");
    assert_eq!(strands.len(), 1, "{case}: {memory:#}");
    let [first] = strands[0]["allocations"].as_array().expect("a list").as_slice() else {
        panic!("{case}: {memory:#}");
    };
    let place = |line: u32| Value::from(format!("memory.c:{line}"));
    let expected = [cause.into(), place(allocated), bytes.into(), place(at)];
    assert_eq!(["cause", "allocated_at", "largest_bytes", "at"].map(|key| first[key].clone()), expected, "{memory:#}");
    assert!(text.contains(words) && text.contains(&format!("allocated at memory.c:{allocated}")), "{text}");
}

/// The line of a source with a text, the `number`th, from 1.
fn line(folder: &Path, text: &str) -> u32 {
    let source = fs::read_to_string(folder.join("memory.c")).expect("it is there");
    let found = (1..).zip(source.lines()).find(|(_, line)| line.contains(text));
    found.map(|(number, _)| number).expect("the program has this line")
}

#[test]
fn the_allocation_is_named_that_strands_share_or_miss_on() {
    let folder = built("inflation-why");
    let line = |text| line(&folder, text);
    let cells = ("false-sharing", line("*cells ="), 64, line("cells[thread]++"));
    check(&folder, "false", cells, "false sharing");
    let cell = ("true-sharing", line("*cell ="), 64, line("atomic_fetch_add(cell"));
    check(&folder, "true", cell, "true sharing");
    let blocks = ("misses", line("*blocks ="), 384 << 10, line("blocks[thread * BLOCK"));
    check(&folder, "set", blocks, "misses");
    let passed = ("traffic", line("*passed ="), 32 << 10, line("sum += passed"));
    let written = format!("written at memory.c:{}", line("passed[i] = round"));
    check(&folder, "traffic", passed, &written);
}

#[test]
fn nothing_is_named_that_explains_nothing() {
    let folder = built("inflation-why-not");
    // Strands that take longer, but touch little; strands that share a line and do not take longer; a cache with room for all.
    let (memory, text) = answer(&folder, "compute", &["--cache", "256"]);
    assert_eq!(memory["strands"][0]["allocations"], Value::Array(Vec::new()), "{memory:#}");
    assert!(text.contains("nothing they touch explains it"), "{text}");
    let (memory, text) = answer(&folder, "none", &["--cache", "256"]);
    assert_eq!(memory["strands"], Value::Array(Vec::new()), "{memory:#}");
    assert!(text.contains("no strands inflate beyond noise"), "{text}");
    let (memory, _) = answer(&folder, "set", &["--cache", "1024"]);
    assert_eq!(memory["strands"][0]["allocations"], Value::Array(Vec::new()), "{memory:#}");
}

#[test]
fn a_graph_that_explains_nothing_is_an_error_or_a_warning() {
    let folder = built("inflation-other");
    let refused = |options: &[&str], words: &str| {
        let output = workspan(&folder, &[&["inflation"], options, &["--", "./native", "false"]].concat());
        assert!(
            !output.status.success() && err(&output).contains(words) && out(&output).is_empty(),
            "{}",
            err(&output)
        );
    };
    refused(&["--graph", "none.graph"], "cannot read the task graph none.graph");
    refused(&["--cache", "256"], "--graph");
    success(workspan(&folder, &["graph", "record", "-o", "set.graph", "--", "./instrumented", "set"]));
    refused(&["--graph", "set.graph", "--cache", "100"], "a power of two");
    // Another case of the program: its tasks come from elsewhere.
    let options =
        ["--clock", "virtual", "--repeat", "2", "--workers", "2", "--graph", "set.graph", "--", "./native", "false"];
    let text = err(&success(workspan(&folder, &[&["inflation"], &options[..]].concat())));
    assert!(text.contains("no task of set.graph was created at memory.c:"), "{text}");
}
