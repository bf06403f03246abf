//! Locks: a bound on the span.
//!
//! Which of two strands takes a lock first is accident, so locks are not part of the order of strands. But code under one
//! lock is serial in every schedule: the sum of it bounds the span from below. Where that is more than the longest chain of
//! strands, it *is* the critical path: the code under that lock, one piece after the other. Where it is more than the chain without the order
//! of locks ([`Run::uniform_span`]), it is the other end of that range.
//!
//! What runs in parallel while a lock is held, as chunks of a loop that the holder waits for, counts with the loop's span, not its work. Tasks
//! that the holder creates run without its lock.
//!
//! **Bias:** a lock that is taken while another is held counts with that one's code; locks that one place takes in turn
//! are not distinguished and bound nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use workspan_model::{ContextId, Lock, Nanos, Recording, Run, SiteKind};

use crate::laws::scaled;
use crate::measured::measured;

/// The recording with every run's span at least what any one of its locks was held, and [no time below zero](measured).
pub fn bounded_by_locks(recording: &Recording) -> Cow<'_, Recording> {
    match measured(recording) {
        Cow::Borrowed(recording) => bounded(recording),
        Cow::Owned(recording) => Cow::Owned(bounded(&recording).into_owned()),
    }
}

fn bounded(recording: &Recording) -> Cow<'_, Recording> {
    let bounds: Vec<Option<Bound>> = recording.runs.iter().map(|run| bound(recording, run)).collect();
    if bounds.iter().all(Option::is_none) {
        return Cow::Borrowed(recording);
    }
    let mut recording = recording.clone();
    for (run, bound) in recording.runs.iter_mut().zip(bounds) {
        match bound {
            Some(bound) if bound.held > run.span => apply(run, &bound),
            Some(bound) => run.uniform_span = bound.held,
            None => {}
        }
    }
    Cow::Owned(recording)
}

/// Code under the lock that was held longest, if that is longer than the span, or the uniform one.
struct Bound {
    held: Nanos,
    /// Contexts and what was done in exactly them.
    code: Vec<(ContextId, Nanos)>,
}

fn bound(recording: &Recording, run: &Run) -> Option<Bound> {
    let longest = longest(recording, run)?;
    let bounds_range = run.uniform_span > Nanos::ZERO && longest.held > run.uniform_span;
    (longest.held > run.span || bounds_range).then_some(longest)
}

/// Of the lock that was held longest.
fn longest(recording: &Recording, run: &Run) -> Option<Bound> {
    let tree = &recording.contexts;
    let below = works(recording, run)?;
    let mut held: BTreeMap<Lock, Vec<(ContextId, Nanos)>> = BTreeMap::new();
    for id in tree.ids() {
        if let Some((lock @ Lock::One(_), share)) = lock_around(recording, run, &below, id) {
            let own = run.totals.get(id.index()).map_or(Nanos::ZERO, |t| t.self_work);
            held.entry(lock).or_default().push((id, scaled(own, share)));
        }
    }
    let sum = |code: &[(ContextId, Nanos)]| code.iter().map(|(_, own)| *own).sum::<Nanos>();
    let code = held.into_values().max_by_key(|code| sum(code))?;
    Some(Bound { held: sum(&code), code })
}

/// If code under one lock is what the span with uniform loops of a [bounded](bounded_by_locks) run is: what each context adds to that.
pub fn uniform_path(recording: &Recording, run: &Run) -> Option<Vec<Nanos>> {
    let longest =
        longest(recording, run).filter(|longest| longest.held == run.uniform_span && longest.held < run.span)?;
    let mut path = vec![Nanos::ZERO; run.critical.len()];
    for (id, own) in longest.code {
        if let Some(at) = path.get_mut(id.index()) {
            *at = own;
        }
    }
    Some(path)
}

