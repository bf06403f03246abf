//! `workspan diff`, on recordings that no program made.

use std::fs;
use std::path::Path;

use workspan_analysis::replay;
use workspan_model::{Nanos, Recording, Run, Strand};
use workspan_read::encode;
use workspan_store::{folder_of, Meta, Writer};
use workspan_testkit::strands::{random, RandomRun};

use crate::build::scratch;
use crate::command::{run, workspan, Ended};

const SEED: u64 = 39;

/// Writes a recording with a run for each of `percents`: strands of every other context take so much of what they took; with 0,
/// all take nothing.
fn recorded(folder: &Path, name: &str, percents: &[i64], change: impl Fn(&mut Recording)) {
    let RandomRun { mut recording, rows } = random(SEED);
    let scaled = |percent: i64| -> Vec<Strand> {
        let scale = |row: &Strand| {
            let percent = if percent == 0 || row.context.0.is_multiple_of(2) { percent } else { 100 };
            Strand { cost: Nanos(row.cost.0 / 100 * percent), ..*row }
        };
        rows.iter().map(scale).collect()
    };
    let runs: Vec<Vec<Strand>> = percents.iter().map(|percent| scaled(*percent)).collect();
    let amounts = |rows: &Vec<Strand>| {
        let replayed = replay(&recording, rows).unwrap_or_else(|never| match never {});
        replayed.into_run(&Run::default())
    };
    recording.runs = runs.iter().map(amounts).collect();
    recording.command = vec!["./made-up".to_owned()];
    recording.made_at = 1_767_225_600;
    change(&mut recording);
    let file = folder.join(name);
    fs::write(&file, encode(&recording)).expect("writable");
    for (number, rows) in (1..).zip(&runs) {
        let meta = Meta {
            command: recording.command.clone(),
            made_at: recording.made_at,
            made_by: "0.1.0".to_owned(),
            ..Meta::default()
        };
        let mut writer = Writer::create(&folder_of(&file), number, &meta).expect("writable");
        writer.push(rows).expect("there is room");
        writer.finish(&recording, None).expect("there is room");
    }
}

fn ask(folder: &Path, arguments: &[&str]) -> Ended {
    run(workspan(folder).args(arguments))
}

#[track_caller]
fn check_snapshot(name: &str, ended: &Ended) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        assert_eq!(ended.check_success().err(), "");
        insta::assert_snapshot!(name, ended.out());
    });
}

#[test]
fn before_and_after() {
    let folder = scratch("diff");
    recorded(&folder, "before.wspan", &[100, 97, 104], |_| {});
    // What stands in one file has moved down by three lines, which only functions can know.
    recorded(&folder, "after.wspan", &[50, 52, 49], |recording| {
        for site in recording.sites.iter_mut().filter(|site| site.file == "src/b.rs") {
            site.line += 3;
        }
        recording.runs[0].workers = 7;
    });
    check_snapshot("made-up.diff", &ask(&folder, &["diff", "before.wspan", "after.wspan", "--top", "6"]));
    let foretold = ["diff", "--json", "before.wspan", "after.wspan", "-s", "src/a.rs:10-30=2"];
    let ended = ask(&folder, &foretold);
    let mut answer: serde_json::Value = serde_json::from_slice(&ended.check_success().stdout).expect("JSON");
    let sites = answer["sites"].as_array_mut().expect("a list");
    assert!(sites.len() > 2);
    sites.truncate(2);
    for list in ["sites", "pieces"] {
        answer["nodes"][list].as_array_mut().expect("a list").truncate(1);
    }
    let text = serde_json::to_string_pretty(&answer).expect("JSON");
    check_snapshot("made-up.diff-json", &Ended { stdout: text.into_bytes(), ..ended });
}

/// Runs before and after, and what became of the work and of each span.
type Case<'c> = (&'c [i64], &'c [i64], &'c str, &'c [&'c str]);

