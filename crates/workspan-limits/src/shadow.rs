//! Memory as dependences see it: who wrote each word last, and who has read it since.
//!
//! A [`Cell`] stands for eight bytes that were always accessed as a whole, or else for four, two, or one: an access that
//! covers a cell in part splits it first, into cells that have the same history. So every byte's history is exact, and most
//! memory needs one cell for eight bytes. Cells of a page are found by a table of 512 numbers, pages by a hash table behind
//! a small direct-mapped one.
//!
//! **Bound**: cells of no more than a given number of bytes stand ready; those of memory that was not accessed for long are
//! packed then, without loss ([`crate::cold`]). When all that is allowed is used up, new memory gets one cell for a page, which
//! holds the deepest of its accesses: dependences that are not there may appear, never the reverse ([`Shadow::is_coarse`]).

use std::collections::HashMap;

use crate::cell::Cell;
use crate::cold::{Cold, ENTRIES};
use crate::row::{deeper, raise, Lane, Row};

/// Bytes of a page, as a power of two.
const PAGE: u32 = 12;
/// Cells of a page, at eight bytes each.
pub(crate) const GRANULES: usize = 1 << (PAGE - 3);
/// Pages that are found without hashing.
const NEAR: usize = 1024;

/// How much a cell stands for: the lower three bits of an entry.
const WHOLE: u32 = 1;
const HALVES: u32 = 2;
const QUARTERS: u32 = 3;
const BYTES: u32 = 4;
/// Its chunk is packed.
pub(crate) const PACKED: u32 = 5;
/// How many cells there are then, for eight bytes.
pub(crate) const COUNT: [u32; 8] = [0, 1, 2, 4, 8, 0, 0, 0];
/// Chunks of a page.
pub(crate) const CHUNKS: usize = GRANULES / ENTRIES;
/// No page.
pub(crate) const NO_PAGE: u64 = u64::MAX;
/// An entry has the number of its first cell above the kind.
pub(crate) const CELL: u32 = 3;

/// The memory of a program.
#[derive(Debug)]
pub struct Shadow<L, const N: usize, const T: usize> {
    pub(crate) cells: Vec<Cell<L, N, T>>,
    /// Entries of all pages, page by page.
    pub(crate) entries: Vec<u32>,
    pub(crate) pages: HashMap<u64, u32>,
    /// The page of each table of entries.
    pub(crate) numbers: Vec<u64>,
    pub(crate) near: Vec<(u64, u32)>,
    /// Cells that are used no more: one, or two, four, eight beside each other.
    free: [Vec<u32>; 4],
    pub(crate) free_tables: Vec<u32>,
    /// Bytes of cells and tables that are in use.
    pub(crate) used: usize,
    /// More of them than this are packed.
    pub(crate) ready: usize,
    /// More bytes than this are not used.
    most: usize,
    coarse: Vec<u32>,
    splits: u64,
    /// The most bytes that there were, as far as it was looked.
    most_used: usize,
    pub(crate) cold: Cold,
    /// The table that is looked at next for what can be packed.
    pub(crate) hand: usize,
    pub(crate) unpacked: Vec<Cell<L, N, T>>,
}

impl<L: Lane, const N: usize, const T: usize> Shadow<L, N, T> {
    /// Bytes of a cell.
    pub(crate) const CELL_BYTES: usize = size_of::<Cell<L, N, T>>();

    /// Memory that nobody has accessed, with at most this number of bytes for its cells, and at most `ready` for those
    /// that are not packed.
    pub fn new(bytes: usize, ready: usize) -> Shadow<L, N, T> {
        Shadow {
            cells: vec![Cell::NEW],
            entries: Vec::new(),
            pages: HashMap::new(),
            numbers: Vec::new(),
            near: vec![(NO_PAGE, 0); NEAR],
            free: Default::default(),
            free_tables: Vec::new(),
            used: 0,
            ready,
            most: bytes.max(GRANULES * Self::CELL_BYTES),
            coarse: Vec::new(),
            splits: 0,
            most_used: 0,
            cold: Cold::new::<L>(N, T),
            hand: 0,
            unpacked: Vec::new(),
        }
    }

    /// The cell of an access, if there is exactly one already.
    #[inline(always)]
    pub fn one(&mut self, address: u64, size: u64) -> Option<u32> {
        let at = self.page(address >> PAGE) + ((address & ((1 << PAGE) - 1)) >> 3) as usize;
        let entry = self.entries[at];
        let cell = entry >> CELL;
        match (entry & 7, size) {
            (WHOLE, 8) if address & 7 == 0 => Some(cell),
            (HALVES, 4) if address & 3 == 0 => Some(cell + (address >> 2 & 1) as u32),
            (BYTES, 1) => Some(cell + (address & 7) as u32),
            (QUARTERS, 2) if address & 1 == 0 => Some(cell + (address >> 1 & 3) as u32),
            _ => None,
        }
    }

