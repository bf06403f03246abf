//! Which cells stand ready, and which are packed: what [`Shadow`] does when more memory is in use than it may hold ready.
//!
//! A hand goes round the tables of entries, and packs pages that were not accessed since it came by last, as far as the
//! direct-mapped table of near pages says. **Invariant**: entries of a packed chunk say so, all of them; without a table, a
//! page has only packed chunks. Cells that an instruction has found stay where they are until the next block runs.

use crate::cell::Cell;
use crate::cold::ENTRIES;
use crate::row::Lane;
use crate::shadow::{near, Shadow, CELL, CHUNKS, COUNT, GRANULES, NO_PAGE, PACKED};

impl<L: Lane, const N: usize, const T: usize> Shadow<L, N, T> {
    /// True if more cells stand ready than should: [`Shadow::pack`] is due.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        self.used > self.ready
    }

    /// Packs memory that was not accessed for long. Cells that were found before are others then.
    #[cold]
    pub fn pack(&mut self) {
        let target = self.ready - self.ready / 64;
        let mut kinds = [0; ENTRIES];
        let mut cells = std::mem::take(&mut self.unpacked);
        // In the first round, pages that were used lately have a second chance.
        for _ in 0..2 * self.numbers.len() {
            if self.used <= target {
                break;
            }
            self.hand = (self.hand + 1) % self.numbers.len();
            let page = self.numbers[self.hand];
            if page == NO_PAGE {
                continue;
            }
            let near = &mut self.near[near(page)];
            if near.0 == page {
                *near = (NO_PAGE, 0);
                continue;
            }
            let mut whole = true;
            for chunk in 0..CHUNKS {
                whole &= self.pack_chunk(self.hand * CHUNKS + chunk, &mut kinds, &mut cells);
            }
            if whole {
                self.pages.remove(&page);
                self.entries[self.hand * GRANULES..][..GRANULES].fill(0);
                self.numbers[self.hand] = NO_PAGE;
                self.used -= GRANULES * 4;
                self.free_tables.push(u32::try_from(self.hand).unwrap_or(0));
            }
        }
        self.unpacked = cells;
    }

    /// Packs a chunk; false if it has cells that stand for a page.
    fn pack_chunk(&mut self, at: usize, kinds: &mut [u8; ENTRIES], cells: &mut Vec<Cell<L, N, T>>) -> bool {
        let range = at * ENTRIES..(at + 1) * ENTRIES;
        let entries = &self.entries[range.clone()];
        if entries.iter().all(|entry| matches!(entry & 7, 0 | PACKED)) {
            return true;
        }
        if self.is_coarse() && entries.iter().any(|entry| *entry != 0 && self.is_coarse_cell(entry >> CELL)) {
            return false;
        }
        cells.clear();
        for (entry, kind) in entries.iter().zip(kinds.iter_mut()) {
            *kind = (entry & 7) as u8;
            let first = (entry >> CELL) as usize;
            cells.extend_from_slice(&self.cells[first..first + COUNT[usize::from(*kind)] as usize]);
        }
        let chunk = self.numbers[at / CHUNKS] * CHUNKS as u64 + (at % CHUNKS) as u64;
        self.cold.put(chunk, kinds, cells);
        for at in range {
            let entry = std::mem::replace(&mut self.entries[at], PACKED);
            if entry != 0 {
                self.drop_cells(entry >> CELL, entry & 7);
            }
        }
        true
    }

    /// A chunk is accessed again.
    #[cold]
    pub(crate) fn unpack(&mut self, at: usize) {
        let chunk = self.numbers[at / CHUNKS] * CHUNKS as u64 + (at % CHUNKS) as u64;
        let mut cells = std::mem::take(&mut self.unpacked);
        let kinds = self.cold.take(chunk, |kind| COUNT[usize::from(kind) & 7] as usize, &mut cells);
        let mut from = 0;
        for (n, kind) in kinds.iter().enumerate() {
            let count = COUNT[usize::from(*kind) & 7] as usize;
            self.entries[at * ENTRIES + n] = match count {
                0 => 0,
                _ => self.new_cells(count, |n| cells[from + n]) << CELL | u32::from(*kind),
            };
            from += count;
        }
        self.unpacked = cells;
    }
}
