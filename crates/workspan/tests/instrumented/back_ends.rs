//! Back ends on programs whose answers are known: misses, false sharing, traffic, parallelism of code, exports.

use std::fs;

use crate::support::{build_source, folder, json, out, record, success, workspan};

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
