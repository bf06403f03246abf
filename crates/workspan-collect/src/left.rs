//! Spans and paths that one thread leaves for another under an address: small, direct-mapped, without locks.
//!
//! An entry is a pair that changes as a whole (128-bit compare and swap): a span, and a path below a tag of the address. The
//! entry owns its path, and whoever takes the entry out owns it then: an entry leaves the table in one exchange, by whoever
//! takes it or whoever puts another in its place, so that each path is released once. An entry of another address is
//! never taken out by a look.
//!
//! Modelled with all orders of steps in `crates/workspan-preload/tests/loom`.

use super::path;
use super::platform::exchange_pair;
use super::shared::Shared;
use workspan_wire::shm::Candidate;
use workspan_wire::sync::Ordering;

/// In place of a span: nothing is here.
const EMPTY: i64 = i64::MIN;

/// Spans and paths left under addresses. The upper half of a pair's second word is a tag of the address.
#[derive(Debug)]
pub struct Table<const SLOTS: usize>([Candidate; SLOTS]);

impl<const SLOTS: usize> Table<SLOTS> {
    /// A table of these entries, which have no span ([`Candidate::none`]).
    pub const fn of(entries: [Candidate; SLOTS]) -> Table<SLOTS> {
        Table(entries)
    }

    fn slot(&self, address: u64) -> (&Candidate, u64) {
        let hash = address.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Never 0, so that it differs from an empty slot's.
        (&self.0[(hash >> 56) as usize % SLOTS], (hash & 0xffff_ffff) | 1)
    }

    /// Leaves `span` and the handle `path` under `address`; what was there is released.
    pub fn put(&self, shared: Shared, address: u64, span: i64, path: u32) {
        let (slot, tag) = self.slot(address);
        let new = (span, tag << 32 | u64::from(path));
        let mut seen = look(slot);
        while let Err(found) = exchange_pair(slot, seen, new) {
            seen = found;
        }
        if seen.0 != EMPTY {
            path::release(shared, seen.1 as u32);
        }
    }

    /// Takes what is under `address`, and nothing else.
    pub fn take(&self, address: u64) -> Option<(i64, u32)> {
        let (slot, tag) = self.slot(address);
        let mut seen = look(slot);
        // A pair that was not read as a whole is none of the slot's: the exchange fails, and returns the whole one.
        while seen.1 >> 32 == tag {
            match exchange_pair(slot, seen, (EMPTY, 0)) {
                Ok(()) => return (seen.0 != EMPTY).then_some((seen.0, seen.1 as u32)),
                Err(found) => seen = found,
            }
        }
        None
    }

    /// Puts back what was taken, unless something newer is there.
    pub fn put_back(&self, shared: Shared, address: u64, span: i64, path: u32) {
        let (slot, tag) = self.slot(address);
        if exchange_pair(slot, (EMPTY, 0), (span, tag << 32 | u64::from(path))).is_err() {
            path::release(shared, path);
        }
    }
}

fn look(slot: &Candidate) -> (i64, u64) {
    (slot.span.load(Ordering::Relaxed), slot.path.load(Ordering::Relaxed))
}