/// The same where several locks that one place takes in turn have become one: all code under locks, as shares of `held`, which one of them was.
pub(crate) fn locks_path(recording: &Recording, run: &Run, held: Nanos) -> Option<Vec<Nanos>> {
    let below = works(recording, run)?;
    let own = |id: ContextId| {
        let (_, share) = lock_around(recording, run, &below, id)?;
        run.totals.get(id.index()).map(|totals| scaled(totals.self_work, share))
    };
    let own: Vec<Nanos> = recording.contexts.ids().map(|id| own(id).unwrap_or_default()).collect();
    let all: Nanos = own.iter().copied().sum();
    let share = held.over(all).filter(|share| (0.0..=1.0).contains(&share.0))?;
    Some(own.into_iter().map(|own| scaled(own, share.0)).collect())
}

/// How long the lock is held that is held longest, if the code of these contexts takes that long. Which lock a context is under, the runs of
/// `recording` say.
pub(crate) fn held(recording: &Recording, times: impl Iterator<Item = (ContextId, f64)>) -> Nanos {
    let mut held: BTreeMap<Lock, f64> = BTreeMap::new();
    let works: Vec<_> = recording.runs.iter().filter_map(|run| Some((run, works(recording, run)?))).collect();
    for (id, time) in times {
        let around = works.iter().find_map(|(run, below)| lock_around(recording, run, below, id));
        if let Some((lock @ Lock::One(_), share)) = around {
            *held.entry(lock).or_default() += time * share;
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "a time")]
    Nanos(held.into_values().fold(0.0, f64::max).round() as i64)
}

/// True if the critical path of `run` is the code under one lock, and nothing else: with start-up on it, no other path is.
pub(crate) fn is_bound_by_lock(recording: &Recording, run: &Run) -> bool {
    let Some(below) = works(recording, run) else { return false };
    let on_path = recording.contexts.ids().zip(&run.critical).filter(|(_, critical)| **critical > Nanos::ZERO);
    let mut locks = on_path.map(|(id, _)| lock_around(recording, run, &below, id).map(|(lock, _)| lock));
    let first = locks.next().flatten();
    matches!(first, Some(Lock::One(_))) && locks.all(|lock| lock == first)
}

/// For each context, what was done in it and below. `None`: the run has no code under locks.
fn works(recording: &Recording, run: &Run) -> Option<Vec<Nanos>> {
    if run.totals.iter().all(|totals| totals.lock == Lock::None) {
        return None;
    }
    let own: Vec<Nanos> = run.totals.iter().map(|totals| totals.self_work).collect();
    Some(recording.contexts.inclusive(&own))
}

/// The outermost lock around code of a context, and which part of that code is serial while the lock is held.
fn lock_around(recording: &Recording, run: &Run, below: &[Nanos], id: ContextId) -> Option<(Lock, f64)> {
    let mut found = None;
    let mut serial = 1.0;
    for around in recording.contexts.path(id) {
        let Some(totals) = run.totals.get(around.index()) else { continue };
        if totals.lock != Lock::None {
            found = Some((totals.lock, serial));
        }
        let site = recording.contexts.site(around).and_then(|site| recording.sites.get(site.0 as usize));
        match site.map(|site| site.kind) {
            // Whoever creates it does not hold its lock for it.
            Some(kind) if kind.row().one_task && !kind.row().runs_one || kind == SiteKind::Thread => break,
            Some(kind) if is_parallel(kind) => {
                let share =
                    below.get(around.index()).and_then(|all| totals.span.over(*all)).map_or(1.0, |share| share.0);
                if share > 0.0 && share < 1.0 {
                    serial *= share;
                }
            }
            _ => {}
        }
    }
    found
}

/// True for constructs whose parts run in parallel while the one who entered them waits.
fn is_parallel(kind: SiteKind) -> bool {
    kind.spawns() && !kind.is_lock() && !kind.is_body() && !matches!(kind, SiteKind::Marked | SiteKind::Beside)
}

fn apply(run: &mut Run, bound: &Bound) {
    run.span = bound.held;
    if run.uniform_span > Nanos::ZERO {
        run.uniform_span = run.uniform_span.max(bound.held);
    }
    if run.burdened_span > Nanos::ZERO {
        run.burdened_span = run.burdened_span.max(bound.held);
    }
    run.lost_path = Nanos::ZERO;
    run.critical.iter_mut().for_each(|critical| *critical = Nanos::ZERO);
    for (id, own) in &bound.code {
        if let Some(critical) = run.critical.get_mut(id.index()) {
            *critical = *own;
        }
    }
}

