//! The verbs that read strands, on rows that no program made.

use std::fs;
use std::path::{Path, PathBuf};

use workspan_model::{Recording, Run};
use workspan_read::{decode, encode};
use workspan_store::{folder_of, Meta, Writer};
use workspan_testkit::strands::{random_with_waits, RandomRun};

use crate::build::scratch;
use crate::command::{run, workspan, Ended};

/// A folder with `workspan.wspan` and its strands.
pub(crate) fn recorded(name: &str, seed: u64) -> PathBuf {
    let folder = scratch(name);
    let RandomRun { recording, rows } = random_with_waits(seed);
    let replayed = workspan_analysis::replay(&recording, &rows).unwrap_or_else(|never| match never {});
    let runs = vec![replayed.into_run(&Run::default())];
    let command = vec!["./made-up".to_owned(), "1".to_owned()];
    let recording = Recording { runs, command, made_at: 1_767_225_600, ..recording };
    let file = folder.join("workspan.wspan");
    fs::write(&file, encode(&recording)).expect("writable");
    write_strands(&recording, &rows, &file);
    folder
}

fn write_strands(recording: &Recording, rows: &[workspan_model::Strand], file: &Path) {
    let meta = Meta {
        command: recording.command.clone(),
        made_at: recording.made_at,
        made_by: "0.1.0".to_owned(),
        ..Meta::default()
    };
    let mut writer = Writer::create(&folder_of(file), 1, &meta).expect("writable");
    writer.push(rows).expect("there is room");
    writer.finish(recording, None).expect("there is room");
}

pub(crate) fn ask(folder: &Path, arguments: &[&str]) -> Ended {
    run(workspan(folder).args(arguments))
}

pub(crate) fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

#[track_caller]
fn check_snapshots(name: &str, folder: &Path, verbs: &[(&str, &[&str])]) {
    settings().bind(|| {
        for (verb, arguments) in verbs {
            let ended = ask(folder, arguments);
            assert_eq!(ended.check_success().err(), "", "{verb}");
            insta::assert_snapshot!(format!("{name}.{verb}"), ended.out());
        }
    });
}

/// Seeds of which one has joins and loops, the other tasks and teams.
pub(crate) const SEEDS: [u64; 2] = [39, 78];

#[test]
fn what_if_and_advise() {
    for seed in SEEDS {
        let name = format!("made-up-{seed}");
        let folder = recorded(&name, seed);
        check_snapshots(
            &name,
            &folder,
            &[
                ("what-if", &["what-if", "-s", "a.rs:10-30=8", "-s", "src/c.c:1-99=inf"]),
                ("what-if-json", &["what-if", "--json", "--top", "1", "-s", "a.rs:10-30=8", "-s", "src/c.c:1-99=inf"]),
                ("advise", &["advise", "--target", "2.5", "--factor", "4", "--threshold", "2"]),
                ("advise-json", &["advise", "--json", "--target", "2.5", "--factor", "4", "--threshold", "2"]),
            ],
        );
    }
}

#[test]
fn calls() {
    for seed in SEEDS {
        let name = format!("made-up-{seed}");
        let folder = recorded(&format!("{name}-calls"), seed);
        check_snapshots(
            &name,
            &folder,
            &[
                ("calls", &["calls"]),
                ("calls-height", &["calls", "--by", "height", "--top", "8", "--steal", "10000000"]),
                ("calls-json", &["calls", "--json", "--steal", "0"]),
                ("calls-csv", &["calls", "workspan.strands", "--csv"]),
                ("calls-height-csv", &["calls", "--csv", "--by", "height"]),
            ],
        );
    }
}

#[test]
fn predict() {
    for seed in SEEDS {
        let name = format!("made-up-{seed}");
        let folder = recorded(&format!("predict-{seed}"), seed);
        settings().bind(|| {
            for (verb, locale) in [("predict", "C"), ("predict-unicode", "en_US.UTF-8")] {
                let ended = run(workspan(&folder).args(["predict", "--steal", "1000000000"]).env("LC_ALL", locale));
                insta::assert_snapshot!(format!("{name}.{verb}"), ended.check_success().out());
            }
        });
        let json = ["predict", "-p", "2,8", "--json", "-s", "a.rs:10-30=8", "-s", "src/c.c:1-99=inf", "--seeds", "2"];
        let csv = ["predict", "workspan.strands", "-p", "1..16", "--csv", "--steal", "0"];
        check_snapshots(&name, &folder, &[("predict-json", &json), ("predict-csv", &csv)]);
    }
}

