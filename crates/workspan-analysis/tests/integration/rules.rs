//! Rows that break the rules: no panic, and what is wrong is reported.

use workspan_analysis::advise::{advise, Goal};
use workspan_analysis::calls::{calls, Options};
use workspan_analysis::schedule::{greedy, stealing, BuildOptions, Graph, Stealing};
use workspan_analysis::strands::{self, Problem, Replay};
use workspan_analysis::what_if::{what_if, Change, Factor, Scenario, Selector};
use workspan_analysis::{profile, replay, Replayed};
use workspan_model::{ContextId, Creation, Event, Nanos, Recording, Run, SiteId, Strand};
use workspan_testkit::random::Random;
use workspan_testkit::strands::{random, RandomRun};

fn number(random: &mut Random, below: usize) -> usize {
    usize::try_from(random.below(below.max(1) as u64)).unwrap()
}

/// Breaks rows in one of many ways.
pub(crate) fn break_rows(random: &mut Random, rows: &mut Vec<Strand>) {
    let at = number(random, rows.len());
    match random.below(9) {
        0 => rows.truncate(at),
        1 => drop(rows.remove(at)),
        2 => rows.insert(at, rows[number(random, rows.len())]),
        3 => {
            let other = number(random, rows.len());
            rows.swap(at, other);
        }
        4 => rows[at].context = ContextId(u32::try_from(random.below(1 << 32)).unwrap_or(0)),
        5 => rows[at].cost = Nanos(i64::MAX - i64::try_from(random.below(9)).unwrap()),
        6 => rows[at].cost = Nanos(i64::MIN + i64::try_from(random.below(9)).unwrap()),
        7 => {
            let group = Some(u16::try_from(random.below(1 << 16)).unwrap());
            let context = ContextId(u32::try_from(random.below(40)).unwrap());
            rows[at].event = Event::Spawn(Creation { context, group, overhead: Nanos(i64::MAX) });
        }
        _ => rows[at].event = Event::After(u32::try_from(random.below(5)).unwrap()),
    }
}

fn replayed(recording: &Recording, rows: &[Strand]) -> Replayed {
    replay(recording, rows).unwrap_or_else(|never| match never {})
}

#[test]
fn nothing_panics() {
    for seed in 0..2000 {
        let run = random(seed);
        let mut rows = run.rows;
        let mut random = Random::new(seed);
        for _ in 0..=random.below(6) {
            if !rows.is_empty() {
                break_rows(&mut random, &mut rows);
            }
        }
        let found = replayed(&run.recording, &rows);
        assert_eq!(found.strands, rows.len() as u64);
        let fed = {
            let mut replay = Replay::new(&run.recording).with_dependences();
            rows.chunks(7).for_each(|batch| replay.feed(batch));
            replay.finish()
        };
        assert_eq!((found.work, found.span, &found.totals), (fed.work, fed.span, &fed.totals), "seed {seed}");
        let broken = rows.iter().any(|row| row.cost.0.unsigned_abs() > 1 << 60);
        if !broken {
            assert_eq!(found.critical.iter().copied().sum::<Nanos>(), found.span, "seed {seed}");
        }
        let regions = strands::regions(&run.recording, &rows).unwrap_or_else(|never| match never {});
        assert_eq!(regions.work, found.work);
        for heights in [false, true] {
            let options = Options { heights, steal: Nanos(7), on_one: found.work };
            let calls = calls(&run.recording, &rows, &options).unwrap_or_else(|never| match never {});
            assert_eq!((calls.work, calls.span), (found.work, found.span), "seed {seed}");
        }
        let part = Selector::Below(SiteId(u32::try_from(random.below(30)).unwrap()));
        let changes = vec![Change { part, factor: Factor::INFINITE }];
        let answer = what_if(&run.recording, &rows, &[Scenario { changes }]).unwrap_or_else(|never| match never {});
        assert_eq!(answer.outcomes.len(), 1);
        for most in [12, 1 << 20] {
            let options = BuildOptions { most, ..BuildOptions::default() };
            let graph = Graph::of(&run.recording, &rows, &options).unwrap_or_else(|never| match never {});
            assert!(broken || graph.work() == found.work, "seed {seed}");
            for processors in [1, 3] {
                let ran = greedy(&graph, processors).busy;
                let stole = stealing(&graph, processors, &Stealing::of(Nanos(7), seed)).busy;
                let all = graph.work();
                assert!(broken || (ran, stole) == (all, all), "seed {seed}, {most}, {processors}: {ran} {stole} {all}");
            }
        }
        let as_run = found.into_run(&Run::default());
        let _ = profile(&run.recording, &as_run);
        if seed % 16 != 0 {
            continue;
        }
        let goal = Goal { factor: 8.0, ..Goal::default() };
        let _ = advise(&run.recording, &as_run, &rows, &goal).unwrap_or_else(|never| match never {});
    }
}

