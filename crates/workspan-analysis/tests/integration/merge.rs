//! Runs merged node by node: copies of random runs, with noise, and with subtrees that some of them lack.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;

use workspan_analysis::replay;
use workspan_analysis::strands::merge::{merge, Keep, Merged, Source, Unmatched};
use workspan_model::{ContextId, Creation, Event, Nanos, Strand};
use workspan_testkit::random::Random;
use workspan_testkit::strands::random;

use crate::rules::break_rows;

/// Rows in batches of odd lengths.
pub(crate) struct Batches<'a> {
    pub(crate) rows: &'a [Strand],
    pub(crate) length: usize,
}

impl Source for Batches<'_> {
    type Error = Infallible;

    fn next_batch(&mut self) -> Result<Option<&[Strand]>, Infallible> {
        let (now, later) = self.rows.split_at(self.length.min(self.rows.len()));
        self.rows = later;
        Ok((!now.is_empty()).then_some(now))
    }
}

fn merged(runs: &[Vec<Strand>], keep: Keep) -> (Vec<Strand>, Merged) {
    let mut rows = Vec::new();
    let sources = runs.iter().zip([7, 1, 100, 3, 11].into_iter().cycle());
    let sources = sources.map(|(rows, length)| Batches { rows, length });
    let told = merge(sources, keep, &mut |batch| {
        rows.extend_from_slice(batch);
        ControlFlow::Continue(())
    });
    (rows, told.unwrap_or_else(|never| match never {}))
}

/// What a strand costs in three ways.
fn costs(row: &Strand) -> [i64; 3] {
    let overhead = match row.event {
        Event::Spawn(creation) | Event::Call(creation) => creation.overhead.0,
        _ => 0,
    };
    [row.cost.0, row.blocked.0, overhead]
}

fn with_costs(row: &Strand, [cost, blocked, overhead]: [i64; 3]) -> Strand {
    let mut row = Strand { cost: Nanos(cost), blocked: Nanos(blocked), ..*row };
    if let Event::Spawn(creation) | Event::Call(creation) = &mut row.event {
        creation.overhead = Nanos(overhead);
    }
    row
}

pub(crate) fn noisy(random: &mut Random, row: &Strand) -> Strand {
    with_costs(row, costs(row).map(|cost| cost + i64::try_from(random.below(1000)).unwrap()))
}

fn kept(keep: Keep, rows: &[Strand]) -> [i64; 3] {
    [0, 1, 2].map(|which| {
        let mut values: Vec<i64> = rows.iter().map(|row| costs(row)[which]).collect();
        values.sort_unstable();
        match keep {
            Keep::Minimum => values[0],
            Keep::Median => (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2,
        }
    })
}

/// Of each row that begins something: the row that ends it.
pub(crate) fn ends(rows: &[Strand]) -> BTreeMap<usize, usize> {
    let mut ends = BTreeMap::new();
    let mut open: Vec<(usize, bool)> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        match row.event {
            Event::Fork(_) | Event::Group | Event::Spawn(_) | Event::Call(_) | Event::Enter(_) => {
                open.push((at, false));
            }
            Event::Team(_) => open.push((at, true)),
            Event::End if open.last().is_none_or(|(_, team)| *team) => {}
            Event::Join | Event::Wait | Event::End | Event::Leave | Event::TeamEnd => {
                ends.extend(open.pop().map(|(begin, _)| (begin, at)));
            }
            _ => {}
        }
    }
    ends
}

