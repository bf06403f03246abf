//! A stack of batches of blocks, which threads pass to each other without locks.
//!
//! The top is an address and a count of all changes, which change together (128-bit compare and swap): a batch that was taken
//! and passed on again meanwhile (ABA) is noticed. Blocks are never unmapped, so that what a batch says comes next may
//! be read even while another takes it; what was read then is of no use, and the exchange fails because of the count.
//! The count is read in such a way (acquire) that what comes next is at least as new.
//!
//! Modelled with all orders of steps in `crates/workspan-preload/tests/loom`.

use workspan_collect::platform::exchange_pair;
use workspan_wire::shm::Candidate;
use workspan_wire::sync::Ordering;

/// The stack: of batches, by their addresses; 0 is none.
#[derive(Debug)]
pub struct Stack(Candidate);

impl Stack {
    /// An empty stack, by a pair of zeros.
    pub const fn of(top: Candidate) -> Stack {
        Stack(top)
    }

    fn look(&self) -> (i64, u64) {
        let changes = self.0.path.load(Ordering::Acquire);
        (self.0.span.load(Ordering::Acquire), changes)
    }

    /// Puts `batch` on top; `comes_next` keeps with it which one is below.
    pub fn push(&self, batch: u64, comes_next: impl Fn(u64)) {
        let mut seen = self.look();
        loop {
            comes_next(seen.0 as u64);
            match exchange_pair(&self.0, seen, (batch as i64, seen.1.wrapping_add(1))) {
                Ok(()) => return,
                Err(found) => seen = found,
            }
        }
    }

    /// Takes the batch on top; `next_of` returns which one is below a batch.
    pub fn pop(&self, next_of: impl Fn(u64) -> u64) -> Option<u64> {
        let mut seen = self.look();
        loop {
            let batch = seen.0 as u64;
            if batch == 0 {
                return None;
            }
            match exchange_pair(&self.0, seen, (next_of(batch) as i64, seen.1.wrapping_add(1))) {
                Ok(()) => return Some(batch),
                Err(found) => seen = found,
            }
        }
    }
}
