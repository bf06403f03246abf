//! Graphs that have the accesses to a part of the cache lines: what is exact, what is estimated and how well, and that each number
//! says so.

use serde_json::Value;

use crate::support::{build_source, err, folder, json, out, success, workspan};

/// Two threads write each cell of an array without order, then one reads cells of a block of 4 MiB at random.
const PROGRAM: &str = "\
#include <pthread.h>
#include <stdlib.h>
enum { CELLS = 1 << 14, BLOCK = 1 << 22 };
static volatile long *cells;
static volatile char *block;
static void *run(void *p) {
    for (int i = 0; i < CELLS; i++) {
        cells[i] = i;
        if (i % 1000 == 999) free(malloc(100));
    }
    return p;
}
int main(void) {
    cells = aligned_alloc(64, CELLS * sizeof *cells);
    block = aligned_alloc(64, BLOCK);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    unsigned state = 1;
    for (int i = 0; i < 1000000; i++) {
        state = state * 1664525u + 1013904223u;
        block[state >> 10]++;
    }
    return 0;
}
";

fn record(folder: &std::path::Path, graph: &str, options: &[&str]) {
    success(workspan(folder, &[&["graph", "record", "-o", graph], options, &["--", "./prog"]].concat()));
}

fn of(folder: &std::path::Path, words: &[&str]) -> (String, String) {
    let output = workspan(folder, words);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{words:?}: {}", err(&output));
    (out(&output), err(&output))
}

#[test]
fn a_sample_is_smaller_and_says_so_everywhere() {
    let folder = folder("sample");
    build_source(&folder, "prog.c", PROGRAM, "cc -O1 -g -pthread");
    record(&folder, "all.graph", &[]);
    record(&folder, "run.graph", &["--sample", "8"]);
    let all = |words: &[&str]| -> Value {
        let words = [&["graph", words[0], "all.graph"], &words[1..], &["--json"]].concat();
        serde_json::from_str(&of(&folder, &words).0).expect("JSON")
    };
    // What was executed is exact, and the file is smaller.
    let (whole, part) = (all(&["report"]), json(&folder, "report"));
    for key in ["tasks", "contexts", "edges", "accesses", "blocks"] {
        assert_eq!(whole[key], part[key], "{key}");
    }
    let bytes = |report: &Value| report["bytes"].as_u64().expect("a number");
    assert!(bytes(&part) * 3 < bytes(&whole), "{} of {}", bytes(&part), bytes(&whole));
    assert_eq!(part["complete"], true);
    // Each answer says what its numbers are, in JSON, in text, and beside CSV.
    for (command, numbers, words) in [
        ("report", "exact", "exact"),
        ("timeline", "exact", "exact"),
        ("waits", "exact", "exact"),
        ("cache", "estimated", "estimated for all lines"),
        ("races", "of-recorded-lines", "other lines is missing"),
        ("sharing", "of-recorded-lines", "other lines is missing"),
        ("working-set", "of-recorded-lines", "other lines is missing"),
    ] {
        let found = json(&folder, command);
        let sample = serde_json::json!({ "one_in": 8, "share": 0.125, "numbers": numbers });
        assert_eq!(found["recorded_sample"], sample, "{command}");
        assert_eq!(all(&[command])["recorded_sample"], Value::Null, "{command}");
        let (text, _) = of(&folder, &["graph", command, "run.graph"]);
        assert!(text.starts_with("! accesses to 1 of 8 cache lines are recorded") && text.contains(words), "{text}");
        let (_, notes) = of(&folder, &["graph", command, "run.graph", "--csv"]);
        assert!(notes.contains("1 of 8 cache lines"), "{command}: {notes}");
    }
    of(&folder, &["graph", "report", "run.graph", "--html", "run.html"]);
    let page = std::fs::read_to_string(folder.join("run.html")).expect("it was written");
    assert!(page.contains("accesses to 1 of 8 cache lines are recorded; each section says"), "the page says so");
    // Races: the same place, in an eighth of the lines, and none that is not there.
    let places = |races: &Value| -> Vec<(Value, Value)> {
        let list = races["races"].as_array().expect("a list").iter();
        list.map(|race| (race["first"]["line"].clone(), race["second"]["line"].clone())).collect()
    };
    assert_eq!(places(&json(&folder, "races")), places(&all(&["races"])));
}

#[test]
fn estimates_hold_and_what_cannot_be_said_is_refused() {
    let folder = folder("sample-estimates");
    build_source(&folder, "prog.c", PROGRAM, "cc -O1 -g -pthread");
    record(&folder, "all.graph", &[]);
    record(&folder, "run.graph", &["--sample", "4"]);
    let curve = |graph: &str| -> Vec<(u64, f64, f64)> {
        let found: Value = serde_json::from_str(&of(&folder, &["graph", "cache", graph, "--json"]).0).expect("JSON");
        let number = |size: &Value, key: &str| size[key].as_f64().expect("a number");
        let sizes = found["sizes"].as_array().expect("a list").iter();
        sizes
            .map(|size| {
                (size["bytes"].as_u64().expect("a size"), number(size, "miss_ratio"), number(size, "miss_ratio_error"))
            })
            .collect()
    };
    let (all, part) = (curve("all.graph"), curve("run.graph"));
    assert_eq!(part.first().map(|size| size.0), Some(64 << 10), "caches of 256 sets and more");
    for (bytes, ratio, error) in part {
        let exact = all.iter().find(|size| size.0 == bytes).expect("the same sizes").1;
        // Three times what nineteen of twenty samples keep within: that no sample of these exceeds.
        assert!((ratio - exact).abs() <= 3.0 * error + 0.002 && error < 0.05, "{bytes}: {ratio} ± {error}, {exact}");
    }
    let misses = |options: &[&str]| workspan(&folder, &[&["graph", "misses", "run.graph"], options].concat());
    let refused = misses(&[]);
    assert!(
        !refused.status.success() && err(&refused).contains("says nothing of caches below 64 KiB"),
        "{}",
        err(&refused)
    );
    let found: Value = serde_json::from_str(&out(&success(misses(&["--size", "256", "--json"])))).expect("JSON");
    assert!(found["misses_error"].as_u64() > Some(0) && found["instructions"][0]["at"] == "prog.c:22", "{found:#}");
    for (words, reason) in [
        (&["graph", "code", "run.graph"][..], "does not have when each basic block ran"),
        (&["graph", "cache", "run.graph", "--line", "128"], "says nothing of others"),
        (&["graph", "cache", "run.graph", "--sample", "8"], "is a sample already"),
        (&["graph", "record", "--sample", "3", "--", "./prog"], "one of 2, 4, 8, 16 or 32"),
    ] {
        let output = workspan(&folder, words);
        assert!(!output.status.success() && err(&output).contains(reason), "{words:?}: {}", err(&output));
    }
}