#[test]
fn noise_is_no_change() {
    let folder = scratch("diff-noise");
    let cases: [Case<'_>; 6] = [
        (&[100, 97, 104], &[101, 103], "same", &["same", "inconclusive"]),
        (&[100, 60, 140], &[101, 103], "inconclusive", &["same", "inconclusive"]),
        (&[100], &[102], "same", &["same"]),
        (&[100, 101], &[102], "same", &["same"]),
        (&[100], &[140], "more", &["same", "slower", "inconclusive"]),
        (&[100], &[60], "less", &["same", "faster", "inconclusive"]),
    ];
    for (before, after, work, spans) in cases {
        recorded(&folder, "before.wspan", before, |_| {});
        recorded(&folder, "after.wspan", after, |_| {});
        let ended = ask(&folder, &["diff", "--json", "before.wspan", "after.wspan"]);
        let answer: serde_json::Value = serde_json::from_slice(&ended.check_success().stdout).expect("JSON");
        assert_eq!(answer["program"]["work"]["change"], work, "{before:?} {after:?}");
        assert_eq!(answer["program"]["tasks"]["change"], "same");
        let verdicts = answer["sites"].as_array().expect("a list").iter().map(|site| site["verdict"].as_str());
        let verdicts: std::collections::BTreeSet<_> = verdicts.flatten().collect();
        assert!(verdicts.iter().all(|verdict| spans.contains(verdict)), "{before:?} {after:?}: {verdicts:?}");
        let words = ask(&folder, &["diff", "before.wspan", "after.wspan"]).out();
        assert_eq!(words.contains(": the same work, "), work == "same", "{words}");
        let nothing = words.contains("no segment changed by more than noise");
        assert!(nothing || work != "same", "{before:?} {after:?}: {words}");
    }
}

