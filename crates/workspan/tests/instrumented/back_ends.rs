//! Back ends on programs whose answers are known: misses, false sharing, traffic, parallelism of code, exports.

use std::fs;

use crate::support::{build_source, err, folder, json, out, record, success, workspan};

/// Two threads that each count in a cell; `DISTANCE` longs lie between the cells.
const COUNTERS: &str = "\
#include <pthread.h>
#include <stdlib.h>
volatile long *cells;
static pthread_barrier_t barrier;
static void *run(void *p) {
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 5000; i++)
        cells[(long)p * DISTANCE]++;
    return 0;
}
int main(void) {
    cells = aligned_alloc(64, 1024);
    pthread_t threads[2];
    pthread_barrier_init(&barrier, 0, 2);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, run, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    long sum = cells[0] + cells[DISTANCE];
    return sum == 10000 ? 0 : 1;
}
";

#[test]
fn false_sharing_is_found_where_it_is() {
    for (distance, shared) in [(1, true), (8, false)] {
        let folder = folder(&format!("sharing-{distance}"));
        build_source(&folder, "prog.c", COUNTERS, &format!("cc -O1 -pthread -DDISTANCE={distance}"));
        record(&folder);
        let found = json(&folder, "sharing");
        let rows = found["false_sharing"].as_array().expect("a list");
        assert_eq!(!rows.is_empty(), shared, "{found:#}");
        if shared {
            assert_eq!((&rows[0]["first"], &rows[0]["second"]), (&"prog.c:8".into(), &"prog.c:8".into()), "{found:#}");
            assert_eq!(rows[0]["allocated_at"], "prog.c:12");
        }
        // The first thread reads what each of the others wrote last: a cell of 8 bytes each. Each of the others reads where
        // the cells are, which the first wrote.
        assert_eq!(found["traffic_bytes"], 4 * 8, "{found:#}");
    }
}

#[test]
fn misses_have_their_places_and_allocations() {
    let folder = folder("misses");
    let text = "#include <stdlib.h>
int main(void) {
    volatile char *block = aligned_alloc(64, 1 << 20);
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 1 << 20; i += 64)
            block[i] = 1;
    return 0;
}
";
    build_source(&folder, "prog.c", text, "cc -O1");
    record(&folder);
    // 16384 lines, thrice, in a cache of 512 lines.
    let found = json(&folder, "misses");
    assert_eq!(
        (&found["misses"], &found["instructions"][0]["at"]),
        (&(3 * 16384).into(), &"prog.c:6".into()),
        "{found:#}"
    );
    // One of 8 sets of the larger caches: each set sees the same of such a sweep.
    let curve = |options: &[&str]| {
        let arguments = [&["graph", "cache", "run.graph"], options].concat();
        out(&success(workspan(&folder, &arguments)))
    };
    let sizes = |text: &str| {
        let found: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let misses = |size: &serde_json::Value| (size["bytes"].as_u64(), size["misses"].as_u64());
        let sizes = found["sizes"].as_array().expect("a list").iter().map(misses).collect::<Vec<_>>();
        (found["sample"].clone(), sizes)
    };
    let (all, some) = (sizes(&curve(&["--json"])), sizes(&curve(&["--sample", "8", "--json"])));
    assert_eq!((all.0, some.0), (serde_json::Value::Null, 8.into()));
    assert_eq!(all.1, some.1);
    let text = curve(&["--sample", "8"]);
    assert!(text.contains("sampled from 64 KiB on: one of 8 sets") && text.contains(" ± "), "{text}");
    assert!(!workspan(&folder, &["graph", "cache", "run.graph", "--sample", "3"]).status.success());
    let text = out(&success(workspan(&folder, &["graph", "misses", "run.graph", "--allocations", "--csv"])));
    assert_eq!(text, "misses,share,largest_bytes,allocated_at\n49152,1.0000,1048576,prog.c:3\n");
    let output = workspan(&folder, &["graph", "misses", "run.graph", "--size", "33"]);
    assert!(!output.status.success());
}

#[test]
fn code_has_its_parallelism_and_the_graph_its_exports() {
    let folder = folder("code");
    build_source(&folder, "prog.c", COUNTERS, "cc -O1 -pthread -DDISTANCE=8");
    record(&folder);
    let code = json(&folder, "code");
    let runs: u64 =
        code["blocks"].as_array().expect("a list").iter().map(|row| row["runs"].as_u64().unwrap_or(0)).sum();
    assert_eq!(json(&folder, "report")["blocks"]["runs"], runs, "{code:#}");
    let export = |format: &str| out(&success(workspan(&folder, &["graph", "export", "run.graph", "--format", format])));
    let (dot, graphml) = (export("dot"), export("graphml"));
    let edges = json(&folder, "report")["edges"].as_u64().expect("a number");
    assert_eq!(dot.matches(" -> ").count() as u64, edges, "{dot}");
    assert_eq!(graphml.matches("<edge ").count() as u64, edges, "{graphml}");
    assert!(dot.contains("legend") && dot.contains("\"0:0\""), "{dot}");
    let trace: serde_json::Value = serde_json::from_str(&export("perfetto")).expect("JSON");
    assert!(trace["traceEvents"].as_array().is_some_and(|events| !events.is_empty()));
    success(workspan(&folder, &["graph", "export", "run.graph", "--format", "dot", "--limit", "3", "-o", "few.dot"]));
    let few = fs::read_to_string(folder.join("few.dot")).expect("it is there");
    assert_eq!(few.matches("shape=oval").count() + few.matches("tooltip").count(), 1 + 3, "{few}");
    for command in ["misses", "sharing", "code"] {
        assert!(!out(&success(workspan(&folder, &["graph", command, "run.graph"]))).is_empty(), "{command}");
    }
}

