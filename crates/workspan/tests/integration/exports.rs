//! `workspan export`: what the formats require is tested in `workspan-export`; here, that the verb writes what it is asked
//! for, of stored recordings and of programs that ran, and that it adds up to the report.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::build::{self, scratch};
use crate::command::{record, report, run};
use crate::fixtures::{fixtures, FIXTURES};
use crate::strand_verbs::{ask, recorded, settings, SEEDS};

fn export(folder: &Path, file: &str, arguments: &[&str]) -> String {
    let ended = ask(folder, &[&["export", file], arguments].concat());
    ended.check_success().out()
}

fn json(folder: &Path, file: &str, arguments: &[&str]) -> Value {
    serde_json::from_str(&export(folder, file, arguments)).expect("JSON on stdout, and nothing else")
}

fn folded(folder: &Path, file: &str, weight: &str) -> i64 {
    let text = export(folder, file, &["--format", "folded", "--weight", weight]);
    text.lines().map(|line| line.rsplit(' ').next().and_then(|last| last.parse::<i64>().ok()).expect("a weight")).sum()
}

fn sum(list: &Value) -> i64 {
    list.as_array().expect("a list").iter().map(|value| value.as_i64().expect("a whole number")).sum()
}

/// Weights of the profile of this name; those of the Firefox Profiler in nanoseconds.
fn weights(profile: &Value, name: &str) -> i64 {
    let of = |list: &str| {
        let found = profile[list].as_array()?.iter().find(|part| part["name"] == name)?.clone();
        Some(found)
    };
    if let Some(profile) = of("profiles") {
        return sum(&profile["weights"]);
    }
    let thread = of("threads").expect("it is there");
    let weights = thread["samples"]["weight"].as_array().expect("a list").iter();
    #[expect(clippy::cast_possible_truncation, reason = "exact below 2^53")]
    weights.map(|weight| (weight.as_f64().expect("a number") * 1e6).round() as i64).sum()
}

/// Of stored recordings, which have no strands.
#[test]
fn profiles_add_up_to_the_report() {
    let folder = fixtures();
    for fixture in FIXTURES {
        let file = format!("{fixture}.wspan");
        let program = &report(&folder, &file)["program"];
        let expected = [("work", &program["work_ns"]), ("critical path", &program["span_ns"])];
        for (name, expected) in expected {
            let expected = expected.as_i64().expect("a whole number");
            let weight = if name == "work" { "work" } else { "critical" };
            assert_eq!(folded(&folder, &file, weight), expected, "{fixture}: {name}");
            for format in ["speedscope", "firefox"] {
                let profile = json(&folder, &file, &["--format", format]);
                assert_eq!(weights(&profile, name), expected, "{fixture}: {name} in {format}");
            }
        }
    }
}

#[test]
fn stored_recordings_in_all_formats() {
    let folder = fixtures();
    settings().bind(|| {
        for (name, arguments) in [
            ("folded", &["--format", "folded"] as &[&str]),
            ("folded-critical", &["--format", "folded", "--weight", "critical"]),
            ("speedscope", &["--format", "speedscope"]),
            ("firefox", &["--format", "firefox"]),
            ("cilkscale", &["--format", "cilkscale"]),
            ("taskprof", &["--format", "taskprof"]),
            ("csv-program", &["--format", "csv", "--table", "program"]),
            ("csv-sites", &["--format", "csv", "--table", "sites"]),
            ("csv-regions", &["--format", "csv", "--table", "regions"]),
            ("csv-calls", &["--format", "csv", "--table", "calls"]),
            ("csv-spread", &["--format", "csv", "--table", "spread"]),
        ] {
            for fixture in ["taskprof", "repeated"] {
                let text = export(&folder, &format!("{fixture}.wspan"), arguments);
                insta::assert_snapshot!(format!("{fixture}.export-{name}"), text);
            }
        }
    });
}

