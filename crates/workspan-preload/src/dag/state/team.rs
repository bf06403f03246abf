//! Parallel regions, as their members see them.

use core::cell::Cell;
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use workspan_collect::origin::Identity;
use workspan_collect::region::Region;
use workspan_wire::shm::{Latest, Thread};

use super::call::{Open, Whole};
use super::Start;
use crate::dag::share::Share;

/// Which of a team's two slots is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round(pub(in crate::dag) bool);

/// Worksharing constructs that members can be apart and still have their instances counted as one.
pub(in crate::dag) const SHARES: usize = 4;

/// One of the last worksharing constructs.
#[derive(Debug)]
pub(in crate::dag) struct Construct {
    pub(in crate::dag) share: Share,
    pub(in crate::dag) whole: Whole,
}

/// A task that waits for a team, as the teams around it know it: a frame.
#[derive(Debug)]
pub(in crate::dag) struct Forker(());

/// A call of the runtime that has the team run code of the program's: one that `gcc` makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Where it returns to.
    pub after: u64,
    /// The code; 0 if unknown.
    pub body: u64,
    /// It consists of sections.
    pub sections: bool,
}

/// A parallel region.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Team {
    pub(in crate::dag) slots: [Latest; 2],
    pub(in crate::dag) start: Start,
    pub(in crate::dag) region: Cell<Option<Region>>,
    /// The runtime made it for itself.
    pub(in crate::dag) own: bool,
    /// Where the program has called the runtime for it, if no compiler says more, and the code; as in [`Called`].
    pub(in crate::dag) called: [Cell<u64>; 2],
    /// The rest of that.
    pub(in crate::dag) has_sections: Cell<bool>,
    /// The code of its members notes where it begins and ends.
    pub(in crate::dag) watched_body: Cell<bool>,
    /// By which the log knows it.
    pub(in crate::dag) identity: Identity,
    pub(in crate::dag) size: AtomicU32,
    /// Of its members as far as they have come to barriers, and of tasks that are over.
    pub(in crate::dag) work: AtomicI64,
    pub(in crate::dag) call: Cell<Open>,
    /// Who forked it, if the runtime's word for that task now stands for the team's only member.
    pub(in crate::dag) covers: Cell<*const Forker>,
    /// The member, if it is one that such a team covers: the runtime reports that team's end as that of this one.
    pub(in crate::dag) covered: Cell<*const Forker>,
    pub(in crate::dag) shares: [Construct; SHARES],
    /// The one of them that is a loop whose iterations wait for one another ([`super::across`]).
    pub(in crate::dag) across: AtomicU64,
}

impl Team {
    /// True if the runtime made it for itself.
    pub fn is_the_runtimes(&self) -> bool {
        self.own
    }

    /// The program has called the runtime so for it.
    pub fn set_called(&self, called: Called) {
        let Called { after, body, sections } = called;
        self.called[0].set(after);
        self.called[1].set(body);
        self.has_sections.set(sections);
    }

    /// How the runtime was called for the team, if a construct that was called from `after` is the same call: as its first member sees
    /// it; the others see no call.
    pub fn called_with(&self, after: u64) -> Option<Called> {
        let [from, body] = self.called.each_ref().map(Cell::get);
        let called = Called { after: from, body, sections: self.has_sections.get() };
        (called.body != 0 && (after == 0 || after == called.after)).then_some(called)
    }

    /// The code of its members is code of the collector that calls the program's.
    pub fn watches_body(&self) {
        self.watched_body.set(true);
    }

    /// True after [`Team::watches_body`].
    pub fn has_watched_body(&self) -> bool {
        self.watched_body.get()
    }

    /// What it costs more to have further members: where it begins, and again where it ends.
    pub(in crate::dag) fn steal(&self, thread: &Thread) -> i64 {
        if self.own || self.size.load(Ordering::Relaxed) < 2 {
            0
        } else {
            thread.steal.get()
        }
    }

    /// The call of its `ordinal`-th worksharing construct.
    pub(in crate::dag) fn whole(&self, ordinal: u32) -> &Whole {
        &self.shares[ordinal as usize % SHARES].whole
    }

    /// The slot to which ends go in `round`.
    pub fn slot(&self, round: Round) -> &Latest {
        &self.slots[usize::from(round.0)]
    }
}
