//! Times that are below zero, since more was taken out as the collector's share than there was.
//!
//! What hooks cost is calibrated, and taken out of each strand. A task of a few nanoseconds may come out below zero, and many of them add up.
//! Somewhere that time was: a reading that is a little late charges a strand of the code around. So what a context is short of is taken
//! out of the context around it, and at the root out of the largest; what is left then was never there.
//!
//! **Invariant:** no time of the result is below zero; work and the critical path's sum are what they were, unless they were below zero.
//! With the virtual clock nothing is taken out, and nothing changed. Cost: linear in contexts; nothing where nothing is below zero.

use std::borrow::Cow;
use std::collections::BTreeMap;

use workspan_model::{Clock, ContextTree, Nanos, OnPath, Recording, Run, SiteId, Totals};

/// What a hook costs, in picoseconds, where that could not be calibrated.
const PROBE_PS: i64 = 20_000;

/// Strands that a task has at least: its own, and what is before and behind its creation.
const STRANDS: i64 = 3;

/// From this share of the work on, what may be missing from it matters.
const MATTERS: i64 = 10;

/// Less is nothing that anybody measures.
const LEAST: Nanos = Nanos(20_000);

/// Tasks of a site whose work is less than what was taken out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BelowClock {
    /// The site.
    pub site: SiteId,
    /// Its tasks.
    pub tasks: u64,
    /// Their work is no more: with all that was taken out.
    pub most: Nanos,
}

/// The recording without times below zero.
pub fn measured(recording: &Recording) -> Cow<'_, Recording> {
    if !recording.runs.iter().any(is_short) {
        return Cow::Borrowed(recording);
    }
    let mut recording = recording.clone();
    let Recording { runs, contexts, .. } = &mut recording;
    runs.iter_mut().filter(|run| is_short(run)).for_each(|run| settle(run, contexts));
    Cow::Owned(recording)
}

/// The site with most tasks too short for the clock, if that matters for the run's work.
pub fn below_clock(recording: &Recording, run: &Run) -> Option<BelowClock> {
    if run.clock == Clock::Virtual {
        return None;
    }
    let probe = if run.probe_cost_ps > 0 { run.probe_cost_ps } else { PROBE_PS };
    let taken = |tasks: u64| {
        let picos = i128::from(tasks) * i128::from(probe) * i128::from(STRANDS);
        Nanos(i64::try_from(picos / 1000).unwrap_or(i64::MAX))
    };
    let mut sums: BTreeMap<SiteId, (u64, Nanos)> = BTreeMap::new();
    for (id, totals) in recording.contexts.ids().zip(&run.totals) {
        let spawns = |site: &SiteId| recording.sites.get(site.0 as usize).is_some_and(|site| site.kind.spawns());
        if let Some(site) = recording.contexts.site(id).filter(spawns) {
            let sum = sums.entry(site).or_default();
            *sum = (sum.0 + totals.tasks, sum.1 + totals.self_work);
        }
    }
    let all = run.work().at_least_zero();
    let short = sums.into_iter().filter_map(|(site, (tasks, work))| {
        let (work, taken) = (work.at_least_zero(), taken(tasks));
        let matters = taken > Nanos(all.0 / MATTERS) && taken > LEAST;
        (tasks > 0 && work < taken && matters).then_some(BelowClock { site, tasks, most: work + taken })
    });
    short.max_by_key(|short| (short.tasks, std::cmp::Reverse(short.site)))
}

fn is_short(run: &Run) -> bool {
    run.clock == Clock::Real
        && (run.span < Nanos::ZERO
            || run.uniform_span < Nanos::ZERO
            || run.burdened_span < Nanos::ZERO
            || run.critical.iter().any(|time| *time < Nanos::ZERO)
            || run.totals.iter().any(has_short))
}

fn has_short(totals: &Totals) -> bool {
    times(&mut totals.clone()).into_iter().any(|time| *time < Nanos::ZERO)
}