    /// Calls `found` with each cell of an access.
    #[inline(always)]
    pub fn each(&mut self, address: u64, size: u64, mut found: impl FnMut(u32)) {
        match self.one(address, size) {
            Some(cell) => found(cell),
            None => self.each_slowly(address, size, &mut found),
        }
    }

    fn each_slowly(&mut self, address: u64, size: u64, found: &mut dyn FnMut(u32)) {
        let end = address.saturating_add(size);
        let mut from = address;
        while from < end {
            let to = ((from | 7) + 1).min(end);
            let at = self.page(from >> PAGE) + ((from & ((1 << PAGE) - 1)) >> 3) as usize;
            let (first, count) = self.cells_of(at, from & 7, to - from);
            for cell in first..first + count {
                found(cell);
            }
            from = to;
        }
    }

    /// The cells of a part of eight bytes.
    fn cells_of(&mut self, at: usize, offset: u64, len: u64) -> (u32, u32) {
        if self.entries[at] & 7 == PACKED {
            self.unpack(at / ENTRIES);
        }
        let entry = self.entries[at];
        let (cell, kind) = (entry >> CELL, entry & 7);
        let (offset, len) = ((offset & 7) as u32, (len & 15) as u32);
        let parts = |first: u32, kind: u32| {
            let size = 8 / COUNT[kind as usize];
            (first + offset / size, len.div_ceil(size))
        };
        let wanted = match (offset | len) & 7 {
            0 => WHOLE,
            4 => HALVES,
            2 | 6 => QUARTERS,
            _ => BYTES,
        };
        if kind >= wanted || kind == WHOLE && self.is_coarse_cell(cell) {
            return parts(cell, kind);
        }
        if kind == 0 && self.is_used_up() {
            self.share_a_page(at);
            return (self.entries[at] >> CELL, 1);
        }
        let count = COUNT[wanted as usize];
        let new = if kind == 0 {
            self.new_cells(count as usize, |_| Cell::NEW)
        } else {
            // What there is already must not be lost, even beyond the bound.
            let parts = count / COUNT[kind as usize];
            let old: [Cell<L, N, T>; 8] =
                std::array::from_fn(|n| self.cells[(cell + (n as u32).min(count - 1) / parts) as usize]);
            self.splits += 1;
            self.drop_cells(cell, kind);
            self.new_cells(count as usize, |n| old[n])
        };
        self.entries[at] = new << CELL | wanted;
        parts(new, wanted)
    }

    pub(crate) fn new_cells(&mut self, count: usize, value: impl Fn(usize) -> Cell<L, N, T>) -> u32 {
        self.used += count * Self::CELL_BYTES;
        let class = count.trailing_zeros() as usize;
        let Some(larger) = (class..self.free.len()).find(|class| !self.free[*class].is_empty()) else {
            let first = self.cells.len();
            self.cells.extend((0..count).map(value));
            return u32::try_from(first).unwrap_or(0);
        };
        let first = self.free[larger].pop().unwrap_or(0);
        // The rest of what is larger: as many again, then twice as many, and so on.
        for class in class..larger {
            self.free[class].push(first + (1 << class));
        }
        for n in 0..count {
            self.cells[first as usize + n] = value(n);
        }
        first
    }

    /// The cells of an entry are used no more.
    pub(crate) fn drop_cells(&mut self, first: u32, kind: u32) {
        let count = COUNT[kind as usize];
        self.used -= count as usize * Self::CELL_BYTES;
        self.free[count.trailing_zeros() as usize].push(first);
    }

    /// True if new memory must share cells.
    fn is_used_up(&self) -> bool {
        self.used + self.cold.bytes() + 8 * Self::CELL_BYTES > self.most
            || self.cells.len() + 8 > (u32::MAX >> CELL) as usize - GRANULES
    }

    /// One cell for all that is not known yet of a page.
    fn share_a_page(&mut self, at: usize) {
        let first = at / GRANULES * GRANULES;
        let cell = u32::try_from(self.cells.len()).unwrap_or(0);
        self.cells.push(Cell::NEW);
        self.used += Self::CELL_BYTES;
        self.coarse.push(cell);
        for entry in &mut self.entries[first..first + GRANULES] {
            if *entry == 0 {
                *entry = cell << CELL | WHOLE;
            }
        }
    }

