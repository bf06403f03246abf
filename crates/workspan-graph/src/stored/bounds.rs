//! What no program can have done, and a file may claim: accesses longer than the run had time for, or than anybody would wait for.
//!
//! A program that crashes in `memset(p, 0, -1)` makes such an access, too. It is replayed up to its bound, and counted.

use crate::cut::Cut;
use crate::events::Access;
use crate::file::Recording;

/// Bytes that one access touches in a tick of the clock, at most.
const PER_TICK: u64 = 64;
/// Bytes that an access may have however short the run was: a clock of an emulated program is slow.
const LEAST: u64 = 1 << 22;
/// Bytes of an access, at most.
const MOST: u64 = 1 << 30;
/// The same in a loop that one event stands for: a vector has fewer.
const MOST_OF_LOOP: u64 = 1 << 12;
/// Addresses end here.
const END: u64 = 1 << 48;

/// Bounds of the accesses of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'r> {
    most: u64,
    cut: &'r Cut,
}

impl<'r> Bounds<'r> {
    /// Of a recording.
    pub fn of(recording: &'r Recording) -> Bounds<'r> {
        let ticks = recording.end.as_ref().map_or(u64::MAX, |end| end.ticks);
        Bounds { most: ticks.saturating_mul(PER_TICK).clamp(LEAST, MOST), cut: &recording.cut }
    }

    /// Bytes of an access, at most.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Cuts the accesses of each iteration.
    pub(crate) fn of_loop(&self, accesses: &mut [Access]) {
        Bounds { most: self.most.min(MOST_OF_LOOP), ..*self }.apply(accesses);
    }

    /// Cuts the accesses of an event.
    pub(crate) fn apply(&self, accesses: &mut [Access]) {
        accesses.iter_mut().for_each(|access| self.one(access));
    }

    /// Cuts an access.
    #[inline]
    pub(crate) fn one(&self, access: &mut Access) {
        let room = self.most.min(END - access.address % END);
        if access.size > room {
            access.size = room;
            self.cut.add();
        }
    }
}
