//! Calls that are open: of a task's own strand, and of all members of a team.

use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::calls::{self, CallId};
use workspan_collect::shared::Shared;
use workspan_collect::tables::ROOT;

/// A construct of a task's own strand that is a call, from its begin to its end. Where it began is taken out of its sums until
/// then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open(pub(in crate::dag) CallId);

impl Open {
    /// No call.
    pub const NONE: Open = Open(0);
}

/// A worksharing construct's call: one for all members of a team.
#[derive(Debug)]
pub struct Whole {
    /// Low half: the call; high half: which construct of the team it is. 0: none.
    of: AtomicU64,
}

/// A member's part of a worksharing construct.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    pub(in crate::dag) open: Open,
    /// The call of all members; 0 if they are too far apart.
    pub(in crate::dag) whole: CallId,
}

impl Whole {
    pub(in crate::dag) const fn new() -> Whole {
        Whole { of: AtomicU64::new(0) }
    }

    /// The call of the `ordinal`-th construct of a team of `size` members, each of which keeps it open.
    pub(in crate::dag) fn find(&self, shared: Shared, ordinal: u32, size: u32) -> CallId {
        let mut now = self.of.load(Ordering::Acquire);
        if now == 0 {
            let id = calls::begin(shared, ROOT, 0, size);
            // Also a part that is shorter than nothing, what hooks take being taken out, is as long as it is.
            shared.call(id).span.store(i64::MIN, Ordering::Relaxed);
            let new = u64::from(ordinal) << 32 | u64::from(id);
            match self.of.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return id,
                Err(found) => now = found,
            }
            if id != 0 {
                calls::release(shared, id);
            }
        }
        if now >> 32 == u64::from(ordinal) {
            now as CallId
        } else {
            0
        }
    }

    /// All members have left it.
    pub(in crate::dag) fn clear(&self) {
        self.of.store(0, Ordering::Release);
    }
}
