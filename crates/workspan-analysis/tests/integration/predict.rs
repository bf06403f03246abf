//! Predictions of programs whose answers are known, and of random ones.

use workspan_analysis::laws::on_one;
use workspan_analysis::predict::{predict, Options, Prediction};
use workspan_analysis::schedule::{greedy, BuildOptions, Grain, Graph};
use workspan_analysis::strands::burdened_span;
use workspan_model::{ContextId, ContextTree, Creation, Event, Nanos, Recording, Site, SiteId, SiteKind, Strand};
use workspan_testkit::strands::random;

use crate::schedule::graph;

const JOIN: ContextId = ContextId(1);
pub(crate) const TASK: ContextId = ContextId(2);

/// Contexts of a join and of a task.
pub(crate) fn recording() -> Recording {
    let mut contexts = ContextTree::default();
    let site = |kind| Site::at(kind, "", 1, 1);
    for id in [0, 1] {
        contexts.intern(ContextId::ROOT, SiteId(id)).unwrap();
    }
    Recording { sites: vec![site(SiteKind::Join), site(SiteKind::ScopeSpawn)], contexts, ..Recording::default() }
}

pub(crate) fn row(event: Event, context: ContextId, cost: i64) -> Strand {
    let zero = Nanos::ZERO;
    Strand { event, context, cost: Nanos(cost), blocked: zero, start: zero, thread: 0 }
}

/// A tree of joins: `2^depth` leaves of so much.
fn tree(rows: &mut Vec<Strand>, depth: u32, leaf: i64) {
    if depth == 0 {
        rows.push(row(Event::Enter(JOIN), JOIN, leaf));
        rows.push(row(Event::Leave, JOIN, 0));
        return;
    }
    rows.push(row(Event::Fork(1), JOIN, 0));
    tree(rows, depth - 1, leaf);
    rows.push(row(Event::Next(1), JOIN, 0));
    tree(rows, depth - 1, leaf);
    rows.push(row(Event::Join, JOIN, 0));
}

/// A scope with this number of tasks of so much, each of which costs `creation`.
pub(crate) fn tasks(count: u32, size: i64, creation: i64) -> Vec<Strand> {
    let spawn = Event::Spawn(Creation { context: TASK, group: Some(0), overhead: Nanos(creation) });
    let mut rows = vec![row(Event::Group, ContextId::ROOT, 0)];
    for _ in 0..count {
        rows.push(row(spawn, ContextId::ROOT, creation));
        rows.push(row(Event::End, TASK, size));
    }
    rows.push(row(Event::Wait, ContextId::ROOT, 0));
    rows
}

fn predicted(rows: &Vec<Strand>, steal: i64) -> Prediction {
    let options = Options { processors: vec![8, 1, 2, 4, 2], steal: Nanos(steal), seeds: 3 };
    let found = graph(&recording(), rows);
    let on_one = on_one(found.work(), found.span(), []);
    predict(&found, on_one, &options)
}

#[track_caller]
fn check(found: &Prediction, greedy: [i64; 4]) {
    let numbers: Vec<u32> = found.points.iter().map(|point| point.processors).collect();
    assert_eq!(numbers, [1, 2, 4, 8]);
    let times: Vec<i64> = found.points.iter().map(|point| point.greedy.time.0).collect();
    assert_eq!(times, greedy);
    for point in &found.points {
        assert!(point.laws <= point.greedy.time && point.greedy.time <= point.brent, "{point:?}");
        for schedule in &point.stealing {
            assert!(point.laws <= schedule.time, "{point:?}");
        }
    }
}

#[test]
fn a_tree_of_equal_leaves_scales_to_its_leaves() {
    let mut rows = Vec::new();
    tree(&mut rows, 3, 1000);
    let found = predicted(&rows, 0);
    check(&found, [8000, 4000, 2000, 1000]);
    assert_eq!(found.scales_to, Some(8));
    assert!((found.bounds.most_speedup().unwrap().0 - 8.0).abs() < 1e-12);
    let stolen: Vec<i64> = found.points.iter().map(|point| point.typical().time.0).collect();
    assert_eq!(stolen, [8000, 4000, 2000, 1000]);
    // The burdened span: two steals at each of three joins.
    let found = predicted(&rows, 100);
    assert_eq!(found.bounds.burdened_span.0, 1600);
    assert_eq!(found.points[0].typical().time.0, 8000);
    assert_eq!(found.points[1].typical().steals, 1);
    // Half of the tree is stolen, and its end is reported; the search takes up to two looks.
    let time = found.points[1].typical().time.0;
    assert!((4200..=4300).contains(&time), "{time}");
}

#[test]
fn a_serial_half_halves_the_speedup() {
    let mut rows = vec![row(Event::Enter(JOIN), ContextId::ROOT, 8000)];
    tree(&mut rows, 3, 1000);
    rows.push(row(Event::Leave, JOIN, 0));
    let found = predicted(&rows, 0);
    check(&found, [16_000, 12_000, 10_000, 9000]);
    assert_eq!(found.scales_to, Some(1));
    assert_eq!(found.points[3].greedy.idle.0, 7 * 8000);
}