    pub(crate) fn is_coarse_cell(&self, cell: u32) -> bool {
        self.is_coarse() && self.coarse.binary_search(&cell).is_ok()
    }

    /// True if memory was used up, so that some cells stand for more than what is accessed as a whole.
    pub fn is_coarse(&self) -> bool {
        !self.coarse.is_empty()
    }

    /// True if a store to a cell leaves some of it as it was.
    #[inline(always)]
    pub fn keeps(&self, cell: usize) -> bool {
        !self.coarse.is_empty() && u32::try_from(cell).is_ok_and(|cell| self.is_coarse_cell(cell))
    }

    /// A cell that [`Shadow::each`] found.
    #[inline(always)]
    pub fn cell(&mut self, cell: usize) -> &mut Cell<L, N, T> {
        &mut self.cells[cell]
    }

    /// Writes a cell: all of it, or some of it.
    #[inline(always)]
    pub fn write(&mut self, cell: usize, row: &Row<L, N>, by: u32, owner: u32) {
        let keeps = self.keeps(cell);
        let cell = &mut self.cells[cell];
        if keeps {
            raise(&mut cell.written, row);
            for (touched, lane) in cell.touched.iter_mut().zip(row) {
                *touched = deeper(*touched, *lane);
            }
        } else {
            cell.written = *row;
            cell.touched.copy_from_slice(&row[..T]);
        }
        cell.by = by;
        cell.owner = owner;
    }

    /// How often cells were split: an index that was found before is good as long as this stays.
    #[inline(always)]
    pub fn splits(&self) -> u64 {
        self.splits
    }

    /// The memory has new content, which came from nowhere: it was mapped.
    pub fn forget(&mut self, address: u64, len: u64) {
        self.most_used = self.bytes();
        let (from, to) = (address >> PAGE, address.saturating_add(len).div_ceil(1 << PAGE));
        // A program may map more than it ever touches.
        let known: Vec<u32> = if to.saturating_sub(from) > self.pages.len() as u64 {
            self.pages.iter().filter(|(page, _)| (from..to).contains(page)).map(|(_, table)| *table).collect()
        } else {
            (from..to).filter_map(|page| self.pages.get(&page).copied()).collect()
        };
        for table in known {
            let first = table as usize * GRANULES;
            for at in first..first + GRANULES {
                let entry = std::mem::take(&mut self.entries[at]);
                let cell = entry >> CELL;
                if COUNT[(entry & 7) as usize] > 0 && !self.is_coarse_cell(cell) {
                    self.drop_cells(cell, entry & 7);
                }
            }
        }
        if !self.cold.is_empty() {
            self.cold.forget_all(from * CHUNKS as u64..to * CHUNKS as u64);
        }
    }

    /// The most bytes that cells and tables took.
    pub fn bytes(&self) -> usize {
        // Cells and tables are kept for use again; packed ones are not.
        (self.cells.len() * Self::CELL_BYTES + self.entries.len() * 4 + self.cold.bytes()).max(self.most_used)
    }

    #[inline(always)]
    fn page(&mut self, page: u64) -> usize {
        let near = &self.near[near(page)];
        if near.0 == page {
            return near.1 as usize * GRANULES;
        }
        self.far_page(page)
    }

    #[cold]
    fn far_page(&mut self, page: u64) -> usize {
        let table = match self.pages.get(&page) {
            Some(table) => *table,
            None => self.new_table(page),
        };
        self.near[near(page)] = (page, table);
        table as usize * GRANULES
    }

    fn new_table(&mut self, page: u64) -> u32 {
        self.used += GRANULES * 4;
        let table = self.free_tables.pop().unwrap_or_else(|| {
            self.entries.resize(self.entries.len() + GRANULES, 0);
            self.numbers.push(NO_PAGE);
            u32::try_from(self.numbers.len() - 1).unwrap_or(0)
        });
        self.numbers[table as usize] = page;
        self.pages.insert(page, table);
        if !self.cold.is_empty() {
            for chunk in (0..CHUNKS).filter(|chunk| self.cold.has(page * CHUNKS as u64 + *chunk as u64)) {
                self.entries[table as usize * GRANULES + chunk * ENTRIES..][..ENTRIES].fill(PACKED);
            }
        }
        table
    }
}

/// Where a page is among those seen last.
#[inline(always)]
pub(crate) fn near(page: u64) -> usize {
    usize::try_from(page % NEAR as u64).unwrap_or(0)
}
