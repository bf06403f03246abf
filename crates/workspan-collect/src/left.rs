//! Spans and paths that one thread leaves for another under an address: small, direct-mapped, without locks.
//!
//! An entry is a pair that changes as a whole (128-bit compare and swap): a span, and a path below a tag of the address. The
//! entry owns its path, and whoever takes the entry out owns it then: an entry leaves the table in one exchange, by whoever
//! takes it or whoever puts another in its place, so that each path is released once. An entry of another address is
//! never taken out by a look.
//!
//! The uniform and the burdened span go beside the pair, as what they are longer than the actual one, each with bits of the tag. Two
//! threads that leave something in one slot at once may leave these of one with the pair of the other: of another
//! address they are not taken, then they count as the actual span.
//!
//! Modelled with all orders of steps in `crates/workspan-preload/tests/loom`.

use super::path;
use super::platform::exchange_pair;
use super::shared::Shared;
use core::sync::atomic::AtomicI64;
use workspan_wire::shm::{Candidate, Spans};
use workspan_wire::sync::Ordering;

/// In place of a span: nothing is here.
const EMPTY: i64 = i64::MIN;

/// Spans and paths left under addresses. The upper half of a pair's second word is a tag of the address.
#[derive(Debug)]
pub struct Table<const SLOTS: usize> {
    entries: [Candidate; SLOTS],
    /// Of each slot, how much longer the uniform and the burdened span are, above [`TAG_BITS`] of the tag.
    longer: [[AtomicI64; 2]; SLOTS],
}

/// Bits of the tag beside what a span is longer by.
const TAG_BITS: u32 = 16;

impl<const SLOTS: usize> Table<SLOTS> {
    /// A table of these entries, which have no span ([`Candidate::none`]).
    pub const fn of(entries: [Candidate; SLOTS]) -> Table<SLOTS> {
        Table { entries, longer: [const { [const { AtomicI64::new(0) }; 2] }; SLOTS] }
    }

    fn slot(&self, address: u64) -> (usize, u64) {
        let hash = address.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Never 0, so that it differs from an empty slot's.
        ((hash >> 48) as usize % SLOTS, (hash & 0xffff_ffff) | 1)
    }

    /// Leaves `spans` and the handle `path` under `address`; what was there is released.
    pub fn put(&self, shared: Shared, address: u64, spans: Spans, path: u32) {
        let (index, tag) = self.slot(address);
        self.put_at(shared, index, tag, spans, path);
    }

    /// The same, in a slot nearby if another address has that one: for what only [`Table::take_near`] takes.
    pub fn put_near(&self, shared: Shared, address: u64, spans: Spans, path: u32) {
        let (index, tag) = self.slot(address);
        let is_own = |index: &usize| look(&self.entries[*index]).1 >> 32 == tag;
        let is_free = |index: &usize| look(&self.entries[*index]).0 == EMPTY;
        // What was left there before, and nobody has taken, gives way.
        let slot = near::<SLOTS>(index).find(is_own).or_else(|| near::<SLOTS>(index).find(is_free));
        self.put_at(shared, slot.unwrap_or(index), tag, spans, path);
    }

    /// Takes what [`Table::put_near`] has left under `address`.
    pub fn take_near(&self, address: u64) -> Option<(Spans, u32)> {
        let (index, tag) = self.slot(address);
        near::<SLOTS>(index).find_map(|index| self.take_at(index, tag))
    }

    fn put_at(&self, shared: Shared, index: usize, tag: u64, spans: Spans, path: u32) {
        self.put_longer(index, tag, spans);
        let slot = &self.entries[index];
        let new = (spans.actual, tag << 32 | u64::from(path));
        let mut seen = look(slot);
        while let Err(found) = exchange_pair(slot, seen, new) {
            seen = found;
        }
        if seen.0 != EMPTY {
            path::release(shared, seen.1 as u32);
        }
    }

    /// Takes what is under `address`, and nothing else.
    pub fn take(&self, address: u64) -> Option<(Spans, u32)> {
        let (index, tag) = self.slot(address);
        self.take_at(index, tag)
    }

    fn take_at(&self, index: usize, tag: u64) -> Option<(Spans, u32)> {
        let slot = &self.entries[index];
        let mut seen = look(slot);
        // A pair that was not read as a whole is none of the slot's: the exchange fails, and returns the whole one.
        while seen.1 >> 32 == tag {
            match exchange_pair(slot, seen, (EMPTY, 0)) {
                Ok(()) => return (seen.0 != EMPTY).then(|| (self.spans(index, tag, seen.0), seen.1 as u32)),
                Err(found) => seen = found,
            }
        }
        None
    }

    /// Puts back what was taken, unless something newer is there.
    pub fn put_back(&self, shared: Shared, address: u64, spans: Spans, path: u32) {
        let (index, tag) = self.slot(address);
        if exchange_pair(&self.entries[index], (EMPTY, 0), (spans.actual, tag << 32 | u64::from(path))).is_err() {
            path::release(shared, path);
        }
    }

    fn put_longer(&self, index: usize, tag: u64, spans: Spans) {
        for (word, span) in self.longer[index].iter().zip([spans.uniform, spans.burdened]) {
            let tagged = (span.wrapping_sub(spans.actual) << TAG_BITS) | (tag & ((1 << TAG_BITS) - 1)) as i64;
            word.store(tagged, Ordering::Relaxed);
        }
    }

    fn spans(&self, index: usize, tag: u64, actual: i64) -> Spans {
        let [uniform, burdened] = self.longer[index].each_ref().map(|word| {
            let word = word.load(Ordering::Relaxed);
            let same = (word as u64 ^ tag) & ((1 << TAG_BITS) - 1) == 0;
            actual + if same { word >> TAG_BITS } else { 0 }
        });
        Spans { actual, uniform, burdened }
    }
}

/// Slots in which what belongs into this one may lie.
fn near<const SLOTS: usize>(index: usize) -> impl Iterator<Item = usize> {
    const WAYS: usize = 16;
    (0..WAYS.min(SLOTS)).map(move |way| (index + way) % SLOTS)
}

fn look(slot: &Candidate) -> (i64, u64) {
    (slot.span.load(Ordering::Relaxed), slot.path.load(Ordering::Relaxed))
}