fn row(event: Event, cost: i64) -> Strand {
    let zero = Nanos::ZERO;
    Strand { event, context: ContextId::ROOT, cost: Nanos(cost), blocked: zero, start: zero, thread: 0 }
}

#[track_caller]
fn check(rows: &[Strand], span: i64, problems: &[(Problem, u64)]) {
    let found = replayed(&Recording::default(), rows);
    assert_eq!(found.problems.iter().collect::<Vec<_>>(), problems);
    assert_eq!(found.span.0, span);
}

#[test]
fn problems_are_told() {
    let spawn = |group| Event::Spawn(Creation { context: ContextId::ROOT, group, overhead: Nanos::ZERO });
    check(&[row(Event::Join, 1), row(Event::Leave, 2), row(Event::TeamEnd, 3)], 6, &[(Problem::NotOpen, 3)]);
    check(&[row(Event::Sync, 1), row(Event::End, 2)], 3, &[]);
    check(&[row(Event::End, 1), row(Event::End, 2)], 3, &[(Problem::NotOpen, 1)]);
    check(&[row(Event::Group, 1), row(Event::Fork(1), 2), row(Event::Wait, 3)], 6, &[(Problem::StillOpen, 1)]);
    check(&[row(Event::Fork(1), 1), row(Event::Next(1), 5), row(spawn(None), 2)], 6, &[(Problem::Unfinished, 2)]);
    check(&[row(spawn(Some(3)), 1), row(Event::End, 2)], 3, &[(Problem::UnknownGroup, 1)]);
    check(&[row(Event::After(0), 0), row(Event::Sync, 2)], 2, &[(Problem::UnknownTask, 1)]);
    let elsewhere = Strand { context: ContextId(9), ..row(Event::Sync, 4) };
    check(&[elsewhere], 4, &[(Problem::UnknownContext, 1)]);
    let found = replayed(&Recording::default(), &[row(Event::Sync, 1), row(Event::Leave, 1)]);
    assert_eq!(found.problems.first(), Some(1));
    check(&[], 0, &[]);
}

#[test]
fn order_that_is_not_kept_is_told() {
    let has_order = |run: &RandomRun| run.rows.iter().any(|row| matches!(row.event, Event::After(_)));
    let run = (0..).map(random).find(has_order).unwrap();
    let mut replay = Replay::new(&run.recording);
    replay.feed(&run.rows);
    assert!(replay.finish().problems.count(Problem::UnknownTask) > 0);
}

#[test]
fn what_is_too_deep_is_code_of_what_is_around() {
    let creation = Creation { context: ContextId::ROOT, group: None, overhead: Nanos::ZERO };
    let depth = strands::MOST_OPEN + 10;
    let mut rows = vec![row(Event::Spawn(creation), 1); depth];
    rows.extend(vec![row(Event::End, 1); depth]);
    rows.push(row(Event::End, 5));
    let found = replayed(&Recording::default(), &rows);
    assert_eq!(found.problems.iter().collect::<Vec<_>>(), [(Problem::TooDeep, 1)]);
    assert_eq!(found.work.0, 2 * i64::try_from(depth).unwrap() + 5);
    // None of a site.
    assert_eq!(found.totals[0].tasks, 0);
    // The innermost task has its own end, and all that was excluded.
    assert_eq!(found.span.0, i64::try_from(strands::MOST_OPEN).unwrap() + 21);
}

#[test]
fn what_has_not_ended_is_told() {
    let run = random(77);
    let enter = run.rows.iter().position(|row| matches!(row.event, Event::Enter(_))).unwrap();
    let found = replayed(&run.recording, &run.rows[..=enter]);
    let Event::Enter(context) = run.rows[enter].event else {
        unreachable!("just looked for");
    };
    assert_eq!(found.open.iter().map(|open| open.context).collect::<Vec<_>>(), [context]);
    assert_eq!(found.problems.count(Problem::Unfinished), 1);
}

#[test]
fn sizes_are_cut_as_collectors_cut_them() {
    for value in (0..5000).chain((3..64).flat_map(|e| [(1u64 << e) - 1, 1 << e, (1 << e) + 1])) {
        assert_eq!(workspan_model::histogram::bucket(value), workspan_wire::histogram::bucket(value), "{value}");
    }
    let each = |at: usize| {
        let mut counts = [0; workspan_model::histogram::BUCKETS];
        counts[at] = 1;
        let histogram = workspan_model::Histogram::of_counts(&counts);
        let bucket = histogram.buckets()[0];
        (bucket.low.0.unsigned_abs(), bucket.high.0.unsigned_abs())
    };
    for at in 0..workspan_wire::histogram::BUCKETS {
        assert_eq!(each(at), workspan_wire::histogram::bounds(at));
    }
}
