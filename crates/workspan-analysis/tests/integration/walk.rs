//! The critical path in order, and the run over time, against definitions that know nothing of stages and buckets.

use workspan_analysis::strands::{coarsened, regions, walk, Region, Step};
use workspan_analysis::timeline::{extent, timeline};
use workspan_model::{ContextId, Event, Nanos, Strand};
use workspan_testkit::random::Random;
use workspan_testkit::strands::{evaluate, random_with_waits};

use crate::oracle::regions as regions_of_rows;

/// With a stage for each row, the walk is the graph's longest path, row by row.
#[test]
fn a_walk_is_the_longest_path_in_order() {
    for seed in 0..700 {
        let run = random_with_waits(seed);
        let expected = evaluate(&run.recording, &run.rows);
        let places = regions_of_rows(&run.recording, &run.rows, &expected);
        let mut path: Vec<(Region, i64)> = Vec::new();
        for row in &expected.path {
            let (region, length) = (places[*row], run.rows[*row].cost.0 + run.rows[*row].blocked.0);
            match path.last_mut().filter(|last| last.0 == region) {
                Some(last) => last.1 += length,
                None => path.push((region, length)),
            }
        }
        let rows = run.rows.len() as u64;
        let found = walk(&run.recording, &run.rows, rows, u32::MAX).unwrap_or_else(|never| match never {});
        assert_eq!(lengths(&found), nonzero(path), "seed {seed}");
    }
}

fn lengths(steps: &[Step]) -> Vec<(Region, i64)> {
    nonzero(steps.iter().map(|step| (step.region, step.length().0)).collect())
}

/// Strands that cost nothing may be on a path or not; neighbours that this brings together are one.
fn nonzero(steps: Vec<(Region, i64)>) -> Vec<(Region, i64)> {
    let mut kept: Vec<(Region, i64)> = Vec::new();
    for (region, length) in steps.into_iter().filter(|(_, length)| *length != 0) {
        match kept.last_mut().filter(|last| last.0 == region) {
            Some(last) => last.1 += length,
            None => kept.push((region, length)),
        }
    }
    kept
}

/// However coarse, a walk has of each region what the region has of the path.
#[test]
fn a_coarse_walk_loses_nothing() {
    for seed in 0..300 {
        let run = random_with_waits(seed);
        let rows = run.rows.len() as u64;
        let all = regions(&run.recording, &run.rows).unwrap_or_else(|never| match never {});
        for (stages, most) in [(1, 1_000), (3, 1_000), (64, 12), (64, 1)] {
            let found = walk(&run.recording, &run.rows, rows, stages).unwrap_or_else(|never| match never {});
            let found = coarsened(found, most);
            assert!(found.windows(2).all(|pair| pair[0].stage <= pair[1].stage), "seed {seed}");
            for row in &all.regions {
                let here = found.iter().filter(|step| step.region == row.region);
                let (critical, blocked): (Nanos, Nanos) =
                    (here.clone().map(|step| step.critical).sum(), here.map(|step| step.blocked).sum());
                assert_eq!((critical, blocked), (row.critical, row.critical_blocked), "seed {seed} {stages} {most}");
            }
            let one_stage = found.iter().all(|step| step.stage == 0);
            assert!(found.len() <= most || one_stage, "seed {seed}: {} steps", found.len());
        }
    }
}

/// Every bucket has what a count of every single nanosecond finds.
#[test]
fn buckets_hold_what_ran_in_them() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut below = |n| i64::try_from(random.below(n)).unwrap_or(0);
        let strand = |start, cost| Strand {
            event: Event::Join,
            context: ContextId::ROOT,
            cost: Nanos(cost),
            blocked: Nanos(3),
            start: Nanos(start),
            thread: 0,
        };
        let offset = below(1_000) - 500;
        let rows: Vec<Strand> = (0..below(40)).map(|_| strand(offset + below(300), below(80) - 5)).collect();
        let extent = extent(&rows).unwrap_or_else(|never| match never {});
        assert_eq!(extent.rows, rows.len() as u64);
        for buckets in [1, 7, 64, 1_000] {
            let found = timeline(&rows, &extent, buckets).unwrap_or_else(|never| match never {});
            let ran: Vec<&Strand> = rows.iter().filter(|row| row.cost.0 > 0).collect();
            let Some(found) = found else {
                assert!(ran.is_empty());
                continue;
            };
            assert!(found.busy.len() <= buckets && found.width.0 >= 1);
            let mut at = found.from.0;
            for busy in &found.busy {
                let moments = at..at + found.width.0;
                let running =
                    |t: i64| ran.iter().filter(|row| row.start.0 <= t && t < row.start.0 + row.cost.0).count();
                let expected: usize = moments.map(running).sum();
                assert_eq!(busy.0, i64::try_from(expected).unwrap_or(-1), "seed {seed}, {buckets} buckets, at {at}");
                at += found.width.0;
            }
            assert_eq!(found.busy.iter().copied().sum::<Nanos>(), ran.iter().map(|row| row.cost).sum(), "seed {seed}");
        }
    }
}

/// Moments that no clock reports are no reason to fail.
#[test]
fn absurd_times_are_survived() {
    let strand = |start, cost| Strand {
        event: Event::Join,
        context: ContextId::ROOT,
        cost: Nanos(cost),
        blocked: Nanos::ZERO,
        start: Nanos(start),
        thread: 0,
    };
    let rows = vec![strand(i64::MIN, 5), strand(i64::MAX, i64::MAX), strand(0, i64::MIN), strand(7, i64::MAX)];
    let extent = extent(&rows).unwrap_or_else(|never| match never {});
    let found = timeline(&rows, &extent, 16).unwrap_or_else(|never| match never {}).unwrap();
    assert!(found.busy.iter().all(|busy| *busy >= Nanos::ZERO), "{found:?}");
    let nothing: Vec<Strand> = vec![strand(3, 0)];
    let extent = workspan_analysis::timeline::extent(&nothing).unwrap_or_else(|never| match never {});
    assert_eq!(timeline(&nothing, &extent, 16).unwrap_or_else(|never| match never {}), None);
}
