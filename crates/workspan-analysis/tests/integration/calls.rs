//! Calls of random runs: every sum is that over the instances in the explicit graph of strands.

use std::collections::BTreeMap;

use workspan_analysis::calls::{calls, CallRow, Options};
use workspan_analysis::replay;
use workspan_model::{CallMetrics, ContextId, Nanos};
use workspan_testkit::strands::calls::{by_height, outermost, Edge};
use workspan_testkit::strands::stream::Shape;
use workspan_testkit::strands::{evaluate, evaluate_burdened, random, RandomRun, Stream};

const RUNS: u64 = 1500;
const STEAL: i64 = 40_000_003;

fn found(rows: &[CallRow]) -> BTreeMap<Edge, CallMetrics> {
    rows.iter().map(|row| ((row.callee, row.caller, row.height), row.metrics)).collect()
}

#[test]
fn sums_are_those_over_all_instances() {
    let mut seen = [0; 3];
    for seed in 0..RUNS {
        let RandomRun { recording, rows } = random(seed);
        let answer = evaluate(&recording, &rows);
        let burdened = evaluate_burdened(&recording, &rows, STEAL);
        for heights in [false, true] {
            let label = format!("seed {seed}, by height: {heights}");
            let options = Options { heights, steal: Nanos(STEAL), on_one: Nanos::ZERO };
            let calls = calls(&recording, &rows, &options).unwrap_or_else(|never| match never {});
            assert!(calls.problems.is_empty(), "{label}");
            assert_eq!((calls.work.0, calls.span.0), (answer.work, answer.span), "{label}");
            assert_eq!(calls.burdened.map(|all| all.span.0), Some(burdened.span), "{label}");
            let sums = if heights { by_height } else { outermost };
            let expected = sums(&recording, &answer);
            assert_eq!(found(&calls.rows), expected, "{label}");
            let spans = sums(&recording, &burdened);
            for row in &calls.rows {
                let expected = spans.get(&(row.callee, row.caller, row.height)).map(|sums| sums.span_on_work);
                assert_eq!(row.burdened.map(|burdened| burdened.span), expected, "{label}");
            }
            seen[0] += expected.len();
            seen[1] += expected.values().filter(|sums| sums.calls_on_span > 0).count();
            seen[2] += usize::from(burdened.span > answer.span);
        }
    }
    assert!(seen.iter().all(|count| *count > 500), "{seen:?}");
}

/// Nothing is counted twice, and nothing is lost.
#[test]
fn what_sites_ran_themselves_is_the_whole_program() {
    for seed in 0..RUNS / 5 {
        let RandomRun { recording, rows } = random(seed);
        let options = Options { heights: false, steal: Nanos::ZERO, on_one: Nanos::ZERO };
        let calls = calls(&recording, &rows, &options).unwrap_or_else(|never| match never {});
        assert_eq!(calls.burdened.map(|all| all.span), Some(calls.span), "seed {seed}");
        let local: Nanos = calls.rows.iter().map(|row| row.metrics.local_work).sum();
        let root: Nanos = rows.iter().filter(|row| row.context == ContextId::ROOT).map(|row| row.cost).sum();
        assert_eq!(local + root, calls.work, "seed {seed}");
    }
}

/// In a series-parallel program what an instance on the path has of the span is what the path spends in it.
#[test]
fn what_is_on_the_span_is_the_part_of_the_path() {
    for (shape, seed) in [(Shape::Joins, 1), (Shape::Iterators, 2)] {
        let (recording, stream) = Stream::new(shape, 20_000, seed);
        let mut rows = Vec::new();
        stream.read(&mut |batch| {
            rows.extend_from_slice(batch);
            true
        });
        let replayed = replay(&recording, &rows).unwrap_or_else(|never| match never {});
        let tree = &recording.contexts;
        let on_path = tree.inclusive(&replayed.critical);
        let options = Options { heights: false, steal: Nanos::ZERO, on_one: Nanos::ZERO };
        let calls = calls(&recording, &rows, &options).unwrap_or_else(|never| match never {});
        let mut seen = 0;
        for row in calls.rows.iter().filter(|row| row.metrics.calls_on_work > 0) {
            let contexts = tree.ids().zip(&on_path).filter(|(id, _)| tree.site(*id) == Some(row.callee));
            let part: Nanos = contexts.map(|(_, part)| *part).sum();
            assert_eq!(row.metrics.span_on_span, part, "{shape:?}: {row:?}");
            seen += 1;
        }
        assert!(seen >= 1, "{shape:?}");
    }
}