#[test]
fn noise_is_left_out() {
    for seed in 0..600 {
        let tree = random(seed);
        let mut random = Random::new(seed);
        let count = 1 + seed % 6;
        let runs: Vec<Vec<Strand>> =
            (0..count).map(|_| tree.rows.iter().map(|row| noisy(&mut random, row)).collect()).collect();
        for keep in [Keep::Minimum, Keep::Median] {
            let (rows, told) = merged(&runs, keep);
            let column = |at: usize| runs.iter().map(|run| run[at]).collect::<Vec<_>>();
            let expected: Vec<Strand> =
                runs[0].iter().enumerate().map(|(at, row)| with_costs(row, kept(keep, &column(at)))).collect();
            assert_eq!(rows, expected, "seed {seed}");
            let strands = rows.len() as u64;
            let others = vec![Unmatched::default(); runs.len() - 1];
            assert_eq!(told, Merged { strands, matched: strands, others, places: Vec::new() }, "seed {seed}");
        }
        let span = |rows: &Vec<Strand>| replay(&tree.recording, rows).unwrap_or_else(|never| match never {}).span;
        let least = span(&merged(&runs, Keep::Minimum).0);
        assert!(runs.iter().all(|run| span(run) >= least) && least >= span(&tree.rows), "seed {seed}");
    }
}

#[test]
fn all_that_is_the_same_matches() {
    for seed in 0..2000 {
        let mut tree = random(seed).rows;
        let mut random = Random::new(seed);
        // Subtrees that a run may lack, each unlike all others.
        let optional: Vec<(usize, usize)> = ends(&tree).into_iter().filter(|_| random.once_in(6)).collect();
        for (begin, _) in &optional {
            tree[*begin].context = ContextId(1_000_000 + u32::try_from(*begin).unwrap());
        }
        let copies: Vec<Vec<usize>> = (0..2 + seed % 3)
            .map(|_| {
                let lacks: Vec<_> = optional.iter().filter(|_| random.once_in(3)).collect();
                (0..tree.len()).filter(|at| !lacks.iter().any(|(begin, end)| (begin..=end).contains(&at))).collect()
            })
            .collect();
        let runs: Vec<Vec<Strand>> =
            copies.iter().map(|copy| copy.iter().map(|at| noisy(&mut random, &tree[*at])).collect()).collect();
        // A strand is the same where the row before it is the same, too.
        let strands = |copy: &[usize]| {
            let before = std::iter::once(None).chain(copy.iter().copied().map(Some));
            copy.iter().copied().zip(before).enumerate().map(|(at, strand)| (strand, at)).collect::<BTreeMap<_, _>>()
        };
        let strands: Vec<_> = copies.iter().map(|copy| strands(copy)).collect();
        let (rows, told) = merged(&runs, Keep::Minimum);
        for (strand, at) in &strands[0] {
            let same: Vec<Strand> =
                strands.iter().zip(&runs).filter_map(|(all, run)| Some(run[*all.get(strand)?])).collect();
            assert_eq!(rows[*at], with_costs(&runs[0][*at], kept(Keep::Minimum, &same)), "seed {seed} row {at}");
        }
        for (other, told) in strands[1..].iter().zip(&told.others) {
            let lacking = |of: &BTreeMap<_, _>, all: &BTreeMap<_, _>| {
                of.keys().filter(|strand| !all.contains_key(*strand)).count() as u64
            };
            let expected = Unmatched { missing: lacking(&strands[0], other), extra: lacking(other, &strands[0]) };
            assert_eq!(*told, expected, "seed {seed}");
        }
        let everywhere = strands[0].keys().filter(|strand| strands.iter().all(|all| all.contains_key(*strand)));
        assert_eq!(told.matched, everywhere.count() as u64, "seed {seed}");
        let listed = |count: fn(&Unmatched) -> u64| told.places.iter().map(|(_, place)| count(place)).sum::<u64>();
        let counted = |count: fn(&Unmatched) -> u64| told.others.iter().map(count).sum::<u64>();
        assert_eq!(listed(|place| place.missing), counted(|other| other.missing), "seed {seed}");
        assert_eq!(listed(|place| place.extra), counted(|other| other.extra), "seed {seed}");
    }
}

#[test]
fn broken_rows_do_no_harm() {
    for seed in 0..1500 {
        let tree = random(seed);
        let mut rng = Random::new(seed);
        let mut runs = vec![tree.rows.clone(), tree.rows.clone(), random(seed + 1).rows, tree.rows, Vec::new()];
        for rows in &mut runs {
            for _ in 0..rng.below(5) {
                if !rows.is_empty() {
                    break_rows(&mut rng, rows);
                }
            }
        }
        for keep in [Keep::Minimum, Keep::Median] {
            let (rows, told) = merged(&runs, keep);
            assert_eq!(rows.len(), runs[0].len(), "seed {seed}");
            for (other, run) in told.others.iter().zip(&runs[1..]) {
                let matched = run.len() as u64 - other.extra;
                assert_eq!(told.strands, matched + other.missing, "seed {seed}");
            }
            let _ = replay(&tree.recording, &rows).unwrap_or_else(|never| match never {});
        }
    }
    assert_eq!(merged(&[], Keep::Median), (Vec::new(), Merged::default()));
}

