//! What one access of many iterations meets, before anything changes.

use super::strip::{Habit, Operation, Size, Where};
use crate::shadow::{Reader, Readers, Shadow, Site};
use crate::table::Kind;

/// Iterations that are taken together at most.
pub(super) const MOST: usize = 64;
/// Dependences that an access finds at most.
pub(super) const FOUND: usize = 8;

/// What a read is for the groups of its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// A new group is the first one.
    New,
    /// The second of two groups takes in the first one, which begins anew.
    Pushed,
}

/// What an earlier access has to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) kind: Kind,
    pub(super) site: Site,
    pub(super) low: u64,
    pub(super) high: u64,
    /// The earliest moment that was found.
    pub(super) first: u64,
}

/// One access of some iterations.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) addresses: [u64; MOST],
    pub(super) low: u64,
    /// Behind the last byte.
    pub(super) end: u64,
    /// All addresses are the same.
    pub(super) is_one: bool,
    /// Each lies behind the one before, or each before it.
    is_apart: bool,
    pub(super) reading: Option<Reading>,
    pub(super) sources: Vec<Source>,
}

impl Default for Column {
    fn default() -> Column {
        let (addresses, low, end, is_one, is_apart) = ([0; MOST], 0, 0, true, true);
        Column { addresses, low, end, is_one, is_apart, reading: None, sources: Vec::new() }
    }
}

impl Column {
    /// Takes the addresses of some iterations, each of that many bytes.
    pub(super) fn fill(&mut self, operation: &Operation, bytes: &[u8], (size, many): (usize, usize)) {
        let Size::Plain(shift) = operation.size else {
            return;
        };
        let addresses = &mut self.addresses[..many];
        match operation.address {
            Where::Fixed(address) => addresses.fill(address),
            Where::Byte(..) => {
                for (address, bytes) in addresses.iter_mut().zip(bytes.chunks(size)) {
                    *address = operation.address.of(bytes);
                }
            }
        }
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

    /// How many iterations read what was written by the source, and are the same for the reads of their cells.
    pub(super) fn reads(
        &mut self,
        shadow: &mut Shadow,
        habit: &mut Habit,
        (shift, many): (u32, usize),
        (low, high): (u64, u64),
    ) -> usize {
        let site = habit.site;
        // Nobody has written it.
        let mut nobody = Source { kind: Kind::Raw, site: 0, low: 0, high: u64::MAX, first: 0 };
        let source = self.sources.first_mut().unwrap_or(&mut nobody);
        self.reading = None;
        for (number, address) in self.addresses[..many].iter().enumerate() {
            let Some((cell, readers)) = shadow.whole_cell(*address, shift, &mut habit.page) else {
                return number;
            };
            if cell.writer != source.site || cell.written < source.low || cell.written > source.high {
                return number;
            }
            let reading = reading_of(readers, cell.readers, site, (low, high));
            if reading.is_none() || number > 0 && reading != self.reading {
                return number;
            }
            source.first = source.first.min(cell.written);
            self.reading = reading;
            if self.is_one {
                // The others find what this one leaves.
                return if reading == Some(Reading::Pushed) { many } else { 0 };
            }
        }
        many
    }

    /// How many iterations write where the sources were the last that wrote and read.
    pub(super) fn writes(&mut self, shadow: &mut Shadow, habit: &mut Habit, (shift, many): (u32, usize)) -> usize {
        let is_written = self.sources.first().is_some_and(|source| source.kind == Kind::Waw);
        for (number, address) in self.addresses[..many].iter().enumerate() {
            let Some((cell, readers)) = shadow.whole_cell(*address, shift, &mut habit.page) else {
                return number;
            };
            if is_written != (cell.writer != 0) || is_written && !self.sources[0].is(&cell.write()) {
                return number;
            }
            let reads = &mut self.sources[usize::from(is_written)..];
            let (mut at, mut count) = (cell.readers, 0);
            while at != 0 {
                let reader = readers.get(at);
                // Those of several sites are in any order.
                if !reads.iter_mut().any(|source| source.is(&reader)) {
                    return number;
                }
                (at, count) = (reader.next, count + 1);
            }
            if count != reads.len() {
                return number;
            }
        }
        many
    }
}

impl Source {
    #[inline]
    fn is(&mut self, access: &Reader) -> bool {
        let is = self.site == access.site && self.low <= access.last && access.last <= self.high;
        if is {
            self.first = self.first.min(access.first);
        }
        is
    }
}

/// What a read in a new iteration is for groups.
#[inline]
fn reading_of(readers: &mut Readers, first: u32, site: Site, (low, high): (u64, u64)) -> Option<Reading> {
    let Some(head) = readers.place(first) else {
        return Some(Reading::New);
    };
    let (last, next) = (head.last, head.next);
    if head.site == site {
        return match readers.place(next) {
            None => Some(Reading::New),
            Some(next) if next.site == site && next.next == 0 && low <= next.last && last <= high => {
                Some(Reading::Pushed)
            }
            _ => None,
        };
    }
    let mut at = next;
    while let Some(other) = readers.place(at) {
        if other.site == site {
            return None;
        }
        at = other.next;
    }
    Some(Reading::New)
}

/// True if a write may meet another access of these iterations, or itself.
pub(super) fn is_tangled(operations: &[Operation], columns: &[Column]) -> bool {
    let all = || operations.iter().zip(columns).enumerate();
    all().filter(|(_, (operation, _))| operation.is_write()).any(|(number, (_, write))| {
        let meets = |other: &Column| write.low < other.end && other.low < write.end;
        !write.is_apart || all().any(|(at, (_, other))| at != number && meets(other))
    })
}
