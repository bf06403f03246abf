//! Random runs: every number is that of the explicit graph of strands.

use workspan_analysis::replay;
use workspan_analysis::strands::{self, Point, Region};
use workspan_analysis::what_if::{what_if, Change, Factor, Scenario, Selector};
use workspan_model::{histogram, ContextId, Event, Histogram, Nanos, Recording, Strand};
use workspan_testkit::random::Random;
use workspan_testkit::strands::dag::{Spot, Sums};
use workspan_testkit::strands::{evaluate, random_with_waits, Evaluated};

const RUNS: u64 = 1500;

#[test]
fn a_replay_tells_what_the_graph_tells() {
    for seed in 0..RUNS {
        let run = random_with_waits(seed);
        let expected = evaluate(&run.recording, &run.rows);
        let found = replay(&run.recording, &run.rows).unwrap_or_else(|never| match never {});
        let seed = format!("seed {seed}");
        assert!(found.problems.is_empty(), "{seed}: {:?}", found.problems);
        assert_eq!((found.work.0, found.span.0), (expected.work, expected.span), "{seed}");
        let of_range =
            |event| matches!(event, Event::Fork(n) | Event::Next(n) if n > 1) || matches!(event, Event::Locked(_));
        let loops = run.rows.iter().any(|row| of_range(row.event));
        assert_eq!(found.uniform_span.0, if loops { expected.uniform } else { 0 }, "{seed}");
        assert_eq!(found.critical.iter().copied().sum::<Nanos>(), found.span, "{seed}");
        for (id, sums) in expected.contexts.iter().enumerate() {
            let totals = &found.totals[id];
            let (instances, work, span, uniform) = sums.instances;
            let label = format!("{seed} context {id}");
            assert_eq!(totals.self_work.0, sums.self_work, "{label}");
            assert_eq!(totals.blocked.0, sums.blocked, "{label}");
            assert_eq!(found.critical[id].0, sums.critical, "{label}");
            assert_eq!(totals.entries, sums.entries, "{label}");
            assert_eq!(totals.instances, instances, "{label}");
            assert_eq!(totals.span.0, span, "{label}");
            assert_eq!(totals.uniform_span.0, if loops { uniform } else { 0 }, "{label}");
            assert_eq!(totals.work.0, work, "{label}");
            assert_eq!(totals.tasks, sums.tasks.len() as u64, "{label}");
            assert_eq!(totals.items, sums.items, "{label}");
            assert_eq!(totals.overhead.0, sums.overhead, "{label}");
            assert_eq!(totals.task_work.0, sums.tasks.iter().sum::<i64>(), "{label}");
            assert_eq!(totals.sizes, sizes(sums), "{label}");
        }
    }
}

fn sizes(sums: &Sums) -> Histogram {
    let mut counts = [0; histogram::BUCKETS];
    for size in &sums.tasks {
        counts[histogram::bucket(size.unsigned_abs())] += 1;
    }
    Histogram::of_counts(&counts)
}

/// The region of each row.
pub(crate) fn regions(recording: &Recording, rows: &[Strand], answer: &Evaluated) -> Vec<Region> {
    let point = |spot| match spot {
        Spot::Begin => Point::Begin,
        Spot::End => Point::End,
        Spot::Wait => Point::Wait,
        Spot::Enter => Point::Enter,
        Spot::Leave => Point::Leave,
        Spot::Meet => Point::Meet,
        Spot::At(context) => recording.contexts.site(context).map_or(Point::Unknown, Point::Site),
    };
    let places = answer.places.iter().zip(rows);
    places
        .map(|((before, after), row)| Region { context: row.context, before: point(*before), after: point(*after) })
        .collect()
}

#[test]
fn regions_are_where_their_strands_are() {
    for seed in 0..RUNS / 3 {
        let run = random_with_waits(seed);
        let expected = evaluate(&run.recording, &run.rows);
        let places = regions(&run.recording, &run.rows, &expected);
        let found = strands::regions(&run.recording, &run.rows).unwrap_or_else(|never| match never {});
        assert_eq!(found.span.0, expected.span, "seed {seed}");
        let costs = |rows: &mut dyn Iterator<Item = usize>, region: Region| {
            let costs: Vec<i64> = rows.filter(|row| places[*row] == region).map(|row| run.rows[row].cost.0).collect();
            (costs.iter().sum::<i64>(), costs.iter().filter(|cost| **cost != 0).count() as u64)
        };
        for row in &found.regions {
            let label = format!("seed {seed} {:?}", row.region);
            assert_eq!((row.work.0, row.strands), costs(&mut (0..run.rows.len()), row.region), "{label}");
            let path = &mut expected.path.iter().copied();
            assert_eq!((row.critical.0, row.critical_strands), costs(path, row.region), "{label}");
        }
        let all: Nanos = found.regions.iter().map(|row| row.critical + row.critical_blocked).sum();
        assert_eq!(all, found.span, "seed {seed}");
    }
}

