//! Code under one lock that takes longer than any chain of strands.
//!
//! Strands leave out the order of locks. The report's span has what any one lock was held ([`bounded_by_locks`]); commands that
//! compute with strands warn where that makes a difference.

use std::collections::{BTreeMap, BTreeSet};

use workspan_analysis::locks::{bounded_by_locks, uniform_path};
use workspan_analysis::warnings::locks_unseen;
use workspan_analysis::{laws, profile};
use workspan_model::{ContextId, Lock, Nanos, Ratio, Recording, Run, SiteId};

use crate::parts::{name, ratio};
use crate::words;

/// Code under one lock that is all of a run's critical path.
#[derive(Clone, Debug, PartialEq)]
pub struct UnderLock {
    /// How long it takes: no schedule is shorter.
    pub held: Nanos,
    /// Where the lock is taken.
    at: String,
    /// Time on one processor over that.
    most: Option<Ratio>,
}

impl UnderLock {
    /// Of a run, counted from 1; `None` if the critical path, also that with even iterations, is anything else.
    pub fn of(recording: &Recording, number: u32) -> Option<UnderLock> {
        let recording: &Recording = &bounded_by_locks(recording);
        let run = recording.runs.get((number as usize).checked_sub(1)?)?;
        let mut places: BTreeMap<SiteId, Nanos> = BTreeMap::new();
        let of_uniform = uniform_path(recording, run);
        let held = if of_uniform.is_some() { run.uniform_span } else { run.span };
        let path = of_uniform.as_ref().unwrap_or(&run.critical);
        for (id, critical) in recording.contexts.ids().zip(path).filter(|(_, time)| **time > Nanos::ZERO) {
            *places.entry(lock_around(recording, run, id)?).or_default() += *critical;
        }
        let longest = *places.iter().max_by_key(|(_, time)| **time)?.0;
        // A directive may have several sites.
        let names: BTreeSet<String> = places.keys().map(|site| name(recording, *site)).collect();
        let others = match names.len() - 1 {
            0 => String::new(),
            1 => " and at another place".to_owned(),
            others => format!(" and at {others} other places"),
        };
        let at = name(recording, longest) + &others;
        let most = laws::parallelism(profile(recording, run).program.on_one, held);
        Some(UnderLock { held, at, most })
    }

    /// In a sentence, where the parallelism that strands show is more than that.
    pub fn warning(&self, shown: Option<Ratio>) -> Option<String> {
        let bound = self.bound(shown)?;
        Some(format!("numbers from strands leave out the order of locks: as recorded, {bound}"))
    }

    /// The same, where numbers are bounded by it.
    pub(crate) fn bound(&self, shown: Option<Ratio>) -> Option<String> {
        let (most, shown) = (self.most?, shown?);
        let most_words = ratio(Some(most.0));
        if most.0 >= shown.0 || most_words == ratio(Some(shown.0)) {
            return None;
        }
        let UnderLock { held, at, .. } = self;
        Some(format!(
            "code under the lock at {at} takes {held} in any schedule, so the parallelism is at most {most_words}, and no number \
             of processors gives more than {most_words}x"
        ))
    }
}

/// What a command says of locks that shows this parallelism of a run, counted from 1.
pub fn warnings(recording: &Recording, number: u32, shown: Option<f64>) -> Vec<String> {
    warning(recording, number, shown).into_iter().chain(unseen(recording, number)).collect()
}

/// What stands before a parallelism that strands show, where a lock allows less: so that no line says more than the report does.
pub fn but_for(recording: &Recording, number: u32, shown: Option<f64>) -> String {
    let lock = UnderLock::of(recording, number).filter(|lock| lock.bound(shown.map(Ratio)).is_some());
    lock.map_or(String::new(), |lock| {
        format!("but for the lock at {}, which allows at most {}: ", lock.at, ratio(lock.most.map(|most| most.0)))
    })
}

/// The same of those that are seen.
fn warning(recording: &Recording, number: u32, shown: Option<f64>) -> Option<String> {
    UnderLock::of(recording, number)?.warning(shown.map(Ratio))
}

/// The same of locks that are seen only where somebody waits for them.
pub(crate) fn unseen(recording: &Recording, number: u32) -> Option<String> {
    let run = recording.runs.get((number as usize).checked_sub(1)?)?;
    locks_unseen(recording, run).map(|alone| words::locks_unseen(recording, alone))
}

/// The site of the outermost lock around code of a context.
fn lock_around(recording: &Recording, run: &Run, id: ContextId) -> Option<SiteId> {
    let is_lock = |id: &ContextId| run.totals.get(id.index()).is_some_and(|totals| totals.lock != Lock::None);
    recording.contexts.site(recording.contexts.path(id).filter(is_lock).last()?)
}

#[cfg(test)]
mod tests {
    use workspan_model::{Site, SiteKind, Totals};

    use super::*;

    /// A region, and code under one lock in it.
    fn recording(span: i64, under_lock: i64) -> Recording {
        let site = |kind, line| Site::at(kind, "a.c", line, 1);
        let sites = vec![site(SiteKind::Parallel, 1), site(SiteKind::Critical, 2)];
        let mut recording = Recording { sites, ..Recording::default() };
        let region = recording.contexts.intern(ContextId::ROOT, SiteId(0)).unwrap();
        recording.contexts.intern(region, SiteId(1)).unwrap();
        let own = |work| Totals { self_work: Nanos(work), ..Totals::default() };
        let totals = vec![own(5), own(115), Totals { lock: Lock::One(7), ..own(under_lock) }];
        let critical = vec![Nanos(5), Nanos(span - 5), Nanos(0)];
        recording.runs.push(Run { span: Nanos(span), totals, critical, ..Run::default() });
        recording
    }

    #[test]
    fn code_under_one_lock_bounds_what_strands_show() {
        let found = warning(&recording(40, 60), 1, Some(4.5)).expect("it is bounded");
        assert_eq!(
            found,
            "numbers from strands leave out the order of locks: as recorded, code under the lock at a.c:2 takes 60 ns in any \
             schedule, so the parallelism is at most 3.00, and no number of processors gives more than 3.00x"
        );
        let allowed = "but for the lock at a.c:2, which allows at most 3.00: ";
        assert_eq!(but_for(&recording(40, 60), 1, Some(4.5)), allowed);
        assert_eq!(but_for(&recording(40, 60), 1, Some(3.0)), "");
        // There is nothing to add.
        assert_eq!(warning(&recording(40, 60), 1, Some(3.0)), None);
        assert_eq!(warning(&recording(40, 60), 1, Some(3.001)), None);
        assert_eq!(warning(&recording(40, 60), 1, None), None);
        assert_eq!(warning(&recording(40, 60), 2, Some(4.5)), None);
    }

    #[test]
    fn a_lock_that_is_held_for_less_than_the_span_bounds_nothing() {
        assert_eq!(UnderLock::of(&recording(40, 30), 1), None);
    }
}
