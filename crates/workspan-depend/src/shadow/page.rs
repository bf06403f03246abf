//! A page of shadow: cells of one size, and parts of those that smaller accesses have split.
//!
//! **Argument:** an access that covers a part of a cell splits it, so that the result is exact for each byte; the cells beside it stay whole,
//! since objects of all sizes lie on one page. Where most are split, the page gets smaller cells: then all of them are found at once. What
//! was allocated there is freed one day, and other objects come: then cells of which nothing is known are made whole again.
//!
//! **Memory:** behind the cells come the parts of those that are split, each time anew where parts become smaller: at most 14 for 8 bytes.

use super::cells::{Cell, Readers, Site};
use super::runs::RUN;

/// Bytes of memory that a page covers.
pub(super) const PAGE: u64 = 1 << 12;
/// Logarithm of the bytes that a cell covers at first.
const WHOLE: u32 = 3;
/// Bytes that are freed or allocated before a page is made whole.
const FREED: u64 = PAGE / 2;
/// Split cells after which a page may get smaller ones.
const FEW: u32 = 16;

/// What stands in place of the writer in a cell that is split: the parts begin where the reads would, the logarithm of their size is
/// the moment.
const SPLIT: Site = RUN - 1;

/// Cells of some bytes.
#[derive(Debug)]
pub(super) struct Page {
    /// Logarithm of the bytes that a cell covers.
    shift: u32,
    /// Cells, then parts of those that are split.
    pub(super) cells: Vec<Cell>,
    /// How many are split.
    split: u32,
    /// Bytes that were freed or allocated since it was made whole.
    freed: u64,
}

/// The parts of a cell, if it is split: the first one, and the logarithm of their size.
#[inline]
fn parts(cell: Cell) -> Option<(usize, u32)> {
    (cell.writer == SPLIT).then_some((cell.readers as usize, (cell.written & 7) as u32))
}

/// A cell that is split.
fn split(first: usize, shift: u32) -> Cell {
    Cell { written: shift.into(), writer: SPLIT, readers: number(first) }
}

/// A cell of its own that holds the same.
fn copy(cell: Cell, readers: &mut Readers) -> Cell {
    Cell { readers: readers.copy(cell.readers), ..cell }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(0)
}

impl Page {
    /// Nothing is known.
    pub(super) fn new() -> Page {
        Page { shift: WHOLE, cells: vec![Cell::default(); cells_of(WHOLE)], split: 0, freed: 0 }
    }

    /// The cell that covers these bytes, and no other.
    #[inline]
    pub(super) fn whole(&self, offset: u64, shift: u32) -> Option<u32> {
        if offset & ((1 << shift) - 1) != 0 {
            return None;
        }
        let at = index(offset >> self.shift);
        let cell = self.cells[at];
        if self.shift == shift {
            return (cell.writer != SPLIT).then_some(number(at));
        }
        let (first, of) = parts(cell)?;
        (of == shift).then(|| number(first + self.part(offset, shift)))
    }

    /// The cell of a byte.
    pub(super) fn at(&self, offset: u64) -> Option<&Cell> {
        let cell = self.cells.get(index(offset >> self.shift))?;
        match parts(*cell) {
            Some((first, of)) => self.cells.get(first + self.part(offset, of)),
            None => Some(cell),
        }
    }

    /// Which part of its cell a byte lies in.
    #[inline]
    fn part(&self, offset: u64, shift: u32) -> usize {
        index((offset & ((1 << self.shift) - 1)) >> shift)
    }

    /// The cells that cover some bytes from an offset on, of one cell at most, and where they end; the other way: which cell and how far it has
    /// to be split before.
    #[inline]
    pub(super) fn cover(&self, (from, end): (u64, u64)) -> Result<(std::ops::Range<u32>, u64), (u32, u32)> {
        let at = index(from >> self.shift);
        let to = end.min((at as u64 + 1) << self.shift);
        let least = (from | to).trailing_zeros();
        match parts(self.cells[at]) {
            None if least >= self.shift => Ok((number(at)..number(at) + 1, to)),
            Some((first, of)) if least >= of => {
                let part = number(first + self.part(from, of));
                Ok((part..part + number(index((to - from) >> of)), to))
            }
            _ => Err((number(at), least)),
        }
    }