#[test]
fn who_waits_for_the_outside_world_holds_no_processor() {
    let mut rows = Vec::new();
    tree(&mut rows, 1, 1000);
    rows[1].blocked = Nanos(500);
    let found = predicted(&rows, 0);
    check(&found, [2000, 1500, 1500, 1500]);
    assert_eq!((found.bounds.blocked.0, found.bounds.serial.0), (500, 2000));
    // Nothing else is left to run meanwhile.
    let mut rows = Vec::new();
    tree(&mut rows, 1, 1000);
    rows[4].blocked = Nanos(500);
    check(&predicted(&rows, 0), [2500, 1500, 1500, 1500]);
}

#[test]
fn a_creator_of_tasks_limits_them() {
    // The last of ten is created after 1000 and takes 400.
    let found = predicted(&tasks(10, 400, 100), 0);
    check(&found, [5000, 2600, 1500, 1400]);
}

/// With tasks of the site below so much run by their creators.
fn inlined(rows: &Vec<Strand>, site: u32, least: i64, join_cost_ps: i64) -> Graph {
    let grain = vec![Grain { site: SiteId(site), least: Nanos(least) }];
    let options = BuildOptions { grain, join_cost_ps, ..BuildOptions::default() };
    Graph::of(&recording(), rows, &options).unwrap_or_else(|never| match never {})
}

#[test]
fn tasks_below_the_grain_are_run_by_their_creators() {
    let rows = tasks(10, 400, 100);
    let kept = inlined(&rows, 1, 400, 0);
    assert_eq!((kept.work().0, greedy(&kept, 4).time.0), (5000, 1500));
    // Their creations are saved, and their parallelism is gone.
    let merged = inlined(&rows, 1, 401, 0);
    assert_eq!((merged.work().0, greedy(&merged, 4).time.0), (4000, 4000));
    assert_eq!((merged.work() + merged.saved()).0, 5000);
    // Another site's.
    assert_eq!(inlined(&rows, 0, 401, 0).work().0, 5000);
}

#[test]
fn joins_below_the_grain_are_none() {
    let mut rows = Vec::new();
    tree(&mut rows, 3, 1000);
    for fork in rows.iter_mut().filter(|row| row.event == Event::Fork(1)) {
        fork.cost = Nanos(50);
    }
    // The four innermost joins, and a creation of 50 saved at each.
    let found = inlined(&rows, 0, 2000, 50_000);
    assert_eq!((found.work().0, (found.work() + found.saved()).0), (8150, 8350));
    assert_eq!(greedy(&found, 8).time.0, 2100);
    // Of each half a nanosecond.
    let found = inlined(&rows, 0, 2000, 10_500);
    assert_eq!((found.work().0, (found.work() + found.saved()).0), (8308, 8350));
    let found = inlined(&rows, 0, 100_000, 50_000);
    assert_eq!((found.work().0, greedy(&found, 8).time.0), (8000, 8000));
}

#[test]
fn grain_leaves_the_work_and_adds_to_the_span() {
    for seed in 0..600 {
        let run = random(seed);
        let whole = graph(&run.recording, &run.rows);
        let all = (0..20).map(|site| Grain { site: SiteId(site), least: Nanos(i64::MAX / 4096) });
        let options = BuildOptions { grain: all.collect(), ..BuildOptions::default() };
        let found = Graph::of(&run.recording, &run.rows, &options).unwrap_or_else(|never| match never {});
        assert_eq!(found.work() + found.saved(), whole.work(), "seed {seed}");
        assert!(found.span() >= whole.span() - (whole.work() - found.work()), "seed {seed}");
        assert_eq!(greedy(&found, 1).busy, found.work(), "seed {seed}");
        let teams = run.rows.iter().any(|row| matches!(row.event, Event::Team(_) | Event::Fork(_)));
        if !teams {
            // Nothing is left but one chain.
            assert_eq!(found.span(), found.work() + found.blocked(), "seed {seed}");
        }
    }
}

#[test]
fn a_long_run_is_folded_and_predicted_as_before() {
    // Tasks and a tree of many leaves, in a fiftieth of their pieces; and loops that are short each.
    let mut rows = tasks(30_000, 400, 10);
    tree(&mut rows, 12, 1000);
    for _ in 0..2000 {
        tree(&mut rows, 3, 100);
    }
    let recording = recording();
    let whole = graph(&recording, &rows);
    let options = BuildOptions { most: 3000, ..BuildOptions::default() };
    let folded = Graph::of(&recording, &rows, &options).unwrap_or_else(|never| match never {});
    // What comes behind the last join is a piece of its own.
    assert_eq!(whole.pieces(), rows.len() + 1);
    assert!(folded.pieces() <= 3000, "{}", folded.pieces());
    // Steals within what was folded are reported by a replay.
    let exact = burdened_span(&recording, &rows, Nanos(100)).unwrap_or_else(|never| match never {});
    assert_eq!(exact, whole.burdened_span(Nanos(100)));
    assert!(folded.burdened_span(Nanos(100)) < exact);
    let all = folded.folded() + folded.pieces() as u64;
    assert!(all == rows.len() as u64 || all == whole.pieces() as u64, "{all}");
    assert_eq!(folded.work(), whole.work());
    let near = |found: Nanos, expected: Nanos, error: f64| {
        let ratio = found.0 as f64 / expected.0 as f64;
        assert!((ratio - 1.0).abs() < error, "{found} {expected} {error}");
    };
    near(folded.span(), whole.span(), 0.03);
    // Where few pieces are left for each processor it shows that they are large.
    for (processors, error) in [(2, 0.02), (8, 0.05), (64, 0.15)] {
        near(greedy(&folded, processors).time, greedy(&whole, processors).time, error);
    }
}