/// Two threads write 2048 bytes each, which their creator reads in the end.
const HALVES: &str = "\
#include <pthread.h>
#include <stdlib.h>
static void *run(void *p) {
    volatile char *half = p;
    for (int i = 0; i < 2048; i++) half[i] = 1;
    return 0;
}
int main(void) {
    volatile char *block = aligned_alloc(64, 4096);
    pthread_t first, second;
    pthread_create(&first, 0, run, (void *)block);
    pthread_create(&second, 0, run, (void *)(block + 2048));
    pthread_join(first, 0);
    pthread_join(second, 0);
    int sum = 0;
    for (int i = 0; i < 4096; i++) sum += block[i];
    return sum == 4096 ? 0 : 1;
}
";

#[test]
fn working_sets_are_as_large_as_what_is_touched() {
    let folder = folder("working-set");
    build_source(&folder, "prog.c", HALVES, "cc -O1 -pthread");
    record(&folder);
    let rows = |options: &[&str]| -> serde_json::Value {
        let arguments = [&["graph", "working-set", "run.graph", "--json"], options].concat();
        serde_json::from_str(&out(&success(workspan(&folder, &arguments)))).expect("JSON")
    };
    let found = rows(&[]);
    let sites = found["sites"].as_array().expect("a list");
    for line in ["prog.c:11", "prog.c:12"] {
        let site = sites.iter().find(|site| site["created_at"] == line).expect("it created a thread");
        let sizes = [&site["tasks"], &site["largest_bytes"], &site["together_bytes"], &site["fed_bytes"]];
        assert_eq!(sizes, [1, 2048, 2048, 0], "{found:#}");
    }
    let start = sites.iter().find(|site| site["created_at"] == "start of the program").expect("it read");
    assert_eq!(start["fed_bytes"], 4096, "{found:#}");
    assert!(start["largest_bytes"].as_u64().is_some_and(|bytes| (4096..4096 + 4 * 64).contains(&bytes)), "{found:#}");
    let found = rows(&["--feeds"]);
    let feeds: Vec<_> = found["feeds"].as_array().expect("a list").iter().collect();
    let of = |from: &str| feeds.iter().find(|feed| feed["from"] == from).map(|feed| (&feed["bytes"], &feed["reader"]));
    assert_eq!(of("1:0"), Some((&2048.into(), &"later".into())), "{found:#}");
    assert_eq!(of("2:0"), Some((&2048.into(), &"next".into())), "{found:#}");
    let found = rows(&["--tasks", "--line", "32"]);
    let threads = found["tasks"].as_array().expect("a list").iter().filter(|task| task["written_bytes"] == 2048);
    assert_eq!(threads.count(), 2, "{found:#}");
    assert!(!workspan(&folder, &["graph", "working-set", "run.graph", "--line", "33"]).status.success());
}

const BACK_ENDS: [&str; 9] =
    ["report", "cache", "races", "timeline", "misses", "sharing", "working-set", "code", "waits"];

#[test]
fn every_back_end_has_rows_and_a_page() {
    let folder = folder("pages");
    // What a program is called must not become part of a page.
    build_source(&folder, "<b>&'.c", COUNTERS, "cc -O1 -pthread -DDISTANCE=1");
    record(&folder);
    for command in BACK_ENDS {
        let rows = out(&success(workspan(&folder, &["graph", command, "run.graph", "--csv"])));
        // A comma within quotes ends no cell.
        let cells = |row: &str| row.split('"').step_by(2).map(|part| part.matches(',').count()).sum::<usize>() + 1;
        let columns = rows.lines().next().map(cells).expect("a head");
        assert!(columns >= 3 && rows.lines().all(|row| cells(row) == columns), "{command}: {rows}");
        let file = format!("{command}.html");
        let output = success(workspan(&folder, &["graph", command, "run.graph", "--html", &file]));
        assert!(output.stdout.is_empty(), "{command}");
        let page = fs::read_to_string(folder.join(&file)).expect("it is there");
        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"), "{command}");
        assert!(!page.contains("<b>") && !page.contains("<script"), "{command}: {page}");
        assert!(page.contains("default-src 'none'") && page.contains("<h2 id="), "{command}");
    }
    let page = fs::read_to_string(folder.join("report.html")).expect("it is there");
    // Parallelism over time, heat map, dots, cache curve.
    assert_eq!((page.matches("<svg").count(), page.matches("<h2 id=").count()), (4, 12));
    assert!(page.contains("&lt;b&gt;&amp;&#39;.c:8"), "{page}");
    let output = workspan(&folder, &["graph", "cache", "run.graph", "--html", "page.html", "--json"]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
}
