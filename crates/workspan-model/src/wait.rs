//! Which threads waited for which, by what they run.

use crate::site::SiteId;
use crate::units::Nanos;

/// What a thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// `main`.
    Main,
    /// The outside world: files, sockets, other processes, time.
    Outside,
    /// What threads of this site run.
    Threads(SiteId),
}

/// Waits of threads that run one thing for those that run another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitFor {
    /// Who waited.
    pub waiter: Role,
    /// Who ended the waits.
    pub on: Role,
    /// Waits.
    pub count: u64,
    /// How long they took.
    pub waited: Nanos,
    /// Of that, for locks.
    pub locked: Nanos,
    /// How long others waited meanwhile for who waited here, each for itself.
    pub passed_on: Nanos,
}

/// Makes one of several between the same two.
pub fn unite(waits: &mut Vec<WaitFor>) {
    waits.sort_by_key(|wait| (wait.waiter, wait.on));
    waits.dedup_by(|next, kept| {
        let same = (next.waiter, next.on) == (kept.waiter, kept.on);
        if same {
            kept.count = kept.count.saturating_add(next.count);
            kept.waited += next.waited;
            kept.locked += next.locked;
            kept.passed_on += next.passed_on;
        }
        same
    });
}