/// A scenario made at random.
fn scenario(random: &mut Random, recording: &Recording, regions: &[Region]) -> Scenario {
    let changes = (0..=random.below(2)).map(|_| {
        let region = regions[usize::try_from(random.below(regions.len() as u64)).unwrap()];
        let context = region.context;
        let site = recording.contexts.site(context);
        let part = match (random.below(5), site) {
            (0, Some(site)) => Selector::Site(site),
            (1, Some(site)) => Selector::Below(site),
            (2, _) => Selector::Context(context),
            (3, _) => Selector::Region(region),
            _ => Selector::Lines { file: "a.rs".to_owned(), first: 10, last: 16 },
        };
        let factors = [1.0, 2.0, 3.0, 4.0, 5.0, f64::INFINITY];
        let factor = factors[usize::try_from(random.below(6)).unwrap()];
        Change { part, factor: Factor::new(factor).unwrap() }
    });
    Scenario { changes: changes.collect() }
}

fn names(recording: &Recording, part: &Selector, region: Region) -> bool {
    let tree = &recording.contexts;
    let site = |context: ContextId| tree.site(context);
    match part {
        Selector::Site(wanted) => site(region.context) == Some(*wanted),
        Selector::Below(wanted) => tree.path(region.context).any(|context| site(context) == Some(*wanted)),
        Selector::Context(wanted) => region.context == *wanted,
        Selector::Region(wanted) => region == *wanted,
        Selector::Lines { file, first, last } => {
            let place = |point: Point| match point {
                Point::Site(id) => Some(id),
                Point::Begin | Point::End | Point::Enter | Point::Leave | Point::Meet => site(region.context),
                Point::Wait | Point::Unknown => None,
            };
            let serial = site(region.context).is_some_and(|id| !recording.sites[id.0 as usize].kind.spawns());
            let mut ends: Vec<_> = [region.before, region.after].into_iter().filter_map(place).collect();
            if (region.before, region.after) == (Point::Wait, Point::Wait) {
                ends.extend(site(region.context));
            }
            let within = |site: &workspan_model::SiteId| {
                let site = &recording.sites[site.0 as usize];
                site.file == format!("src/{file}") && (*first..=*last).contains(&site.line)
            };
            !serial && !ends.is_empty() && ends.iter().all(within)
        }
        Selector::Place(_) | Selector::Marked(_) => unreachable!("not made"),
    }
}

#[test]
fn what_if_is_the_model_with_the_costs_divided() {
    let mut named = 0;
    for seed in 0..RUNS {
        let run = random_with_waits(seed);
        let as_it_is = evaluate(&run.recording, &run.rows);
        let places = regions(&run.recording, &run.rows, &as_it_is);
        let mut random = Random::new(seed);
        let scenarios: Vec<Scenario> = (0..3).map(|_| scenario(&mut random, &run.recording, &places)).collect();
        let found = what_if(&run.recording, &run.rows, &scenarios).unwrap_or_else(|never| match never {});
        assert_eq!(found.before.replayed.span.0, as_it_is.span, "seed {seed}");
        for (scenario, outcome) in scenarios.iter().zip(&found.outcomes) {
            let label = format!("seed {seed} {scenario:?}");
            let rebuilt = |ceiling: bool| {
                let mut rows = run.rows.clone();
                for (row, region) in rows.iter_mut().zip(&places) {
                    for change in scenario.changes.iter().filter(|change| names(&run.recording, &change.part, *region))
                    {
                        let factor = if ceiling { f64::INFINITY } else { change.factor.value() };
                        // Costs are multiples of all factors, and the order does not matter.
                        #[expect(clippy::cast_possible_truncation, reason = "whole numbers")]
                        let whole = factor.min(1e9) as i64;
                        row.cost.0 = if factor.is_infinite() { 0 } else { row.cost.0 / whole };
                    }
                }
                evaluate(&run.recording, &rows)
            };
            for (figures, expected) in [(&outcome.after, rebuilt(false)), (&outcome.ceiling, rebuilt(true))] {
                assert_eq!(figures.replayed.span.0, expected.span, "{label}");
                assert_eq!(figures.replayed.work.0, as_it_is.work, "{label}");
                assert_eq!(
                    figures.path.iter().map(|r| r.critical + r.critical_blocked).sum::<Nanos>(),
                    Nanos(expected.span)
                );
                for (totals, sums) in figures.replayed.totals.iter().zip(&expected.contexts) {
                    assert_eq!(totals.span.0, sums.instances.2, "{label}");
                }
                for (critical, sums) in figures.replayed.critical.iter().zip(&expected.contexts) {
                    assert_eq!(critical.0, sums.critical, "{label}");
                }
            }
            named += outcome.strands;
        }
    }
    assert!(named > 10_000, "{named}");
}
