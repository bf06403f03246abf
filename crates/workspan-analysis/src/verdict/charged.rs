//! Whom code counts for, and how many threads of the program's own run beside each other.
//!
//! Code under a lock counts for the lock if others waited for that, or if it is serial: nearly all of it is on the critical path then.
//! **Argument:** what two threads do at a time they do not do under one lock; each holds its own, as workers do that guard their state
//! with a mutex for each. Of locks that threads take by functions of the C library code has a row behind a wait, or if it is long: if nobody
//! has waited for the lock, its code counts for the construct around it, unless the sum of it [bounds](crate::locks) the span.
//!
//! Of the threads of one place as many run at a time as their work is more than what they add to the critical path: two that
//! share it evenly have half of it there.
//!
//! Cost: contexts, times their depth.

use std::collections::BTreeMap;

use workspan_model::{Clock, ContextId, Nanos, Ratio, Recording, Run, SiteId, SiteKind};

use crate::locks::{is_bound_by_lock, uniform_path};
use crate::profile::{Profile, SiteRow};

/// A wait for a lock that is shorter than this share of the span is accident.
const WAIT_MATTERS: f64 = 0.02;

/// Code whose work is this much more than what of it is on the critical path runs beside itself.
const BESIDE: f64 = 1.5;

/// The same of threads: fewer take turns.
const THREADS_BESIDE: f64 = 1.2;

/// Whom code counts for.
#[derive(Debug, Default)]
pub(super) struct Charged {
    /// By context.
    sites: Vec<Option<SiteId>>,
    /// By site of threads: work and what is on the critical path, code under locks of their own included.
    threads: BTreeMap<SiteId, (Nanos, Nanos)>,
    /// On the critical path, under locks that do not matter: by the site that it counts for.
    moved: BTreeMap<Option<SiteId>, Nanos>,
}

impl Charged {
    pub(super) fn of(recording: &Recording, run: &Run, profile: &Profile) -> Charged {
        let tree = &recording.contexts;
        let kind = |site: SiteId| recording.sites.get(site.0 as usize).map(|site| site.kind);
        let least = profile.program.span.as_f64() * WAIT_MATTERS;
        // Locks of OpenMP have rows without waits, too; a virtual clock does not pass while somebody waits.
        let has_openmp = recording.sites.iter().any(|site| site.kind.is_openmp());
        let waits_are_seen = run.clock == Clock::Real && !has_openmp;
        let is_moot = |row: &&SiteRow| {
            kind(row.site).is_some_and(SiteKind::is_lock)
                && row.contended.as_f64() < least
                && (waits_are_seen || run_beside(row.self_work, row.critical))
        };
        let bound = is_bound_by_lock(recording, run) || uniform_path(recording, run).is_some();
        let moot: Vec<SiteId> = profile.sites.iter().filter(|row| !bound && is_moot(row)).map(|row| row.site).collect();
        let mut charged = Charged::default();
        for id in tree.ids() {
            let own = tree.site(id);
            let stays = |around: &ContextId| tree.site(*around).is_none_or(|site| !moot.contains(&site));
            let site = if stays(&id) { own } else { tree.path(id).find(stays).and_then(|around| tree.site(around)) };
            let critical = run.critical.get(id.index()).copied().unwrap_or_default();
            if site != own {
                *charged.moved.entry(site).or_default() += critical;
            }
            if let Some(site) = site.filter(|site| kind(*site) == Some(SiteKind::Thread)) {
                let (work, on_path) = charged.threads.entry(site).or_default();
                *work += run.totals.get(id.index()).map_or(Nanos::ZERO, |totals| totals.self_work);
                *on_path += critical;
            }
            charged.sites.push(site);
        }
        charged
    }

    /// The site that a context's code counts for.
    pub(super) fn site(&self, context: ContextId) -> Option<SiteId> {
        self.sites.get(context.index()).copied().flatten()
    }

    /// What is on the critical path, and counts for this site instead of a lock.
    pub(super) fn moved(&self, site: Option<SiteId>) -> Nanos {
        self.moved.get(&site).copied().unwrap_or_default()
    }

    /// How many threads of this site run at a time, if they run beside each other.
    pub(super) fn at_a_time(&self, site: SiteId) -> Option<Ratio> {
        let (work, on_path) = self.threads.get(&site)?;
        work.over(*on_path).filter(|number| number.0 >= THREADS_BESIDE)
    }
}

fn run_beside(work: Nanos, on_path: Nanos) -> bool {
    on_path > Nanos::ZERO && work.as_f64() >= on_path.as_f64() * BESIDE
}

#[cfg(test)]
mod tests {
    use workspan_model::{Site, Totals};

    use super::*;
    use crate::profile::profile;

    /// Two threads; under locks one of them has worked for so long, of which this much is on the path, and somebody waited.
    fn charged(kind: SiteKind, clock: Clock, under_lock: [i64; 2], waited: i64) -> (Charged, ContextId, SiteId) {
        let site = |kind| Site::at(kind, "a.c", 1, 1);
        let sites = vec![site(SiteKind::Thread), site(kind)];
        let mut recording = Recording { sites, ..Recording::default() };
        let thread = recording.contexts.intern(ContextId::ROOT, SiteId(0)).unwrap();
        let lock = recording.contexts.intern(thread, SiteId(1)).unwrap();
        let of = |work: i64| Totals { self_work: Nanos(work), work: Nanos(work), instances: 2, ..Totals::default() };
        let mut totals = vec![of(10), of(1000), of(under_lock[0])];
        totals[2].contended = Nanos(waited);
        let critical = vec![Nanos(10), Nanos(500), Nanos(under_lock[1])];
        let span = critical.iter().copied().sum();
        let run = Run { span, totals, critical, clock, ..Run::default() };
        recording.runs.push(run.clone());
        let profile = profile(&recording, &run);
        (Charged::of(&recording, &run, &profile), lock, SiteId(0))
    }

    #[track_caller]
    fn check(kind: SiteKind, clock: Clock, under_lock: [i64; 2], waited: i64, is_lock: bool) {
        let (charged, lock, thread) = charged(kind, clock, under_lock, waited);
        assert_eq!(charged.site(lock), Some(if is_lock { SiteId(1) } else { thread }));
        let moved = if is_lock { 0 } else { under_lock[1] };
        assert_eq!(charged.moved(Some(thread)), Nanos(moved));
    }

    #[test]
    fn code_under_a_lock_that_nobody_fights_for_is_that_of_the_thread() {
        for (waited, is_lock) in [(0, false), (10, false), (500, true)] {
            check(SiteKind::Lock, Clock::Real, [900, 900], waited, is_lock);
            check(SiteKind::Lock, Clock::Real, [900, 450], waited, is_lock);
        }
        // Nobody waits on a virtual clock: what counts is whether the code is serial. So with OpenMP.
        for (kind, clock) in [(SiteKind::Lock, Clock::Virtual), (SiteKind::Critical, Clock::Real)] {
            check(kind, clock, [900, 900], 0, true);
            check(kind, clock, [900, 450], 0, false);
        }
    }

    #[test]
    fn threads_run_beside_each_other_if_their_work_is_more_than_what_is_on_the_path() {
        let at_a_time = |under_lock| {
            let (charged, _, thread) = charged(SiteKind::Lock, Clock::Virtual, under_lock, 0);
            charged.at_a_time(thread).map(|number| (number.0 * 100.0).round() / 100.0)
        };
        assert_eq!(at_a_time([900, 900]), Some(2.0));
        assert_eq!(at_a_time([900, 450]), Some(2.0));
        assert_eq!(at_a_time([600, 300]), Some(2.0));
    }
}