/// TaskProf's example program: work 3040, span 930.
#[test]
fn a_program_that_ran() {
    let folder = scratch("exports");
    let program = build::program("shapes");
    run(&mut record(&folder, &["--strands"], &program, &["taskprof"])).check_success();
    let file = "workspan.wspan";
    assert_eq!((folded(&folder, file, "work"), folded(&folder, file, "critical")), (3040, 930));
    let trace = json(&folder, file, &["--format", "perfetto"]);
    let slices = || trace["traceEvents"].as_array().expect("events").iter().filter(|event| event["ph"] == "X");
    let work = |slice: &Value| slice["args"]["work_ns"].as_i64().expect("a whole number");
    assert_eq!(slices().map(work).sum::<i64>(), 3040);
    assert_eq!(slices().filter(|slice| slice["cat"] == "critical").map(work).sum::<i64>(), 930);
    assert_eq!(trace, json(&folder, "workspan.strands", &["--format", "chrome"]));
    for format in ["speedscope", "firefox"] {
        let profile = json(&folder, file, &["--format", format]);
        assert_eq!((weights(&profile, "work"), weights(&profile, "critical path")), (3040, 930), "{format}");
        let lanes = profile["profiles"].as_array().or(profile["threads"].as_array()).expect("a list");
        assert!(lanes.len() > 2 && lanes[2]["name"] == "thread 0", "{format}");
    }
    let critical = |format: &str, word: &str| {
        let text = export(&folder, file, &["--format", format]);
        text.lines().filter(|line| line.contains(word)).count()
    };
    assert!(critical("dot", "color=red") > 5);
    assert!(critical("graphml", "<data key=\"node-critical\">true</data>") > 5);
    let rows = export(&folder, file, &["--format", "cilkscale"]);
    assert!(rows.lines().nth(1).is_some_and(|row| row.starts_with(",0.00000304,0.00000093,3.268")), "{rows}");
    let strands = export(&folder, file, &["--format", "csv", "--table", "strands"]);
    let critical = strands.lines().map(|row| row.split(',').collect::<Vec<_>>()).filter(|row| row[10] == "true");
    assert_eq!(critical.map(|row| row[6].parse::<i64>().expect("a whole number")).sum::<i64>(), 930, "{strands}");
}

#[test]
fn files_and_what_is_said_of_them() {
    let folder = recorded("exports-files", SEEDS[0]);
    let file = "workspan.wspan";
    let to_stdout = export(&folder, file, &["-f", "perfetto", "-o", "-"]);
    let answer = json(&folder, file, &["-f", "perfetto", "-o", "trace.json", "--json"]);
    assert_eq!(fs::read_to_string(folder.join("trace.json")).expect("it is written"), to_stdout);
    assert_eq!(answer["files"][0]["file"], "trace.json");
    assert_eq!(answer["files"][0]["bytes"].as_u64(), Some(to_stdout.len() as u64));
    assert_eq!(
        (&answer["schema_version"], &answer["format"], &answer["run"]),
        (&1.into(), &"perfetto".into(), &1.into())
    );
    let trace: Value = serde_json::from_str(&to_stdout).expect("JSON");
    assert_eq!(answer["left_out"], trace["otherData"]["left_out"]);
    let few = ask(&folder, &["export", "-f", "speedscope", "-o", "few.json", "--limit", "3", "--json"]);
    let answer: Value = serde_json::from_slice(&few.check_success().stdout).expect("JSON");
    let left_out = answer["left_out"]["strands"].as_u64().expect("a number");
    assert!(left_out > 3 && few.err().contains(&format!("excluded the {left_out} shortest strands")), "{}", few.err());

    let answer = json(&folder, file, &["-f", "csv", "--table", "all", "-o", "tables", "--json"]);
    let files = answer["files"].as_array().expect("a list");
    assert_eq!(files.len(), 12);
    for table in files {
        let name = table["table"].as_str().expect("a name");
        let written = fs::read_to_string(folder.join(table["file"].as_str().expect("a path"))).expect("it is written");
        assert_eq!(written, export(&folder, file, &["-f", "csv", "--table", name]), "{name}");
    }
}

