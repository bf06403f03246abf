//! One access of many iterations: its addresses.

use super::strip::{Operation, Size, Where};
use crate::shadow::Site;
use crate::table::Kind;

/// Iterations that are taken together at most, if their addresses are not at one distance from one another.
pub(super) const MOST: usize = 64;
/// Dependences that an access finds at most.
pub(super) const FOUND: usize = 8;

/// What an earlier access has to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) kind: Kind,
    pub(super) site: Site,
    pub(super) low: u64,
    pub(super) high: u64,
}

impl Source {
    /// True if a moment is one of it.
    #[inline]
    pub(super) fn is_at(&self, moment: u64) -> bool {
        self.low <= moment && moment <= self.high
    }
}

/// One access of some iterations.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// Its address in the first iteration, and how far each is from the one before.
    pub(super) first: u64,
    pub(super) stride: u64,
    /// Where the distance is not always the same: all addresses.
    addresses: Vec<u64>,
    pub(super) low: u64,
    /// Behind the last byte.
    pub(super) end: u64,
    /// All addresses are the same.
    pub(super) is_one: bool,
    /// Each lies behind the one before, or each before it.
    is_apart: bool,
    pub(super) sources: Vec<Source>,
}

impl Column {
    /// Takes addresses at one distance from one another.
    pub(super) fn even(&mut self, shift: u32, (first, stride): (u64, u64), many: usize) {
        self.addresses.clear();
        (self.first, self.stride) = (first, stride);
        let (width, last) = (1_u64 << shift, self.address(many - 1));
        (self.low, self.end) = (first.min(last), first.max(last).saturating_add(width));
        (self.is_one, self.is_apart) = (stride == 0, self.distance() >= width || many == 1);
    }

    /// Takes the addresses of some iterations.
    pub(super) fn fill(&mut self, operation: &Operation, bytes: &[u8], (size, many): (usize, usize)) {
        let Size::Plain(shift) = operation.size else {
            return;
        };
        if let Where::Fixed(address) = operation.address {
            self.even(shift, (address, 0), many);
            return;
        }
        let addresses = &mut self.addresses;
        addresses.clear();
        addresses.extend(bytes.chunks(size).take(many).map(|bytes| operation.address.of(bytes)));
        let width = 1 << shift;
        let (mut low, mut high) = (addresses[0], addresses[0]);
        let (mut is_one, mut is_up, mut is_down) = (true, true, true);
        for pair in addresses.windows(2) {
            (low, high) = (low.min(pair[1]), high.max(pair[1]));
            is_one &= pair[0] == pair[1];
            is_up &= pair[0].saturating_add(width) <= pair[1];
            is_down &= pair[1].saturating_add(width) <= pair[0];
        }
        (self.low, self.end) = (low, high.saturating_add(width));
        (self.is_one, self.is_apart) = (is_one, is_up || is_down);
    }

    /// The address in an iteration.
    #[inline]
    pub(super) fn address(&self, number: usize) -> u64 {
        match self.addresses.get(number) {
            Some(address) => *address,
            None => self.first.wrapping_add(self.stride.wrapping_mul(number as u64)),
        }
    }

    /// All addresses are at one distance from one another.
    #[inline]
    pub(super) fn is_even(&self) -> bool {
        self.addresses.is_empty()
    }

    /// They fall.
    #[inline]
    pub(super) fn is_down(&self) -> bool {
        self.stride.cast_signed() < 0
    }

    /// How far neighbours are from one another, where they are even.
    #[inline]
    pub(super) fn distance(&self) -> u64 {
        self.stride.cast_signed().unsigned_abs()
    }
}

/// True if a write may meet another access of these iterations, or itself.
pub(super) fn is_tangled(operations: &[Operation], columns: &[Column]) -> bool {
    let all = || operations.iter().zip(columns).enumerate();
    all().filter(|(_, (operation, _))| operation.is_write()).any(|(number, (_, write))| {
        let meets = |other: &Column| write.low < other.end && other.low < write.end;
        !write.is_apart || all().any(|(at, (_, other))| at != number && meets(other))
    })
}
