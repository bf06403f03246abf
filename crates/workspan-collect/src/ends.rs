//! Where the tasks of a group leave what they amount to. Tasks on any thread write it; who waits for them reads it then.

use core::sync::atomic::{AtomicI64, AtomicU64};

use workspan_wire::shm::Candidate;

/// What the ended tasks of a group amount to.
#[derive(Debug)]
pub struct Ends {
    /// Longest end of a task.
    pub(super) candidate: Candidate,
    /// The same with steals; below any for none.
    pub(super) burdened: AtomicI64,
    pub(super) work: AtomicI64,
    /// By which the log knows the group; 0 if it was not logged.
    pub(super) identity: AtomicU64,
}

impl Ends {
    /// Of no task yet.
    pub const fn new() -> Ends {
        Ends {
            candidate: Candidate::none(),
            burdened: AtomicI64::new(i64::MIN),
            work: AtomicI64::new(0),
            identity: AtomicU64::new(0),
        }
    }
}
