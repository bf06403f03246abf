//! For each byte of memory the last write, and all reads since.
//!
//! A [`Page`] of shadow has one cell for as many bytes as all accesses to them have covered as a whole: 8, 4, 2 or 1; an access that is
//! smaller or lies across splits a cell, so that the result is exact for each byte.
//!
//! Cells that a loop accesses at one distance from one another may be [runs](Run): what they hold is then kept for all of them at once.
//!
//! **Memory:** 16 bytes a cell, and 25 for each group of reads that a later write could distinguish from others.

mod cells;
mod page;
mod runs;
#[cfg(test)]
mod tests;
mod together;

use std::collections::HashMap;

pub use self::cells::{Cell, Reader, Readers, Site};
use self::page::{Page, PAGE};
use self::runs::RUN;
pub use self::runs::{Group, Moments, Numbers, Piece, Run};

/// Pages that are found without a table.
const RECENT: usize = 1024;

/// Where a page is found without a table.
#[inline]
fn recent(key: u64) -> usize {
    usize::try_from(key % RECENT as u64).unwrap_or(0)
}

/// The number of a cell in its run, in place of the moment at which it was written.
#[inline]
fn number(written: u64) -> u32 {
    (written & 0xffff_ffff) as u32
}

/// The shadow of an address space.
#[derive(Debug, Default)]
pub struct Shadow {
    index: HashMap<u64, u32, BuildHasher>,
    pages: Vec<Page>,
    /// Pages that were used last, + 1, by the last bits of their number.
    recent: Vec<(u64, u32)>,
    /// Groups of reads.
    pub readers: Readers,
    /// The cells of an access: page and cell.
    pub places: Vec<(u32, u32)>,
    /// Cells that are kept together.
    runs: Vec<Run>,
    free_runs: Vec<u32>,
    /// Cells that were looked at to become runs, and that did not have to be looked at since they belong to one.
    joined: u64,
    saved: u64,
}

/// Where an address is found.
#[derive(Clone, Copy, Debug)]
pub enum Found {
    /// It has a cell of its own: page and cell.
    Cell((u32, u32)),
    /// It belongs to a run: which one, and its number there.
    Run(u32, u32),
}

/// Multiplies by a constant: page numbers are no adversary's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hasher(u64);

/// Makes [`Hasher`]s.
pub type BuildHasher = std::hash::BuildHasherDefault<Hasher>;

