//! A stack that threads share without locks, of things that are memory for ever: free nodes, free batches of blocks.
//!
//! The top is a name, an address or a number, and a count of all changes, which change together: a thing that was taken and given
//! back meanwhile (ABA) is noticed. Things are never unmapped, so that what one says comes next may be read even while another
//! takes it; what was read then is of no use, and the exchange fails because of the count. The count is read in such a way
//! (acquire) that what comes next is at least as new.
//!
//! **Cost**: one exchange, of 64 bits for numbers ([`AtomicU64`]), of 128 for addresses ([`Candidate`]).
//!
//! Modelled with all orders of steps in `crates/workspan-preload/tests/loom`, by both.

use super::platform::exchange_pair;
use workspan_wire::shm::Candidate;
use workspan_wire::sync::{AtomicU64, Ordering};

/// A name and a count of changes that change together.
pub trait Top {
    /// Both, possibly of different moments: then an exchange fails.
    fn look(&self) -> (u64, u64);

    /// Replaces `seen` by this name and the next count. Otherwise: what is there.
    fn exchange(&self, seen: (u64, u64), name: u64) -> Result<(), (u64, u64)>;
}

/// Numbers of 32 bits, below a count of as many.
impl Top for AtomicU64 {
    #[inline]
    fn look(&self) -> (u64, u64) {
        halves(self.load(Ordering::Acquire))
    }

    #[inline]
    fn exchange(&self, seen: (u64, u64), name: u64) -> Result<(), (u64, u64)> {
        let (old, new) = (seen.1 << 32 | seen.0, seen.1.wrapping_add(1) << 32 | name);
        self.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Acquire).map(drop).map_err(halves)
    }
}

fn halves(word: u64) -> (u64, u64) {
    (word & 0xffff_ffff, word >> 32)
}

/// Addresses, beside a count.
impl Top for Candidate {
    #[inline]
    fn look(&self) -> (u64, u64) {
        let changes = self.path.load(Ordering::Acquire);
        (self.span.load(Ordering::Acquire) as u64, changes)
    }

    #[inline]
    fn exchange(&self, seen: (u64, u64), name: u64) -> Result<(), (u64, u64)> {
        let (old, new) = ((seen.0 as i64, seen.1), (name as i64, seen.1.wrapping_add(1)));
        exchange_pair(self, old, new).map_err(|(name, changes)| (name as u64, changes))
    }
}

/// Puts `name` on top; `comes_next` keeps with it which one is below.
pub fn push(top: &impl Top, name: u64, comes_next: impl Fn(u64)) {
    let mut seen = top.look();
    loop {
        comes_next(seen.0);
        match top.exchange(seen, name) {
            Ok(()) => return,
            Err(found) => seen = found,
        }
    }
}

/// Takes what is on top; `next_of` returns which one is below it.
pub fn pop(top: &impl Top, next_of: impl Fn(u64) -> u64) -> Option<u64> {
    let mut seen = top.look();
    while seen.0 != 0 {
        match top.exchange(seen, next_of(seen.0)) {
            Ok(()) => return Some(seen.0),
            Err(found) => seen = found,
        }
    }
    None
}