#[test]
fn strands_are_compared_one_by_one() {
    let folder = scratch("diff-nodes");
    recorded(&folder, "base.wspan", &[100, 100], |_| {});
    recorded(&folder, "new.wspan", &[200], |_| {});
    let ended = ask(&folder, &["diff", "--json", "base.wspan", "new.strands"]);
    let answer: serde_json::Value = serde_json::from_slice(&ended.check_success().stdout).expect("JSON");
    let nodes = &answer["nodes"];
    assert_eq!((&nodes["same"], &nodes["matched"]), (&true.into(), &nodes["strands"]));
    // Of a site, the strands of some contexts take twice as long, those of the others as long as before.
    let mut seen = [0; 2];
    for site in nodes["sites"].as_array().expect("a list") {
        if let Some(times) = site["work"]["inflation"].as_f64() {
            assert!((1.0..=2.0).contains(&times), "{site}");
            seen[usize::from(times > 1.0)] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    let sum = |key: &str| {
        let pieces = nodes["pieces"].as_array().expect("a list").iter();
        pieces.filter_map(|piece| piece["critical"][key].as_i64()).sum::<i64>()
    };
    for key in ["base_ns", "new_ns", "more_ns"] {
        assert_eq!(nodes["program"]["critical"][key].as_i64(), Some(sum(key)), "{key}");
    }
    assert_eq!(nodes["program"]["work"]["new_ns"].as_f64(), answer["program"]["work"]["after"]["median"].as_f64());
}

/// Strands of another recording, and such as cannot be read, are not compared; the rest is.
#[test]
fn what_is_wrong_with_strands_is_said() {
    let folder = scratch("diff-strands");
    recorded(&folder, "base.wspan", &[100], |_| {});
    recorded(&folder, "new.wspan", &[200], |_| {});
    recorded(&folder, "other.wspan", &[50], |recording| recording.made_at += 1);
    let strands = folder.join("new.strands");
    let check = |words: &str| {
        let told = ask(&folder, &["diff", "--json", "base.wspan", "new.wspan"]);
        let answer: serde_json::Value = serde_json::from_slice(&told.check_success().stdout).expect("JSON");
        assert!(answer["nodes"].is_null() && answer["program"]["work"]["ratio"].is_number(), "{}", told.out());
        assert!(
            told.err().contains("warning: strands are not compared") && told.err().contains(words),
            "{}",
            told.err()
        );
        ask(&folder, &["diff", "base.wspan", "new.wspan", "--fail-on", "inflation>9"]).check_error(2, &[words]);
    };
    fs::remove_dir_all(&strands).expect("it is there");
    fs::rename(folder.join("other.strands"), &strands).expect("it is there");
    check("does not belong to the recording beside it");
    fs::remove_dir_all(&strands).expect("it is there");
    fs::create_dir(&strands).expect("writable");
    check("cannot read the strands");
}

#[test]
fn conditions_are_a_gate() {
    let folder = scratch("diff-gate");
    recorded(&folder, "base.wspan", &[100, 97, 104], |_| {});
    recorded(&folder, "new.wspan", &[200, 210, 190], |_| {});
    recorded(&folder, "noise.wspan", &[101, 103], |_| {});
    let check = |new: &str, conditions: &[&str], met: &[&str]| {
        let mut arguments = vec!["diff", "--json", "base.wspan", new];
        conditions.iter().for_each(|condition| arguments.extend(["--fail-on", *condition]));
        let ended = ask(&folder, &arguments);
        assert_eq!(ended.code(), Some(i32::from(!met.is_empty())), "{conditions:?}: {}", ended.err());
        let answer: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("JSON");
        assert_eq!(answer["failed"], serde_json::json!(met), "{conditions:?}");
    };
    check("new.wspan", &["work>1.1x", "inflation>1.1", "span<1x"], &["work>1.1x", "inflation>1.1"]);
    check("new.wspan", &["critical-inflation>9", "parallelism<0.001x"], &[]);
    check("new.wspan", &["parallelism<1e9"], &["parallelism<1e9"]);
    // Noise alone is no change.
    check("noise.wspan", &["work>1.0001x", "work<0.9999x", "span>1.0001x"], &[]);
    // That it brought no gain is sure all the same.
    check("noise.wspan", &["work<1.5x", "parallelism<1.5x", "work<0.8x"], &["work<1.5x", "parallelism<1.5x"]);
    recorded(&folder, "nothing.wspan", &[0], |_| {});
    for condition in ["work>1.1x", "parallelism>1x", "inflation>1", "critical-inflation<1"] {
        let nothing = ["diff", "nothing.wspan", "nothing.wspan", "--fail-on", condition];
        ask(&folder, &nothing).check_error(2, &[condition, "there is nothing to compare"]);
    }
    ask(&folder, &["diff", "base.wspan", "new.wspan", "--fail-on", "speed>1"]).check_error(2, &["cannot be compared"]);
    fs::remove_dir_all(folder.join("new.strands")).expect("it is there");
    let refused = ["diff", "base.wspan", "new.wspan", "--fail-on", "inflation>1"];
    ask(&folder, &refused).check_error(2, &["needs strands on both sides"]);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let folder = scratch("diff-unusable");
    recorded(&folder, "before.wspan", &[100], |_| {});
    recorded(&folder, "none.wspan", &[], |_| {});
    ask(&folder, &["diff", "before.wspan"]).check_error(2, &["<AFTER>"]);
    ask(&folder, &["diff", "before.wspan", "gone.wspan"]).check_error(2, &["gone.wspan"]);
    ask(&folder, &["diff", "before.wspan", "none.wspan"]).check_error(2, &["none.wspan holds no complete run"]);
    ask(&folder, &["diff", "before.wspan", "before.wspan", "-s", "a.rs:1"]).check_error(2, &["PART=FACTOR"]);
    fs::remove_dir_all(folder.join("before.strands")).expect("it is there");
    ask(&folder, &["diff", "before.wspan", "before.wspan"]).check_success();
    ask(&folder, &["diff", "before.wspan", "before.wspan", "-s", "a.rs:1=2"]).check_error(2, &["holds no strands"]);
}