#[cfg(test)]
mod tests {
    use workspan_model::{Site, SiteId, Totals};

    use super::*;

    fn recording(span: i64, under_lock: i64) -> Recording {
        let site = |kind| Site::at(kind, "a.c", 1, 1);
        let mut recording =
            Recording { sites: vec![site(SiteKind::Parallel), site(SiteKind::Critical)], ..Recording::default() };
        let region = recording.contexts.intern(ContextId::ROOT, SiteId(0)).unwrap();
        recording.contexts.intern(region, SiteId(1)).unwrap();
        let totals = vec![
            Totals { self_work: Nanos(5), ..Totals::default() },
            Totals { self_work: Nanos(90), ..Totals::default() },
            Totals { self_work: Nanos(under_lock), lock: Lock::One(7), ..Totals::default() },
        ];
        let critical = vec![Nanos(5), Nanos(span - 5), Nanos(0)];
        recording.runs.push(Run { span: Nanos(span), totals, critical, ..Run::default() });
        recording
    }

    #[test]
    fn what_a_lock_is_held_is_serial() {
        let bounded = bounded_by_locks(&recording(40, 60)).into_owned();
        assert_eq!(bounded.runs[0].span, Nanos(60));
        assert_eq!(bounded.runs[0].critical, [Nanos(0), Nanos(0), Nanos(60)]);
        assert!(is_bound_by_lock(&bounded, &bounded.runs[0]));
        let free = recording(40, 30);
        assert!(!is_bound_by_lock(&free, &free.runs[0]));
    }

    /// A loop of 4 chunks of 20 while a lock is held, and a task of 50 that is created there.
    #[test]
    fn what_runs_in_parallel_under_a_lock_counts_with_its_span() {
        let mut recording = recording(40, 10);
        for kind in [SiteKind::ParallelFor, SiteKind::TaskGroup] {
            let site = SiteId(u32::try_from(recording.sites.len()).unwrap());
            recording.sites.push(Site::at(kind, "a.c", 2, 1));
            recording.contexts.intern(ContextId(2), site).unwrap();
        }
        let run = &mut recording.runs[0];
        run.totals.push(Totals { self_work: Nanos(80), span: Nanos(20), ..Totals::default() });
        run.totals.push(Totals { self_work: Nanos(50), span: Nanos(50), ..Totals::default() });
        run.critical.extend([Nanos(0); 2]);
        assert_eq!(*bounded_by_locks(&recording), recording, "30 are serial, and less than 40");
        recording.runs[0].span = Nanos(25);
        let bounded = bounded_by_locks(&recording).into_owned();
        assert_eq!(bounded.runs[0].span, Nanos(30));
        assert_eq!(bounded.runs[0].critical, [0, 0, 10, 20, 0].map(Nanos));
    }

    /// A loop of which one chunk was seen, and whose even iterations could run beside each other but for a lock.
    #[test]
    fn a_lock_is_the_other_end_of_a_range() {
        let mut recording = recording(100, 60);
        assert_eq!(uniform_path(&recording, &recording.runs[0]), None);
        recording.runs[0].uniform_span = Nanos(7);
        let bounded = bounded_by_locks(&recording).into_owned();
        assert_eq!((bounded.runs[0].span, bounded.runs[0].uniform_span), (Nanos(100), Nanos(60)));
        assert_eq!(uniform_path(&bounded, &bounded.runs[0]), Some(vec![Nanos(0), Nanos(0), Nanos(60)]));
        recording.runs[0].uniform_span = Nanos(70);
        let bounded = bounded_by_locks(&recording).into_owned();
        assert_eq!(uniform_path(&bounded, &bounded.runs[0]), None);
    }

    #[test]
    fn a_short_lock_changes_nothing() {
        let recording = recording(40, 30);
        assert_eq!(*bounded_by_locks(&recording), recording);
    }
}
