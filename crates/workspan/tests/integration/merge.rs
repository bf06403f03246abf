//! `workspan merge`, on rows that no program made: three runs, each with noise of its own.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use workspan_model::{Nanos, Recording, Run, Strand};
use workspan_read::encode;
use workspan_store::{folder_of, Meta, Writer};
use workspan_testkit::random::Random;
use workspan_testkit::strands::{random, RandomRun};

use crate::build::scratch;
use crate::command::{report, run, workspan, Ended};

const RUNS: u32 = 3;

fn replay(recording: &Recording, rows: &[Strand]) -> Run {
    workspan_analysis::replay(recording, rows).unwrap_or_else(|never| match never {}).into_run(&Run::default())
}

/// A folder with `workspan.wspan` and its strands, and the run of which they are noisy copies.
fn recorded(name: &str, runs: u32) -> (PathBuf, Run) {
    let folder = scratch(name);
    let RandomRun { recording, rows } = random(78);
    let mut random = Random::new(1);
    // Of each strand some copy is without noise.
    let quiet: Vec<u64> = rows.iter().map(|_| random.below(runs.into())).collect();
    let mut copy = |number: u32| -> Vec<Strand> {
        let noise = |(row, quiet): (&Strand, &u64)| {
            let noise = if *quiet == u64::from(number) { 0 } else { 1 + random.below(1 << 30) };
            Strand { cost: row.cost + Nanos(i64::try_from(noise).expect("a small number")), ..*row }
        };
        rows.iter().zip(&quiet).map(noise).collect()
    };
    let copies: Vec<Vec<Strand>> = (0..runs).map(&mut copy).collect();
    let exact = replay(&recording, &rows);
    let runs = copies.iter().map(|rows| replay(&recording, rows)).collect();
    let recording = Recording { runs, command: vec!["./made-up".to_owned()], made_at: 1_767_225_600, ..recording };
    let file = folder.join("workspan.wspan");
    fs::write(&file, encode(&recording)).expect("writable");
    for (number, rows) in (1..).zip(&copies) {
        let (command, made_at) = (recording.command.clone(), recording.made_at);
        let meta = Meta { command, made_at, made_by: "0.1.0".to_owned(), ..Meta::default() };
        let mut writer = Writer::create(&folder_of(&file), number, &meta).expect("writable");
        writer.push(rows).expect("there is room");
        writer.finish(&recording, None).expect("there is room");
    }
    (folder, exact)
}

fn ask(folder: &Path, arguments: &[&str]) -> Ended {
    run(workspan(folder).args(arguments))
}

#[test]
fn merged_runs_are_without_noise() {
    let (folder, exact) = recorded("merge", RUNS);
    let ended = ask(&folder, &["merge", "--json"]);
    let answer: Value = serde_json::from_slice(&ended.check_success().stdout).expect("JSON");
    assert_eq!((answer["work_ns"].as_i64(), answer["span_ns"].as_i64()), (Some(exact.work().0), Some(exact.span.0)));
    assert_eq!(answer["matched"], answer["strands"]);
    let spans: Vec<i64> =
        answer["runs"].as_array().expect("runs").iter().filter_map(|run| run["span_ns"].as_i64()).collect();
    assert!(spans.len() == 3 && spans.iter().all(|span| *span > exact.span.0), "{spans:?}");

    // What is written is a recording like any other.
    let merged = report(&folder, "merged.wspan");
    assert_eq!(merged["program"]["work_ns"], answer["work_ns"]);
    assert_eq!(merged["program"]["span_ns"], answer["span_ns"]);
    assert!(merged["recorded"]["runtime"].as_str().is_some_and(|runtime| runtime.ends_with("min of 3 runs")));
    let changed = ask(&folder, &["what-if", "merged.wspan", "--json", "-s", "src/c.c:1-99=inf"]);
    let changed: Value = serde_json::from_slice(&changed.check_success().stdout).expect("JSON");
    assert_eq!(changed["before"]["span_ns"], answer["span_ns"]);
    ask(&folder, &["advise", "merged.wspan"]).check_success();

    let again = ask(&folder, &["merge", "--keep", "median"]);
    assert!(again.check_success().out().contains("the median cost of each strand in 3 runs"), "{}", again.out());
    assert!(folder.join("merged.wspan.old").is_file() && folder.join("merged.strands.old").is_dir());
    assert!(report(&folder, "merged.wspan")["program"]["work_ns"].as_i64() > Some(exact.work().0));
}

/// A merged run that cannot be written leaves the former one with its strands.
#[test]
fn what_was_merged_before_is_kept() {
    let (folder, _) = recorded("merge-kept", RUNS);
    ask(&folder, &["merge"]).check_success();
    fs::create_dir_all(folder.join("merged.wspan.old/in the way")).expect("writable");
    ask(&folder, &["merge", "--keep", "median"]).check_error(2, &["cannot write merged.wspan"]);
    let mut left: Vec<String> = fs::read_dir(&folder)
        .expect("it is there")
        .map(|entry| entry.expect("it is there").file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["merged.strands", "merged.wspan", "merged.wspan.old", "workspan.strands", "workspan.wspan"]);
    ask(&folder, &["what-if", "merged.wspan", "-s", "src/c.c:1-99=2"]).check_success();
}

#[test]
fn the_text() {
    let (folder, _) = recorded("merge-text", RUNS);
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let ended = ask(&folder, &["merge"]);
    settings.bind(|| insta::assert_snapshot!("made-up.merge", ended.check_success().out()));
}

#[test]
fn what_cannot_be_merged_is_said() {
    let (folder, _) = recorded("merge-one", 1);
    ask(&folder, &["merge"]).check_error(2, &["holds a single run", "--repeat"]);
    ask(&folder, &["merge", "--keep", "most"]).check_error(2, &["--keep"]);
    let (folder, _) = recorded("merge-onto", 2);
    for onto in ["workspan.wspan", "./workspan.wspan", "workspan"] {
        ask(&folder, &["merge", "-o", onto]).check_error(2, &["would overwrite"]);
    }
    ask(&folder, &["merge"]).check_success();
    ask(&folder, &["merge", "-o", "nowhere/merged.wspan"]).check_error(2, &["nowhere/merged.wspan"]);

    // What is damaged ends early, and that is said again when it is read.
    let part = folder.join("workspan.strands/nodes-2-0000.parquet");
    let whole = fs::read(&part).expect("it is there");
    fs::write(&part, &whole[..whole.len() / 2]).expect("writable");
    let cut = ask(&folder, &["merge"]);
    assert!(cut.check_success().err().contains("run 2: `nodes-2-0000.parquet` is damaged"), "{}", cut.err());
    assert!(cut.out().contains("! many strands are not in all runs"), "{}", cut.out());
    assert!(ask(&folder, &["advise", "merged.wspan"]).check_success().err().contains("of run 2"));
}