impl std::hash::Hasher for Hasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        for byte in rest {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
    fn write_isize(&mut self, value: isize) {
        self.write_u64(value.cast_unsigned() as u64);
    }
    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Shadow {
    /// Looks for the cells of some bytes, which must not cross a page: they are in [`Shadow::places`] then.
    pub fn span(&mut self, address: u64, size: u64) {
        let mut places = std::mem::take(&mut self.places);
        let key = address / PAGE;
        let page = match self.recent.get(recent(key)) {
            Some(recent) if recent.0 == key + 1 => recent.1,
            _ => self.find(key),
        };
        let begin = address % PAGE;
        let (mut at, end) = (begin, begin + size);
        places.clear();
        while at < end {
            match self.pages[page as usize].cover((at, end)) {
                Ok((cells, next)) => {
                    places.extend(cells.map(|cell| (page, cell)));
                    at = next;
                }
                Err((cell, shift)) => {
                    if self.split((page, cell), shift) {
                        // All cells are others now.
                        places.clear();
                        at = begin;
                    }
                }
            }
        }
        for place in &places {
            self.own(*place);
        }
        self.places = places;
    }

    /// A cell becomes one of its own.
    #[inline]
    fn own(&mut self, (page, cell): (u32, u32)) {
        let Cell { written, writer, readers } = self.pages[page as usize].cells[cell as usize];
        if writer == RUN {
            self.cut(readers, number(written));
        }
    }

    /// The cell of an access that covers one cell, which must be there; `last`: number of a page, + 1, and where it is.
    #[inline]
    pub fn whole(&mut self, address: u64, shift: u32, last: &mut (u64, u32)) -> Option<(u32, u32)> {
        let place = self.locate(address, shift, last)?;
        self.own(place);
        Some(place)
    }

    /// The same, but for cells that belong to a run.
    #[inline]
    pub fn found(&mut self, address: u64, shift: u32, last: &mut (u64, u32)) -> Option<Found> {
        let (page, cell) = self.locate(address, shift, last)?;
        let Cell { written, writer, readers } = self.pages[page as usize].cells[cell as usize];
        Some(if writer == RUN { Found::Run(readers, number(written)) } else { Found::Cell((page, cell)) })
    }

    #[inline]
    fn locate(&mut self, address: u64, shift: u32, last: &mut (u64, u32)) -> Option<(u32, u32)> {
        let key = address / PAGE;
        if last.0 != key + 1 {
            *last = match self.recent.get(recent(key)) {
                Some(recent) if recent.0 == key + 1 => *recent,
                _ => (key + 1, self.look_up(key)?),
            };
        }
        Some((last.1, self.pages[last.1 as usize].whole(address % PAGE, shift)?))
    }

    /// A page that is found without the table from now on.
    fn look_up(&mut self, key: u64) -> Option<u32> {
        let page = *self.index.get(&key)?;
        if let Some(place) = self.recent.get_mut(recent(key)) {
            *place = (key + 1, page);
        }
        Some(page)
    }

    fn find(&mut self, key: u64) -> u32 {
        self.recent.resize(RECENT, (0, 0));
        let recent = recent(key);
        if let Some(page) = self.index.get(&key) {
            self.recent[recent] = (key + 1, *page);
            return *page;
        }
        let number = u32::try_from(self.pages.len()).unwrap_or(u32::MAX);
        self.pages.push(Page::new());
        self.index.insert(key, number);
        self.recent[recent] = (key + 1, number);
        number
    }

    /// Splits a cell; true if all cells of the page have become smaller.
    fn split(&mut self, (page, cell): (u32, u32), shift: u32) -> bool {
        for part in self.pages[page as usize].parts_of(cell) {
            self.own((page, part));
        }
        self.pages[page as usize].split(cell, shift, &mut self.readers);
        if !self.pages[page as usize].is_mostly_split() {
            return false;
        }
        self.dissolve_page(page);
        self.pages[page as usize].refine(shift, &mut self.readers);
        true
    }

    /// No cell of a page belongs to a run.
    fn dissolve_page(&mut self, page: u32) {
        for cell in 0..self.pages[page as usize].cells.len() {
            let Cell { writer, readers, .. } = self.pages[page as usize].cells[cell];
            if writer == RUN {
                self.dissolve(readers);
            }
        }
    }

    /// A cell.
    #[inline]
    pub fn cell(&mut self, (page, cell): (u32, u32)) -> (&mut Cell, &mut Readers) {
        (&mut self.pages[page as usize].cells[cell as usize], &mut self.readers)
    }

    /// The cell of an access that covers one cell, as [`Shadow::whole`] finds it, and the groups of reads.
    #[inline]
    pub fn whole_cell(&mut self, address: u64, shift: u32, last: &mut (u64, u32)) -> Option<(&mut Cell, &mut Readers)> {
        let (page, cell) = self.whole(address, shift, last)?;
        Some((self.pages.get_mut(page as usize)?.cells.get_mut(cell as usize)?, &mut self.readers))
    }

    /// Splits some bytes at the borders of pages.
    #[inline]
    pub fn pieces(address: u64, size: u64) -> impl Iterator<Item = (u64, u64)> {
        let end = address.saturating_add(size);
        let mut at = address;
        std::iter::from_fn(move || {
            let size = (PAGE - at % PAGE).min(end.saturating_sub(at));
            let piece = (at, size);
            at = at.saturating_add(size);
            (size > 0).then_some(piece)
        })
    }

    /// True if something is known of the page of a byte.
    pub fn is_known(&self, address: u64) -> bool {
        self.index.contains_key(&(address / PAGE))
    }

    /// True if the byte has been written.
    pub fn is_written(&self, address: u64) -> bool {
        let page = self.index.get(&(address / PAGE)).and_then(|page| self.pages.get(*page as usize));
        let cell = page.and_then(|page| page.at(address % PAGE));
        cell.is_some_and(|cell| match cell.writer {
            RUN => self.runs.get(cell.readers as usize).is_some_and(|run| run.writer(number(cell.written)) != 0),
            writer => writer != 0,
        })
    }

    /// Forgets some bytes.
    pub fn forget(&mut self, address: u64, size: u64) {
        for (at, size) in Shadow::pieces(address, size) {
            let key = at / PAGE;
            if !self.index.contains_key(&key) {
                continue;
            }
            self.span(at, size);
            let places = std::mem::take(&mut self.places);
            for place in &places {
                let (cell, readers) = self.cell(*place);
                readers.drop_list(cell.readers);
                *cell = Cell::default();
            }
            self.places = places;
        }
    }

    /// Forgets some bytes that hold other objects from now on.
    pub fn release(&mut self, address: u64, size: u64) {
        self.forget(address, size);
        for (at, size) in Shadow::pieces(address, size) {
            let Some(page) = self.look_up(at / PAGE).filter(|page| self.pages[*page as usize].count_freed(size)) else {
                continue;
            };
            self.dissolve_page(page);
            self.pages[page as usize].make_whole(&mut self.readers);
        }
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        let pages: usize = self.pages.iter().map(|page| page.cells.capacity() * size_of::<Cell>()).sum();
        let runs: usize = self.runs.iter().map(Run::bytes).sum();
        pages + self.readers.bytes() + runs
    }
}