/// All times of a context.
fn times(totals: &mut Totals) -> [&mut Nanos; 12] {
    let Totals { self_work, work, span, on_path, task_work, overhead, .. } = totals;
    let Totals { blocked, wall, uniform_span, burdened_span, contended, .. } = totals;
    let OnPath { work: path_work, span: path_span, .. } = on_path;
    [
        self_work,
        work,
        span,
        path_work,
        path_span,
        task_work,
        overhead,
        blocked,
        wall,
        uniform_span,
        burdened_span,
        contended,
    ]
}

fn settle(run: &mut Run, tree: &ContextTree) {
    let mut works: Vec<Nanos> = run.totals.iter().map(|totals| totals.self_work).collect();
    spread(&mut works, tree);
    for (totals, work) in run.totals.iter_mut().zip(works) {
        totals.self_work = work;
        times(totals).into_iter().for_each(|time| *time = time.at_least_zero());
    }
    spread(&mut run.critical, tree);
    let critical: Nanos = run.critical.iter().copied().sum();
    run.span = run.span.max(critical);
    run.uniform_span = run.uniform_span.at_least_zero().min(run.span);
    if run.burdened_span != Nanos::ZERO {
        run.burdened_span = run.burdened_span.max(run.span);
    }
}

/// Takes what contexts are short of out of those around them.
fn spread(times: &mut [Nanos], tree: &ContextTree) {
    let ids: Vec<_> = tree.ids().collect();
    for id in ids.into_iter().rev() {
        let Some(short) = times.get(id.index()).copied().filter(|time| *time < Nanos::ZERO) else { continue };
        let around = tree.get(id).map(|context| context.parent).filter(|around| around.index() < id.index());
        if let Some(around) = around.filter(|around| around.index() < times.len()) {
            times[id.index()] = Nanos::ZERO;
            times[around.index()] += short;
        }
    }
    let mut short = Nanos::ZERO;
    for time in times.iter_mut().filter(|time| **time < Nanos::ZERO) {
        short += std::mem::take(time);
    }
    let mut largest: Vec<usize> = (0..times.len()).filter(|at| times[*at] > Nanos::ZERO).collect();
    largest.sort_by_key(|at| std::cmp::Reverse(times[*at]));
    for at in largest {
        let part = times[at].min(-short);
        times[at] -= part;
        short += part;
    }
}

#[cfg(test)]
mod tests {
    use workspan_model::{ContextId, Site, SiteKind};

    use super::*;
    use crate::verdict::{bounds, judge};
    use crate::{bounded_by_locks, profile, warnings, Warning};