/// The numbers of the verb are those of the other verbs, and the parts are those of what-if.
#[test]
fn predictions_agree_with_the_other_verbs() {
    let folder = recorded("predictions", SEEDS[0]);
    let ask = |arguments: &[&str]| {
        serde_json::from_slice::<serde_json::Value>(&ask(&folder, arguments).check_success().stdout).expect("JSON")
    };
    let part = ["-s", "a.rs:10-30=8"];
    let answer = ask(&[&["predict", "--json", "-p", "1..4"], &part[..]].concat());
    let what_if = ask(&[&["what-if", "--json"], &part[..]].concat());
    assert_eq!(answer["program"]["span_ns"], what_if["after"]["span_ns"]);
    let whole = ask(&["predict", "--json", "-p", "1"]);
    assert_eq!(whole["program"]["span_ns"], what_if["before"]["span_ns"]);
    let calls = ask(&["calls", "--json", "--steal", "7000"]);
    let burdened = ask(&["predict", "--json", "-p", "1", "--steal", "7000", "--seeds", "0"]);
    assert_eq!(burdened["program"]["burdened_span_ns"], calls["program"]["burdened_span_ns"]);
    // The one processor is idle where all wait for the outside world at the same time, and never else.
    let number = |value: &serde_json::Value| value.as_i64().expect("a number");
    let [one, program] = [&whole["points"][0], &whole["program"]];
    assert_eq!(number(&one["time_ns"]) - number(&one["idle_ns"]), number(&program["serial_ns"]));
    assert!(number(&one["idle_ns"]) <= number(&program["blocked_ns"]), "{one}");
    let site = what_if["sites"][0]["id"].as_str().expect("an id");
    let grain = ask(&["predict", "--json", "-p", "1", "--grain", &format!("{site}=1000000000000")]);
    assert_eq!(grain["grain"][0]["id"], *site);
    assert!(grain["program"]["span_ns"].as_i64() >= whole["program"]["span_ns"].as_i64());
}

#[test]
fn what_cannot_be_predicted_is_said() {
    let folder = recorded("unpredictable", SEEDS[0]);
    ask(&folder, &["predict", "-p", "0"]).check_error(2, &["`0` is not a number of processors from 1 to 1024"]);
    ask(&folder, &["predict", "--grain", "s-00000000=5"]).check_error(2, &["has no site `s-00000000`"]);
    ask(&folder, &["predict", "--grain", "s-00000000"]).check_error(2, &["is not SITE=NS"]);
    ask(&folder, &["predict", "-s", "nothing=8"]).check_error(2, &["marked no region `nothing`"]);
    fs::remove_dir_all(folder.join("workspan.strands")).expect("it is there");
    ask(&folder, &["predict"]).check_error(2, &["holds no strands", "record again with `--strands`"]);
}

/// In the two views strands of sites are counted once, and the first rows have most of the span.
#[test]
fn calls_add_up() {
    let folder = recorded("calls", SEEDS[0]);
    let answers = ["site", "height"].map(|by| {
        let ended = ask(&folder, &["calls", "--json", "--by", by]);
        serde_json::from_slice::<serde_json::Value>(&ended.check_success().stdout).expect("JSON")
    });
    let [sites, heights] = &answers;
    assert_eq!(sites["program"], heights["program"]);
    let local = |answer: &serde_json::Value, serial: bool| {
        let rows = answer["calls"].as_array().expect("rows");
        let rows = rows.iter().filter(|row| serial || row["callee"]["kind"] != "serial");
        rows.map(|row| row["local_work_ns"].as_i64().expect("a number")).sum::<i64>()
    };
    assert_eq!(Some(local(sites, true)), sites["program"]["work_ns"].as_i64());
    assert_eq!(local(sites, false), local(heights, false));
    let spans: Vec<i64> = sites["calls"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            let number = |value: &serde_json::Value| value.as_i64().expect("a number");
            number(&row["on_span"]["span_ns"]).max(number(&row["local_span_ns"]))
        })
        .collect();
    assert!(spans.is_sorted_by(|a, b| a >= b), "{spans:?}");
}

#[test]
fn sites_and_marks_can_be_named() {
    let folder = recorded("parts", SEEDS[1]);
    let report = crate::command::report(&folder, "workspan.wspan");
    let handle = report["sites"][0]["id"].as_str().expect("a handle");
    let spans = [format!("{handle}=1000"), format!("{handle}/=1000")].map(|part| {
        let ended = ask(&folder, &["what-if", "--json", "-s", &part]);
        let answer: serde_json::Value = serde_json::from_slice(&ended.check_success().stdout).expect("JSON");
        assert_eq!(answer["before"]["work_ns"], answer["after"]["work_ns"]);
        answer["after"]["span_ns"].as_i64().expect("a number")
    });
    // With what is below it there is more of it.
    assert!(spans[1] <= spans[0], "{spans:?}");
}

