//! Locks that were taken in an order that says little: what if it were the best one?
//!
//! Who takes a lock first is accident, and where threads share processors a bad one: whoever is stopped holds up those who happen to come
//! next, for as long as the machine has others to run. So where the span [without that order](super::any_order_of_locks) is far
//! shorter than the one as it was, the verdict is about the former: the time is at least that of the best order, and at most that of
//! the order as it was.
//!
//! **Path.** If code under one lock is the span then, it is the path. Otherwise nobody knows what is on it: each context keeps its share of the
//! path as it was. Cost: linear in contexts.

use workspan_model::{Recording, Run};

use super::evidence::{bounds, Basis, Evidence};
use super::loops::any_order_of_locks;
use crate::laws::scaled;
use crate::locks::uniform_path;
use crate::profile::{profile, Profile};

/// From this ratio of both parallelisms on the order as it was says little.
const FAR: f64 = 1.25;

/// A run in the best order of its locks.
#[derive(Clone, Debug, PartialEq)]
pub struct BestOrder {
    /// With the span of that order.
    pub run: Run,
    /// Of `run`.
    pub profile: Profile,
}

/// `run` in the best order of its locks, if that is far from the one in which they were taken.
pub fn best_order(recording: &Recording, run: &Run, found: &Profile) -> Option<BestOrder> {
    let (seen, most) = (found.program.parallelism?, any_order_of_locks(recording, run, found)?);
    if most.0 < seen.0 * FAR {
        return None;
    }
    let span = found.program.uniform?.span;
    let share = span.over(run.span)?.0;
    let as_it_was = || run.critical.iter().map(|own| scaled(*own, share)).collect();
    let critical = uniform_path(recording, run).unwrap_or_else(as_it_was);
    let run = Run { span, critical, lost_path: scaled(run.lost_path, share), ..run.clone() };
    let profile = profile(recording, &run);
    Some(BestOrder { run, profile })
}

impl BestOrder {
    /// What the run takes at least, of which `seen` is known in the order as it was: that takes at most as long.
    pub fn bounds(&self, recording: &Recording, seen: &Evidence) -> Evidence {
        let found = bounds(recording, &self.run, &self.profile, seen.processors);
        let longest = if seen.basis == Basis::Simulated { seen.time } else { seen.longest };
        Evidence { longest: longest.max(found.ideal), best_order: true, ..found }
    }
}

#[cfg(test)]
mod tests {
    use workspan_model::{ContextId, Lock, Nanos, Site, SiteId, SiteKind, Totals};

    use super::*;
    use crate::verdict::{judge, Cause, Outcome, Reason};

    /// Eight threads of a millisecond each, of which `locked` of each is under one lock; in the order as it was they ran in turn but for
    /// a half.
    fn recording(locked: i64) -> Recording {
        let sites = vec![Site::at(SiteKind::Thread, "a.c", 1, 1), Site::at(SiteKind::Lock, "a.c", 2, 1)];
        let mut recording = Recording { sites, ..Recording::default() };
        let thread = recording.contexts.intern(ContextId::ROOT, SiteId(0)).unwrap();
        recording.contexts.intern(thread, SiteId(1)).unwrap();
        let own = 1_000_000 - locked;
        let of = |own: i64, all: i64| Totals {
            self_work: Nanos(own),
            work: Nanos(all),
            span: Nanos(all),
            entries: 8,
            instances: 8,
            ..Totals::default()
        };
        let mut totals = vec![Totals::default(), of(8 * own, 8_000_000), of(8 * locked, 8 * locked)];
        (totals[2].lock, totals[2].contended) = (Lock::One(7), Nanos(3_000_000));
        let critical = vec![Nanos(0), Nanos(4 * own), Nanos(4 * locked)];
        let uniform_span = Nanos(1_000_000.max(8 * locked));
        recording.runs.push(Run { span: Nanos(4_000_000), uniform_span, totals, critical, ..Run::default() });
        recording
    }

    #[track_caller]
    fn check(locked: i64, speedups: &str, cause: Cause, reason: &Reason) {
        let recording = recording(locked);
        let run = &recording.runs[0];
        let found = profile(&recording, run);
        let seen = bounds(&recording, run, &found, 16);
        let best = best_order(&recording, run, &found).expect("it is far");
        let judged = judge(&recording, &best.run, &best.profile, &best.bounds(&recording, &seen)).unwrap();
        assert_eq!(format!("{:.2} to {:.2}", judged.slowest.0, judged.speedup.0), speedups);
        assert_eq!(judged.outcome, Outcome::Limited(cause));
        assert_eq!(judged.losses[0].parts[0].reason, *reason);
    }

    #[test]
    fn a_short_lock_leaves_as_much_as_threads_allow() {
        let threads = Reason::FewThreads { threads: 8, at_a_time: workspan_model::Ratio(8.0) };
        check(10_000, "1.88 to 8.00", Cause::Parallelism, &threads);
    }

    #[test]
    fn a_long_lock_is_the_bound() {
        check(250_000, "1.88 to 4.00", Cause::Locks, &Reason::Lock);
    }

    #[test]
    fn an_order_that_matters_little_stays() {
        let recording = recording(450_000);
        let run = &recording.runs[0];
        assert_eq!(best_order(&recording, run, &profile(&recording, run)), None);
    }
}