    /// A generator of numbers: the low bits of such are not random, the high ones are.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) as i64) % limit
        }

        /// As often as not below zero.
        fn time(&mut self) -> Nanos {
            let most = 10i64.pow(u32::try_from(1 + self.below(8)).unwrap());
            Nanos(self.below(2 * most) - most)
        }
    }

    fn random(seed: u64) -> Recording {
        let mut random = Random(seed);
        let kinds = [SiteKind::Join, SiteKind::Task, SiteKind::Parallel, SiteKind::Loop, SiteKind::ParIter];
        let sites: Vec<Site> = (1..).zip(kinds).map(|(line, kind)| Site::at(kind, "a.c", line, 1)).collect();
        let mut recording = Recording { sites, ..Recording::default() };
        let mut contexts = vec![ContextId::ROOT];
        for _ in 0..random.below(8) {
            let around = contexts[usize::try_from(random.below(contexts.len() as i64)).unwrap()];
            let site = SiteId(u32::try_from(random.below(5)).unwrap());
            contexts.extend(recording.contexts.intern(around, site));
        }
        let totals = recording.contexts.ids().map(|_| {
            let mut totals =
                Totals { tasks: random.below(1_000_000) as u64, entries: 1, instances: 1, ..Totals::default() };
            times(&mut totals).into_iter().for_each(|time| *time = random.time());
            totals
        });
        let totals: Vec<Totals> = totals.collect();
        let critical = totals.iter().map(|_| random.time()).collect::<Vec<_>>();
        let span = critical.iter().copied().sum();
        let [uniform_span, burdened_span] = [(); 2].map(|()| random.time());
        let join_cost_ps = random.below(100_000);
        recording.runs.push(Run {
            totals,
            critical,
            span,
            uniform_span,
            burdened_span,
            join_cost_ps,
            ..Run::default()
        });
        recording
    }

    #[test]
    fn nothing_is_below_zero_and_no_parallelism_below_one() {
        for seed in 0..3000 {
            let before = random(seed);
            let recording = bounded_by_locks(&before);
            let (was, run) = (&before.runs[0], &recording.runs[0]);
            assert_eq!(run.work(), was.work().at_least_zero(), "{seed}");
            assert_eq!(run.critical.iter().copied().sum::<Nanos>(), was.span.at_least_zero(), "{seed}");
            let found = profile(&recording, run);
            let rows = found.sites.iter().map(|row| {
                let times = [row.work, row.span, row.spans, row.self_work, row.critical, row.overhead, row.blocked];
                (times, row.parallelism, row.overhead_share)
            });
            let regions = found.regions.iter().map(|row| {
                let times = [row.work, row.span, row.spans, row.critical, row.overhead, row.wall, row.idle];
                (times, row.parallelism, row.task_overhead)
            });
            let program = &found.program;
            let times =
                [program.work, program.span, program.on_one, program.overhead, program.serial, run.span, run.span];
            let all = rows.chain(regions).chain([(times, program.parallelism, program.task_overhead)]);
            for (times, parallelism, overhead) in all {
                assert!(times.iter().all(|time| *time >= Nanos::ZERO), "{seed}: {times:?}");
                assert!(parallelism.is_none_or(|ratio| ratio.0 >= 1.0), "{seed}: {parallelism:?}");
                assert!(overhead.is_none_or(|share| (0.0..=1.0).contains(&share.0)), "{seed}: {overhead:?}");
            }
            for processors in [1, 2, 16] {
                let Some(judged) = judge(&recording, run, &found, &bounds(&recording, run, &found, processors)) else {
                    continue;
                };
                let speedups = [judged.speedup.0, judged.slowest.0];
                let possible =
                    speedups.iter().all(|speedup| (1.0 - 1e-9..=f64::from(processors) + 1e-9).contains(speedup));
                assert!(possible, "{seed}: {speedups:?} on {processors}");
            }
        }
    }

    #[test]
    fn what_a_task_is_short_of_is_taken_out_of_what_is_around() {
        let site = |kind| Site::at(kind, "a.c", 1, 1);
        let mut recording =
            Recording { sites: vec![site(SiteKind::Parallel), site(SiteKind::Task)], ..Recording::default() };
        let region = recording.contexts.intern(ContextId::ROOT, SiteId(0)).unwrap();
        recording.contexts.intern(region, SiteId(1)).unwrap();
        let totals =
            [5_000_000, 100_000_000, -46_000_000].map(|time| Totals { self_work: Nanos(time), ..Totals::default() });
        let critical = vec![Nanos(5_000_000), Nanos(20_000_000), Nanos(-1_000_000)];
        let mut run = Run { span: Nanos(24_000_000), totals: totals.to_vec(), critical, ..Run::default() };
        run.totals[2].tasks = 10_000_000;
        recording.runs.push(run);
        let settled = measured(&recording);
        let works: Vec<i64> = settled.runs[0].totals.iter().map(|totals| totals.self_work.0).collect();
        assert_eq!(works, [5_000_000, 54_000_000, 0]);
        assert_eq!(settled.runs[0].critical, [Nanos(5_000_000), Nanos(19_000_000), Nanos(0)]);
        let most = Nanos(600_000_000);
        let short = BelowClock { site: SiteId(1), tasks: 10_000_000, most };
        assert_eq!(below_clock(&settled, &settled.runs[0]), Some(short));
        assert!(warnings(&settled, &settled.runs[0]).contains(&Warning::BelowClock(short)));
    }
}