fn row(event: Event, cost: i64) -> Strand {
    let zero = Nanos::ZERO;
    Strand { event, context: ContextId::ROOT, cost: Nanos(cost), blocked: zero, start: zero, thread: 0 }
}

fn spawn(context: u32, cost: i64) -> [Strand; 2] {
    let creation = Creation { context: ContextId(context), group: None, overhead: Nanos::ZERO };
    [row(Event::Spawn(creation), cost), row(Event::End, cost)]
}

#[track_caller]
fn check(first: &[Strand], other: &[Strand], costs: &[i64], expected: Unmatched) {
    let (rows, told) = merged(&[first.to_vec(), other.to_vec()], Keep::Minimum);
    assert_eq!(told.others, [expected]);
    assert_eq!(rows.iter().map(|row| row.cost.0).collect::<Vec<_>>(), costs);
}

/// A leaf of one run that is split in another is another strand: none of its work is lost.
#[test]
fn pieces_that_are_split_otherwise_do_not_match() {
    let whole = [row(Event::Fork(1), 5), row(Event::Next(1), 90), row(Event::Join, 90), row(Event::End, 5)];
    let split = [
        [row(Event::Fork(1), 4)].as_slice(),
        &[row(Event::Fork(1), 1), row(Event::Next(1), 45), row(Event::Join, 45), row(Event::Next(1), 1)],
        &[row(Event::Join, 80), row(Event::End, 6)],
    ]
    .concat();
    check(&whole, &split, &[4, 90, 80, 5], Unmatched { missing: 1, extra: 4 });
    check(&split, &whole, &[4, 1, 45, 45, 1, 80, 5], Unmatched { missing: 4, extra: 1 });
    let lengths = |first, second, cost| {
        [row(Event::Fork(first), 1), row(Event::Next(second), cost), row(Event::Join, cost), row(Event::End, 1)]
    };
    check(&lengths(4, 4, 40), &lengths(4, 8, 30), &[1, 30, 40, 1], Unmatched { missing: 1, extra: 1 });
    check(&lengths(4, 4, 40), &lengths(8, 8, 30), &[1, 40, 40, 1], Unmatched { missing: 4, extra: 4 });
}

#[test]
fn runs_meet_again_after_long_stretches() {
    let tasks = |context: u32, count: u32, cost| (0..count).flat_map(move |_| spawn(context, cost));
    let end = row(Event::End, 1);
    let first: Vec<Strand> = tasks(1, 20, 5).chain([end]).collect();
    let other: Vec<Strand> = tasks(2, 1000, 3).chain(tasks(1, 20, 3)).chain([end]).collect();
    let mut costs = vec![5];
    costs.extend([3; 39]);
    costs.push(1);
    check(&first, &other, &costs, Unmatched { missing: 1, extra: 2001 });
    let costs: Vec<i64> = [3; 2001].into_iter().chain([3; 39]).chain([1]).collect();
    check(&other, &first, &costs, Unmatched { missing: 2001, extra: 1 });
}

/// Runs that have next to nothing in common take no longer than others.
#[test]
fn the_cost_is_linear() {
    let tasks = |salt: u64| {
        let mut random = Random::new(salt);
        let mut task = move |_| spawn(u32::try_from(random.below(1 << 20)).unwrap(), 1);
        (0..200_000).flat_map(&mut task).collect::<Vec<_>>()
    };
    let (rows, told) = merged(&[tasks(1), tasks(2)], Keep::Minimum);
    assert_eq!(rows.len(), 400_000);
    assert!(told.others[0].missing > 390_000, "{told:?}");
}