    /// A cell, or its parts.
    pub(super) fn parts_of(&self, cell: u32) -> std::ops::Range<u32> {
        match parts(self.cells[cell as usize]) {
            Some((first, of)) => number(first)..number(first) + (1 << (self.shift - of)),
            None => cell..cell + 1,
        }
    }

    /// Splits a cell, none of which belongs to a run.
    pub(super) fn split(&mut self, cell: u32, shift: u32, readers: &mut Readers) {
        let begin = self.cells.len();
        let old = self.cells[cell as usize];
        let (first, of) = parts(old).unwrap_or((cell as usize, self.shift));
        self.split += u32::from(old.writer != SPLIT);
        for at in 0..1 << (self.shift - of) {
            let part = std::mem::take(&mut self.cells[first + at]);
            self.cells.push(part);
            for _ in 1..1 << (of - shift) {
                self.cells.push(copy(part, readers));
            }
        }
        self.cells[cell as usize] = split(begin, shift);
    }

    /// True if most cells are split of which anything is known.
    pub(super) fn is_mostly_split(&self) -> bool {
        if self.split < FEW || !self.split.is_power_of_two() {
            return false;
        }
        let known = self.cells[..cells_of(self.shift)].iter().filter(|cell| is_known(cell)).count();
        4 * self.split as usize >= 3 * known
    }

    /// Some bytes were freed or allocated; true if it is time to make the page whole.
    pub(super) fn count_freed(&mut self, size: u64) -> bool {
        self.freed += size;
        self.freed >= FREED && (self.shift < WHOLE || self.split > 0)
    }

    /// Makes cells whole of which nothing is known; none belongs to a run.
    pub(super) fn make_whole(&mut self, readers: &mut Readers) {
        let old = std::mem::take(&mut self.cells);
        let end = cells_of(WHOLE);
        let (mut cells, mut further) = (Vec::with_capacity(end), Vec::<Cell>::new());
        self.split = 0;
        for together in old[..cells_of(self.shift)].chunks(1 << (WHOLE - self.shift)) {
            // The parts of each, and the logarithm of their size.
            let parts_of = |cell: &Cell| match parts(*cell) {
                Some((first, of)) => (old[first..first + (1 << (self.shift - of))].to_vec(), of),
                None => (vec![*cell], self.shift),
            };
            let all: Vec<(Vec<Cell>, u32)> = together.iter().map(parts_of).collect();
            let least = all.iter().map(|(_, of)| *of).min().unwrap_or(WHOLE);
            if least == WHOLE || !all.iter().any(|(parts, _)| parts.iter().any(is_known)) {
                cells.push(if least == WHOLE { together[0] } else { Cell::default() });
                continue;
            }
            cells.push(split(end + further.len(), least));
            self.split += 1;
            for (parts, of) in &all {
                for part in parts {
                    further.push(*part);
                    further.extend((1..1 << (of - least)).map(|_| copy(*part, readers)));
                }
            }
        }
        cells.extend(further);
        (self.shift, self.cells, self.freed) = (WHOLE, cells, 0);
    }

    /// Makes all cells smaller, none of which belongs to a run.
    pub(super) fn refine(&mut self, shift: u32, readers: &mut Readers) {
        let (old, of_page) = (std::mem::take(&mut self.cells), self.shift);
        let (times, end) = (1 << (of_page - shift), cells_of(shift));
        let (mut cells, mut further) = (Vec::with_capacity(end), Vec::<Cell>::new());
        self.split = 0;
        for cell in &old[..cells_of(of_page)] {
            let (first, of) = parts(*cell).unwrap_or((cells.len() / times, of_page));
            if of >= shift {
                for part in &old[first..first + (1 << (of_page - of))] {
                    cells.push(*part);
                    for _ in 1..1 << (of - shift) {
                        cells.push(copy(*part, readers));
                    }
                }
                continue;
            }
            for parts in old[first..first + (1 << (of_page - of))].chunks(1 << (shift - of)) {
                cells.push(split(end + further.len(), of));
                further.extend(parts);
                self.split += 1;
            }
        }
        cells.extend(further);
        (self.shift, self.cells) = (shift, cells);
    }
}

/// Something is known of the bytes.
fn is_known(cell: &Cell) -> bool {
    cell.writer != 0 || cell.readers != 0
}

/// How many cells of a size cover a page.
fn cells_of(shift: u32) -> usize {
    index(PAGE >> shift)
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(0)
}
