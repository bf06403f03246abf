//! Memory as dependences see it: who wrote each word last, and who has read it since.
//!
//! A [`Cell`] stands for eight bytes that were always accessed as a whole, or else for four, two, or one: an access that
//! covers a cell in part splits it first, into cells that have the same history. So every byte's history is exact, and most
//! memory needs one cell for eight bytes. Cells of a page are found by a table of 512 numbers, pages by a hash table behind
//! a small direct-mapped one.
//!
//! **Bound**: no more than a given number of cells. When they are used up, new memory gets one cell for a page, which holds
//! the deepest of its accesses: dependences that are not there may appear, never the reverse ([`Shadow::is_coarse`]).

use std::collections::HashMap;

use crate::row::{deeper, raise, Lane, Row};

/// Bytes of a page, as a power of two.
const PAGE: u32 = 12;
/// Cells of a page, at eight bytes each.
const GRANULES: usize = 1 << (PAGE - 3);
/// Pages that are found without hashing.
const NEAR: usize = 1024;

/// How much a cell stands for: the lower three bits of an entry.
const WHOLE: u32 = 1;
const HALVES: u32 = 2;
const QUARTERS: u32 = 3;
const BYTES: u32 = 4;
/// How many cells there are then, for eight bytes.
const COUNT: [u32; 8] = [0, 1, 2, 4, 8, 8, 8, 8];
/// An entry has the number of its first cell above the kind.
const CELL: u32 = 3;

/// The history of some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Cell<L, const N: usize, const T: usize> {
    /// Depth of who wrote it last.
    pub written: Row<L, N>,
    /// Depth of who accessed it last, in the models with name dependences.
    pub touched: Row<L, T>,
    /// Frame that it belonged to then; 0 if it is not on the stack.
    pub owner: u32,
    /// Instruction that wrote it last; 0 if none.
    pub by: u32,
}

impl<L: Lane, const N: usize, const T: usize> Cell<L, N, T> {
    const NEW: Cell<L, N, T> = Cell { written: [L::START; N], touched: [L::START; T], owner: 0, by: 0 };
}

/// The memory of a program.
#[derive(Debug)]
pub struct Shadow<L, const N: usize, const T: usize> {
    cells: Vec<Cell<L, N, T>>,
    /// Entries of all pages, page by page.
    entries: Vec<u32>,
    pages: HashMap<u64, u32>,
    near: Vec<(u64, u32)>,
    /// Single cells that were split.
    free: Vec<u32>,
    most: usize,
    coarse: Vec<u32>,
    splits: u64,
}

impl<L: Lane, const N: usize, const T: usize> Shadow<L, N, T> {
    /// Memory that nobody has accessed, with at most this number of bytes for its cells.
    pub fn new(bytes: usize) -> Shadow<L, N, T> {
        Shadow {
            cells: vec![Cell::NEW],
            entries: Vec::new(),
            pages: HashMap::new(),
            near: vec![(u64::MAX, 0); NEAR],
            free: Vec::new(),
            most: (bytes / size_of::<Cell<L, N, T>>()).clamp(GRANULES, (u32::MAX >> CELL) as usize - GRANULES),
            coarse: Vec::new(),
            splits: 0,
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
        if kind == 0 && self.cells.len() + 8 > self.most {
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
            self.free.extend(cell..cell + COUNT[kind as usize]);
            self.new_cells(count as usize, |n| old[n])
        };
        self.entries[at] = new << CELL | wanted;
        parts(new, wanted)
    }

    fn new_cells(&mut self, count: usize, value: impl Fn(usize) -> Cell<L, N, T>) -> u32 {
        if count == 1 {
            if let Some(cell) = self.free.pop() {
                self.cells[cell as usize] = value(0);
                return cell;
            }
        }
        let first = self.cells.len();
        self.cells.extend((0..count).map(value));
        u32::try_from(first).unwrap_or(0)
    }

    /// One cell for all that is not known yet of a page.
    fn share_a_page(&mut self, at: usize) {
        let first = at / GRANULES * GRANULES;
        let cell = u32::try_from(self.cells.len()).unwrap_or(0);
        self.cells.push(Cell::NEW);
        self.coarse.push(cell);
        for entry in &mut self.entries[first..first + GRANULES] {
            if *entry == 0 {
                *entry = cell << CELL | WHOLE;
            }
        }
    }

    fn is_coarse_cell(&self, cell: u32) -> bool {
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
                if entry != 0 && !self.is_coarse_cell(cell) {
                    self.free.extend(cell..cell + COUNT[(entry & 7) as usize]);
                }
            }
        }
    }

    /// Bytes that cells and tables take.
    pub fn bytes(&self) -> usize {
        self.cells.len() * size_of::<Cell<L, N, T>>() + self.entries.len() * 4 + self.free.len() * 4
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
        let entries = &mut self.entries;
        let table = *self.pages.entry(page).or_insert_with(|| {
            let table = entries.len() / GRANULES;
            entries.resize(entries.len() + GRANULES, 0);
            u32::try_from(table).unwrap_or(0)
        });
        self.near[near(page)] = (page, table);
        table as usize * GRANULES
    }
}

/// Where a page is among those seen last.
#[inline(always)]
fn near(page: u64) -> usize {
    usize::try_from(page % NEAR as u64).unwrap_or(0)
}