/// Lines that name no code say so, beside those that do; and the ids that are proposed name some.
#[test]
fn lines_without_code_are_reported() {
    let folder = recorded("no-lines", SEEDS[1]);
    for verb in [&["what-if"][..], &["predict", "-p", "2"]] {
        let asked = |parts: &[&str]| {
            let parts = parts.iter().flat_map(|part| ["-s", part]);
            ask(&folder, &verb.iter().copied().chain(parts).collect::<Vec<_>>()).check_success().out()
        };
        let nowhere = asked(&["nowhere.rs:1-9=2"]);
        assert!(
            nowhere.contains("! nowhere.rs:1-9 names no code of this recording, whose files are src/a.rs, src/b.rs, src/c.c: nothing changes"),
            "{nowhere}"
        );
        let between = asked(&["a.rs:11=2", "src/c.c:1-99=8"]);
        assert!(between.contains("! a.rs:11 names no code, so nothing changes"), "{between}");
        assert!(!between.contains("c.c:1-99 names no code"), "{between}");
        let at = between.find("a-").expect("ids of segments");
        let found = asked(&[&format!("{}=8", &between[at..at + 10])]);
        assert!(!found.contains("names no code") && !found.contains("did not run"), "{found}");
    }
}

#[test]
fn advice_can_fail() {
    let folder = recorded("gate", SEEDS[0]);
    let goal = ["advise", "--target", "1e6", "--threshold", "1"];
    assert_eq!(ask(&folder, &goal).code(), Some(0));
    let gate = |kinds: &str| ask(&folder, &[&goal[..], &["--fail-on", kinds]].concat());
    assert_eq!(gate("any").code(), Some(1));
    assert_eq!(gate("too-fine,unreachable").code(), Some(1));
    let easy = ask(&folder, &["advise", "--target", "1", "--fail-on", "unreachable,parallelise"]);
    assert_eq!(easy.code(), Some(0), "{}", easy.out());
    gate("never").check_error(2, &["--fail-on"]);
}

#[test]
fn what_cannot_be_used_is_said() {
    let folder = recorded("unusable", 7);
    ask(&folder, &["what-if", "-s", "a.rs:1"]).check_error(2, &["`a.rs:1` is not PART=FACTOR"]);
    ask(&folder, &["what-if"]).check_error(2, &["--speed-up"]);
    ask(&folder, &["what-if", "--run", "2", "-s", "a.rs:1=2"]).check_error(2, &["there is no run 2"]);
    for command in ["report", "info"] {
        let ended = ask(&folder, &[command, "workspan.strands"]);
        ended.check_error(2, &["workspan.strands: this folder holds strands; the report is in workspan.wspan"]);
    }
    ask(&folder, &["advise", "--target", "0.5"]).check_error(2, &["--target"]);
    ask(&folder, &["advise", "none.wspan"]).check_error(2, &["none.wspan"]);
    ask(&folder, &["calls", "none.wspan"]).check_error(2, &["none.wspan"]);
    ask(&folder, &["calls", "none.strands"]).check_error(2, &["none.strands"]);
    ask(&folder, &["calls", "--run", "2"]).check_error(2, &["there is no run 2"]);
    ask(&folder, &["calls", "--by", "weight"]).check_error(2, &["--by"]);
    ask(&folder, &["calls", "--json", "--csv"]).check_error(2, &["--csv"]);

    let strands = folder.join("workspan.strands");
    let file = folder.join("workspan.wspan");
    let (mut recording, _) = decode(&fs::read(&file).expect("it is there")).expect("it is whole");
    recording.made_at += 1;
    fs::write(folder.join("other.wspan"), encode(&recording)).expect("writable");
    for verb in ["advise", "calls"] {
        ask(&folder, &[verb, "other.wspan"]).check_error(2, &["other.wspan holds no strands", "--strands"]);
    }
    fs::rename(&strands, folder.join("other.strands")).expect("writable");
    ask(&folder, &["advise", "other.wspan"]).check_error(2, &["does not belong to the recording"]);
    let told = ask(&folder, &["report", "other.wspan"]).check_success().err();
    assert!(
        told.contains("warning: the verdict is without strands") && told.contains("does not belong to the recording"),
        "{told}"
    );
    fs::rename(folder.join("other.strands"), &strands).expect("writable");

    let part = strands.join("nodes-1-0000.parquet");
    let whole = fs::read(&part).expect("it is there");
    fs::write(&part, &whole[..whole.len() / 2]).expect("writable");
    let cut = ask(&folder, &["advise"]);
    assert!(cut.check_success().err().contains("is damaged: only the first 0 strands are used"), "{}", cut.err());
    // Once, whoever reads them.
    let page = ask(&folder, &["report", "--html", "page.html"]);
    assert_eq!(page.check_success().err().matches("is damaged").count(), 1, "{}", page.err());
    assert!(!page.out().contains("record all strands (--strands)"), "{}", page.out());
}
