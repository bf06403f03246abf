//! One instance of a worksharing construct, over all members of a team: who leaves last counts it.
//!
//! The place for it serves one instance after the other. Who leaves first claims it for the instance, before it contributes anything;
//! it is free again when all members have left that instance. So whoever finds it claimed for its own instance may
//! contribute: it is not free, nor another instance's, before this member has left, too. An instance that one member found
//! the place taken at is never complete.
//!
//! Modelled with all orders of steps in `crates/workspan-preload/tests/loom`.

use workspan_collect::candidate::raise;
use workspan_wire::sync::{AtomicI64, AtomicU64, Ordering};

/// What members have contributed so far.
#[derive(Debug)]
pub struct Share {
    /// Members that have left it, whether it is [`CLAIMED`], and which instance it is (high half).
    left: AtomicU64,
    /// The longest of each kind of span.
    spans: [AtomicI64; 3],
    /// What members know of it; 0 before.
    of: AtomicU64,
}

/// The place is an instance's. The bits below are members that have left.
const CLAIMED: u64 = 1 << 31;

/// What a member's leaving amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Others are still in a much earlier construct: this member's part counts by itself.
    Apart,
    /// Others will leave.
    Among,
    /// It was the last: the longest spans, and what is known of the instance.
    Last([i64; 3], u64),
}

impl Share {
    /// Of no instance.
    pub fn new() -> Share {
        Share {
            left: AtomicU64::new(0),
            spans: [AtomicI64::new(i64::MIN), AtomicI64::new(i64::MIN), AtomicI64::new(i64::MIN)],
            of: AtomicU64::new(0),
        }
    }

    /// One of `size` members leaves its `ordinal`-th construct, to which it contributed `spans`; what it knows of it, or 0. The last one
    /// calls `clear` before there may be another instance.
    pub fn leave(&self, ordinal: u32, size: u32, spans: [i64; 3], of: u64, clear: impl FnOnce()) -> Left {
        let instance = u64::from(ordinal) << 32;
        let mut seen = self.left.load(Ordering::Acquire);
        while seen & CLAIMED == 0 {
            match self.left.compare_exchange(seen, instance | CLAIMED, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => seen = instance | CLAIMED,
                Err(found) => seen = found,
            }
        }
        if seen >> 32 != u64::from(ordinal) {
            return Left::Apart;
        }
        self.spans.iter().zip(spans).for_each(|(to, span)| raise(to, span));
        if of != 0 {
            self.of.store(of, Ordering::Relaxed);
        }
        let before = self.left.fetch_add(1, Ordering::AcqRel) & (CLAIMED - 1);
        if before + 1 < u64::from(size) {
            return Left::Among;
        }
        // All others have left.
        let spans = [0, 1, 2].map(|i| self.spans[i].swap(i64::MIN, Ordering::Relaxed));
        let of = self.of.swap(0, Ordering::Relaxed);
        clear();
        self.left.store(instance, Ordering::Release);
        Left::Last(spans, of)
    }

    /// The region is over. An instance that not all have left, as the runtime announced members that never began: the longest
    /// spans, and what is known of it.
    pub fn rest(&self) -> Option<([i64; 3], u64)> {
        let left = self.left.swap(0, Ordering::Acquire);
        (left & CLAIMED != 0 && left & (CLAIMED - 1) != 0)
            .then(|| ([0, 1, 2].map(|i| self.spans[i].load(Ordering::Relaxed)), self.of.load(Ordering::Relaxed)))
    }
}
