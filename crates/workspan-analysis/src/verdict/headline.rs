//! The first line: how parallel the program is, and what its critical path mostly consists of.

use std::collections::BTreeMap;

use super::charged::Charged;
use super::loops::{any_order_of_locks, even_loops, EvenLoops};
use crate::profile::Profile;
use workspan_model::{Nanos, Ratio, Recording, Run, SiteId, SiteKind};

/// What limits the program.
#[derive(Clone, Debug, PartialEq)]
pub enum Headline {
    /// Nothing ran in parallel: the program never forked.
    NeverForks,
    /// There is nothing to judge.
    NoData,
    /// The usual case.
    Parallelism {
        /// Work over span.
        parallelism: Ratio,
        /// The same with even iterations, where chunks of loops alone were seen.
        even: Option<Ratio>,
        /// A loop whose chunks show that its iterations are not even.
        uneven: Option<SiteId>,
        /// At most this in any other order of locks, where the order in which they were taken matters.
        any_order: Option<Ratio>,
        /// What the critical path mostly consists of.
        main: Option<Contributor>,
        /// Share of creating tasks in the work, if it matters.
        overhead: Option<Ratio>,
    },
}

/// A part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contributor {
    /// The site whose strands they are.
    pub site: SiteId,
    /// Their share.
    pub share: Ratio,
    /// The share of the path as it was, where the other is of even iterations.
    pub as_seen: Ratio,
    /// Threads of the site, if they run beside each other.
    pub threads: Option<u64>,
}

/// Of the span: what work must be beyond it for threads to have run beside each other. Less may be an error of rounding.
const BESIDE: i64 = 100;

/// Task overhead below this share is not worth a word.
const OVERHEAD_MATTERS: f64 = 0.10;

/// True if anything of the run could have run beside anything else: its tasks, or threads of the program's own.
pub fn forks(recording: &Recording, run: &Run) -> bool {
    run.tasks() > 0
        || run.work() > run.span + Nanos(run.span.0 / BESIDE)
        || recording.sites.iter().any(|site| site.kind.lasts() && !site.kind.is_lock() && site.kind != SiteKind::Marked)
}

/// Judges a run.
pub fn headline(recording: &Recording, run: &Run, profile: &Profile) -> Headline {
    let Some(parallelism) = profile.program.parallelism else {
        return Headline::NoData;
    };
    if !forks(recording, run) {
        return Headline::NeverForks;
    }
    if let Some(even) = even_loops(recording, run, profile) {
        let overhead = profile.program.task_overhead.filter(|share| share.0 >= OVERHEAD_MATTERS);
        let (main, uneven) = (of_even(recording, run, &even), even.uneven);
        let even = profile.program.uniform.and_then(|uniform| uniform.parallelism);
        return Headline::Parallelism { parallelism, even, uneven, any_order: None, main, overhead };
    }
    let charged = Charged::of(recording, run, profile);
    let serial = profile.regions.iter().filter(|r| r.serial).map(|r| (r.site, r.critical));
    let sites = profile.sites.iter().map(|s| (s.site, s.critical));
    let main = serial
        .chain(sites)
        .map(|(site, critical)| (site, critical + charged.moved(Some(site))))
        .filter(|(_, critical)| *critical > Nanos::ZERO)
        .max_by_key(|(site, critical)| (*critical, std::cmp::Reverse(*site)))
        .and_then(|(site, critical)| {
            let share = critical.over(profile.program.span)?;
            let row = profile.sites.iter().find(|row| row.site == site);
            let threads = row.filter(|row| row.instances > 1 && charged.at_a_time(row.site).is_some());
            Some(Contributor { site, share, as_seen: share, threads: threads.map(|row| row.instances) })
        });
    let overhead = profile.program.task_overhead.filter(|share| share.0 >= OVERHEAD_MATTERS);
    let any_order = any_order_of_locks(recording, run, profile);
    Headline::Parallelism { parallelism, even: None, uneven: None, any_order, main, overhead }
}

/// What the critical path mostly consists of with even iterations.
fn of_even(recording: &Recording, run: &Run, even: &EvenLoops) -> Option<Contributor> {
    let sums = |critical: &[Nanos]| {
        let mut sums: BTreeMap<SiteId, Nanos> = BTreeMap::new();
        for (id, critical) in recording.contexts.ids().zip(critical) {
            if let Some(site) = recording.contexts.site(id) {
                *sums.entry(site).or_default() += *critical;
            }
        }
        sums
    };
    let all = |critical: &[Nanos]| critical.iter().copied().sum::<Nanos>();
    let main = sums(&even.critical).into_iter().max_by_key(|(site, own)| (*own, std::cmp::Reverse(*site)));
    let (site, critical) = main.filter(|(_, critical)| *critical > Nanos::ZERO)?;
    let share = critical.over(all(&even.critical))?;
    let seen = sums(&run.critical).get(&site).copied().unwrap_or_default();
    let as_seen = seen.over(all(&run.critical)).unwrap_or(share);
    Some(Contributor { site, share, as_seen, threads: None })
}
