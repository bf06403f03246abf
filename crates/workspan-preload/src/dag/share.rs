//! One instance of a worksharing construct, over all members of a team: who leaves last counts it.
//!
//! Modelled with all orders of steps in `crates/workspan-preload/tests/loom`.

use workspan_collect::candidate::raise;
use workspan_wire::sync::{AtomicI64, AtomicU64, Ordering};

/// What members have contributed so far.
#[derive(Debug)]
pub struct Share {
    /// Members that have left it (low half), and which instance it is (high half).
    left: AtomicU64,
    /// The longest of each kind of span.
    spans: [AtomicI64; 3],
    /// What those tell of it that know; 0 before.
    of: AtomicU64,
}

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
        let mut left = self.left.load(Ordering::Acquire);
        loop {
            let free = left & 0xffff_ffff == 0;
            if !free && left >> 32 != u64::from(ordinal) {
                return Left::Apart;
            }
            let next = if free { instance | 1 } else { left + 1 };
            self.spans.iter().zip(spans).for_each(|(to, span)| raise(to, span));
            if of != 0 {
                self.of.store(of, Ordering::Relaxed);
            }
            if next & 0xffff_ffff == u64::from(size) {
                let spans = [0, 1, 2].map(|i| self.spans[i].swap(i64::MIN, Ordering::Relaxed));
                let of = self.of.swap(0, Ordering::Relaxed);
                clear();
                self.left.store(instance, Ordering::Release);
                return Left::Last(spans, of);
            }
            match self.left.compare_exchange(left, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Left::Among,
                Err(found) => left = found,
            }
        }
    }
}