/// The cells of a row of CSV, without their quotes.
fn cells(row: &str) -> Vec<String> {
    let mut quoted = false;
    let split = |letter: char| {
        quoted ^= letter == '"';
        letter == ',' && !quoted
    };
    row.split(split).map(|cell| cell.trim_matches('"').to_owned()).collect()
}

/// Also where strands say more than totals do.
#[test]
fn tables_have_the_verdict_of_the_report() {
    for seed in SEEDS {
        let folder = recorded(&format!("exports-verdict-{seed}"), seed);
        let report = report(&folder, "workspan.wspan");
        let verdict = &report["verdict"];
        assert_eq!(verdict["basis"], "predicted");
        for run in [&[][..], &["--run", "1"]] {
            let table =
                |name: &str| export(&folder, "workspan.wspan", &[&["-f", "csv", "--table", name], run].concat());
            let rows: Vec<Vec<String>> = table("verdict").lines().map(cells).collect();
            for name in ["outcome", "next", "processors", "basis", "time_ns", "speedup", "slowest"] {
                let at = rows[0].iter().position(|column| column == name).expect("a column");
                let told = match &verdict[name] {
                    Value::Null => String::new(),
                    told => told.as_str().map_or_else(|| told.to_string(), str::to_owned),
                };
                assert_eq!(rows[1][at], told, "{name}");
            }
            let losses = verdict["losses"].as_array().expect("a list");
            let shown = table("losses");
            for loss in losses {
                let time = format!(",{},", loss["time_ns"]);
                assert!(shown.contains(&time), "{time} is not in {shown}");
            }
        }
    }
}

#[test]
fn what_cannot_be_exported_is_said() {
    let folder = recorded("exports-refused", SEEDS[0]);
    let refused = |arguments: &[&str], words: &[&str]| {
        ask(&folder, &[&["export"], arguments].concat()).check_error(2, words);
    };
    refused(&[], &["--format"]);
    refused(&["--format", "pdf"], &["pdf", "perfetto"]);
    refused(&["none.wspan", "-f", "folded"], &["none.wspan"]);
    refused(&["-f", "csv"], &["--table"]);
    refused(&["-f", "csv", "--table", "all"], &["-o FOLDER"]);
    refused(&["-f", "csv", "--table", "all", "-o", "-"], &["-o FOLDER"]);
    refused(&["-f", "folded", "--json"], &["--output"]);
    refused(&["-f", "folded", "-o", "-", "--json"], &["--json needs a file"]);
    for (option, value) in
        [("--table", "sites"), ("--limit", "5"), ("--steal", "5"), ("--processors", "4"), ("--weight", "work")]
    {
        refused(&["-f", "taskprof", option, value], &[&format!("{option} is for ")]);
        let csv: &[&str] = if option == "--table" { &["-f", "dot"] } else { &["-f", "csv", "--table", "sites"] };
        refused(&[csv, &[option, value]].concat(), &[&format!("{option} is for ")]);
    }
    refused(&["-f", "folded", "--run", "2"], &["there is no run 2"]);
    refused(&["-f", "folded", "-o", "none/a"], &["cannot write none/a"]);
    refused(&["-f", "folded", "-o", "workspan.strands"], &["cannot write workspan.strands"]);
    refused(&["-f", "dot", "--limit", "5"], &["strands, and a graph of more than 5", "--limit"]);
    let stored = fixtures();
    for format in ["perfetto", "dot", "graphml"] {
        ask(&stored, &["export", "mix.wspan", "-f", format])
            .check_error(2, &["mix.wspan holds no strands", "--strands"]);
    }
    ask(&stored, &["export", "mix.wspan", "-f", "csv", "--table", "strands"]).check_error(2, &["holds no strands"]);
    for format in [&["-f", "cilkscale"][..], &["-f", "csv", "--table", "calls"]] {
        let other = [&["export", "mix.wspan", "--steal", "300"], format].concat();
        ask(&stored, &other).check_error(2, &["holds no strands", "--strands"]);
    }
}
