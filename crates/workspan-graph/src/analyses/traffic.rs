//! Who reads what another has written: each byte at its first read by each reader after each write.
//!
//! Kept are cells of 8 bytes with their last writer: of a cell that several write, what the earlier ones wrote is forgotten.

use std::collections::HashMap;

use workspan_trace::program::Access as Mode;

use crate::events::Access;

/// Readers that are kept of a cell; further ones do not count.
const MOST: usize = 8;
/// Bytes of a cell, as a power of two.
const SHIFT: u32 = 3;

#[derive(Debug)]
struct Cell<Who, With> {
    writer: Who,
    with: With,
    /// Bytes that the writer has written: a bit for each.
    written: u8,
    /// Who has read which of these since.
    readers: Vec<(Who, u8)>,
}

/// Who wrote which bytes last, and who has read them since. `Who` reads and writes; `With` is what else is known of a write.
#[derive(Debug)]
pub struct Cells<Who, With> {
    cells: HashMap<u64, Cell<Who, With>>,
}

impl<Who, With> Default for Cells<Who, With> {
    fn default() -> Cells<Who, With> {
        Cells { cells: HashMap::new() }
    }
}

impl<Who: Copy + Eq, With: Copy> Cells<Who, With> {
    /// Takes an access. `found` gets who has written bytes that it is the first to read, and how many of a cell.
    pub fn access(&mut self, who: Who, with: With, access: &Access, mut found: impl FnMut(Who, With, u64)) {
        let end = access.address.saturating_add(access.size);
        for number in access.address >> SHIFT..end.div_ceil(1 << SHIFT) {
            let first = number << SHIFT;
            let (from, to) = (access.address.max(first) - first, end.min(first.saturating_add(1 << SHIFT)) - first);
            let bytes = (u8::MAX >> (8 - (to - from))) << from;
            if access.mode != Mode::Store {
                if let Some(cell) = self.cells.get_mut(&number).filter(|cell| cell.writer != who) {
                    let fresh = cell.read(who, bytes);
                    if fresh > 0 {
                        found(cell.writer, cell.with, fresh);
                    }
                }
            }
            if access.mode != Mode::Load {
                let new = || Cell { writer: who, with, written: 0, readers: Vec::new() };
                let cell = self.cells.entry(number).or_insert_with(new);
                if cell.writer != who {
                    *cell = new();
                }
                (cell.with, cell.written) = (with, cell.written | bytes);
                cell.readers.iter_mut().for_each(|(_, read)| *read &= !bytes);
            }
        }
    }
}

impl<Who: Copy + Eq, With> Cell<Who, With> {
    /// How many of the bytes somebody is the first time to read.
    fn read(&mut self, who: Who, bytes: u8) -> u64 {
        let place = self.readers.iter().position(|(reader, _)| *reader == who);
        let place = place.or_else(|| {
            (self.readers.len() < MOST).then(|| {
                self.readers.push((who, 0));
                self.readers.len() - 1
            })
        });
        place.and_then(|place| self.readers.get_mut(place)).map_or(0, |(_, read)| {
            let fresh = bytes & self.written & !*read;
            *read |= fresh;
            fresh.count_ones().into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(mode: Mode, address: u64, size: u64) -> Access {
        Access { address, size, mode, flags: 0, operation: 0 }
    }

    #[test]
    fn each_byte_is_counted_once_for_each_reader_and_write() {
        let mut cells: Cells<u32, ()> = Cells::default();
        let mut of = |who, mode, address, size| {
            let mut sum = 0;
            cells.access(who, (), &access(mode, address, size), |_, (), bytes| sum += bytes);
            sum
        };
        // 20 bytes from 6 on are written, and read one by one, twice.
        assert_eq!(of(1, Mode::Store, 6, 20), 0);
        assert_eq!((0..30).map(|byte| of(2, Mode::Load, byte, 1)).sum::<u64>(), 20);
        assert_eq!(of(2, Mode::Load, 0, 30), 0);
        assert_eq!((of(3, Mode::Load, 0, 30), of(1, Mode::Load, 0, 30)), (20, 0));
        // Two bytes are written again: these alone are read again.
        assert_eq!(of(1, Mode::Store, 9, 2), 0);
        assert_eq!((of(2, Mode::Load, 8, 8), of(2, Mode::Load, 0, 30)), (2, 0));
        // Whoever updates reads first; then the cell is its own.
        assert_eq!((of(2, Mode::Update, 16, 8), of(2, Mode::Load, 16, 8), of(3, Mode::Load, 16, 8)), (0, 0, 8));
        // The highest addresses.
        assert_eq!((of(1, Mode::Store, u64::MAX - 3, 9), of(2, Mode::Load, u64::MAX - 3, 9)), (0, 3));
    }

    #[test]
    fn the_ninth_reader_does_not_count() {
        let mut cells: Cells<u32, ()> = Cells::default();
        let mut sum = 0;
        cells.access(0, (), &access(Mode::Store, 0, 4), |_, (), _| {});
        for who in 1..20 {
            cells.access(who, (), &access(Mode::Load, 0, 4), |_, (), bytes| sum += bytes);
        }
        assert_eq!(sum, 8 * 4);
    }
}
