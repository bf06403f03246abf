//! Calls of random runs: every sum is that over the instances in the explicit graph of strands.

use std::collections::BTreeMap;

use workspan_analysis::calls::{calls, CallRow, Options};
use workspan_model::{CallMetrics, ContextId, Event, Nanos, Recording, SiteId, Strand};
use workspan_testkit::strands::dag::Call;
use workspan_testkit::strands::{evaluate, evaluate_burdened, random, Evaluated};

const RUNS: u64 = 1500;
const STEAL: i64 = 40_000_003;

type Edge = (SiteId, Option<SiteId>, Option<u32>);

/// Random rows, of which none costs nothing: so no two chains are of equal length.
fn rows(seed: u64) -> (Recording, Vec<Strand>) {
    let mut run = random(seed);
    for (number, row) in (0..).zip(&mut run.rows) {
        if !matches!(row.event, Event::After(_)) {
            row.cost.0 += 1 + (number * 7919) % 1009;
        }
    }
    (run.recording, run.rows)
}

fn site(recording: &Recording, context: ContextId) -> Option<SiteId> {
    recording.contexts.site(context).filter(|site| recording.sites[site.0 as usize].kind.spawns())
}

fn add(sums: &mut CallMetrics, call: &Call) {
    sums.calls_on_work += 1;
    sums.work_on_work += Nanos(call.work);
    sums.span_on_work += Nanos(call.span);
    if call.on_path {
        sums.calls_on_span += 1;
        sums.work_on_span += Nanos(call.work);
        sums.span_on_span += Nanos(call.span);
    }
}

fn outermost(recording: &Recording, answer: &Evaluated) -> BTreeMap<Edge, CallMetrics> {
    let mut edges: BTreeMap<Edge, CallMetrics> = BTreeMap::new();
    let edge = |context: ContextId| {
        let around = recording.contexts.get(context).expect("it is there").parent;
        Some((recording.contexts.site(context)?, site(recording, around), None))
    };
    for call in answer.calls.iter().filter(|call| call.outermost) {
        add(edges.entry(edge(call.context).expect("a site")).or_default(), call);
    }
    for (id, sums) in recording.contexts.ids().zip(&answer.contexts) {
        if let Some(edge) = edge(id) {
            let local = CallMetrics {
                local_work: Nanos(sums.self_work),
                local_span: Nanos(sums.critical),
                ..CallMetrics::ZERO
            };
            *edges.entry(edge).or_default() += local;
        }
    }
    edges.retain(|_, sums| *sums != CallMetrics::ZERO);
    edges
}

fn heights(recording: &Recording, answer: &Evaluated) -> BTreeMap<Edge, CallMetrics> {
    let mut edges: BTreeMap<Edge, CallMetrics> = BTreeMap::new();
    for call in &answer.calls {
        let callee = site(recording, call.context).expect("a site");
        let sums = edges.entry((callee, site(recording, call.around), Some(call.height))).or_default();
        add(sums, call);
        sums.local_work += Nanos(call.own);
    }
    edges
}

fn found(rows: &[CallRow]) -> BTreeMap<Edge, CallMetrics> {
    rows.iter().map(|row| ((row.callee, row.caller, row.height), row.metrics)).collect()
}

#[test]
fn sums_are_those_over_all_instances() {
    let mut seen = [0; 3];
    for seed in 0..RUNS {
        let (recording, rows) = rows(seed);
        let answer = evaluate(&recording, &rows);
        let burdened = evaluate_burdened(&recording, &rows, STEAL);
        for by_height in [false, true] {
            let label = format!("seed {seed}, by height: {by_height}");
            let options = Options { heights: by_height, steal: Nanos(STEAL) };
            let calls = calls(&recording, &rows, &options).unwrap_or_else(|never| match never {});
            assert!(calls.problems.is_empty(), "{label}");
            assert_eq!((calls.work.0, calls.span.0), (answer.work, answer.span), "{label}");
            assert_eq!(calls.burdened.span.0, burdened.span, "{label}");
            let sums = if by_height { heights } else { outermost };
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
        let (recording, rows) = rows(seed);
        let options = Options { heights: false, steal: Nanos::ZERO };
        let calls = calls(&recording, &rows, &options).unwrap_or_else(|never| match never {});
        assert_eq!(calls.burdened.span, calls.span, "seed {seed}");
        let local: Nanos = calls.rows.iter().map(|row| row.metrics.local_work).sum();
        let root: Nanos = rows.iter().filter(|row| row.context == ContextId::ROOT).map(|row| row.cost).sum();
        assert_eq!(local + root, calls.work, "seed {seed}");
    }
}
