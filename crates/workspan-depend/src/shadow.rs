//! For each byte of memory the last write, and all reads since.
//!
//! A page of shadow has one cell for as many bytes as all accesses to the page have covered as a whole: 8, 4, 2 or 1; an access that is
//! smaller or lies across refines the page, so that the result is exact for each byte.
//!
//! **Memory:** 16 bytes a cell, and 32 for each group of reads that a later write could distinguish from others.

use std::collections::HashMap;

/// Number of a site: a place where memory is accessed; 0 is none.
pub type Site = u32;

/// The last write, and where the reads since begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    /// When it was written.
    pub written: u64,
    /// By which site; 0: not written.
    pub writer: Site,
    /// First group of reads; 0: none.
    pub readers: u32,
}

impl Cell {
    /// The last write, as a group of accesses.
    #[inline]
    pub fn write(&self) -> Reader {
        Reader { site: self.writer, next: 0, first: self.written, last: self.written }
    }
}

/// Reads by one site that no later write can distinguish, but for their distance.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader {
    /// Site.
    pub site: Site,
    /// The next group, or 0.
    pub next: u32,
    /// First read.
    pub first: u64,
    /// Last read.
    pub last: u64,
}

/// Groups of reads, by number, from 1. Empty, it has allocated nothing: it is taken out for each access.
#[derive(Debug, Default)]
pub struct Readers {
    all: Vec<Reader>,
    free: u32,
}

impl Readers {
    /// A group.
    #[inline]
    pub fn get(&self, number: u32) -> Reader {
        self.all.get((number as usize).wrapping_sub(1)).copied().unwrap_or_default()
    }

    /// A group in its place.
    #[inline]
    pub fn place(&mut self, number: u32) -> Option<&mut Reader> {
        self.all.get_mut((number as usize).wrapping_sub(1))
    }

    /// True if the groups of a list are few, each of another site, and none ends before a moment.
    #[inline]
    pub fn is_each_another(&self, first: u32, floor: u64) -> bool {
        let (mut sites, mut count, mut at) = ([0; 8], 0, first);
        while at != 0 {
            let Reader { site, next, last, .. } = self.get(at);
            if count == sites.len() || last < floor || sites[..count].contains(&site) {
                return false;
            }
            sites[count] = site;
            (count, at) = (count + 1, next);
        }
        true
    }

    /// Changes a group in its place.
    #[inline]
    pub fn change(&mut self, number: u32, change: impl FnOnce(&mut Reader)) {
        if let Some(place) = self.all.get_mut((number as usize).wrapping_sub(1)) {
            change(place);
        }
    }

    /// Changes a group.
    #[inline]
    pub fn set(&mut self, number: u32, reader: Reader) {
        if let Some(place) = self.all.get_mut((number as usize).wrapping_sub(1)) {
            *place = reader;
        }
    }

    /// A new group.
    #[inline]
    pub fn add(&mut self, reader: Reader) -> u32 {
        let number = self.free;
        if let Some(place) = self.place(number) {
            let next = std::mem::replace(place, reader).next;
            self.free = next;
            return number;
        }
        let number = u32::try_from(self.all.len() + 1).unwrap_or(0);
        if number != 0 {
            self.all.push(reader);
        }
        number
    }

    /// Gives a list back.
    #[inline]
    pub fn drop_list(&mut self, first: u32) {
        // Most lists have one group: the last one goes on with those that are free.
        let mut last = first;
        while last != 0 {
            let next = self.get(last).next;
            if next == 0 {
                let free = self.free;
                self.change(last, |reader| reader.next = free);
                self.free = first;
            }
            last = next;
        }
    }

    /// Gives one group of a list back; the one before it, if any, goes on after it.
    pub fn unlink(&mut self, before: u32, number: u32, cell: &mut Cell) {
        let next = self.get(number).next;
        if before == 0 {
            cell.readers = next;
        } else {
            let former = self.get(before);
            self.set(before, Reader { next, ..former });
        }
        self.set(number, Reader { next: self.free, ..Reader::default() });
        self.free = number;
    }

    /// A copy of a list.
    fn copy(&mut self, first: u32) -> u32 {
        let mut groups = Vec::new();
        let mut at = first;
        while at != 0 {
            let reader = self.get(at);
            groups.push(reader);
            at = reader.next;
        }
        groups.into_iter().rev().fold(0, |next, reader| self.add(Reader { next, ..reader }))
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Reader>()
    }
}

/// Bytes of memory that a page covers.
const PAGE: u64 = 1 << 12;
/// The same, as a number of cells.
const CELLS: usize = 1 << 12;
/// Pages that are found without a table.
const RECENT: usize = 1024;

/// Where a page is found without a table.
#[inline]
fn recent(key: u64) -> usize {
    usize::try_from(key % RECENT as u64).unwrap_or(0)
}

#[derive(Debug)]
struct Page {
    /// Logarithm of the bytes that a cell covers.
    shift: u32,
    cells: Vec<Cell>,
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

/// Cells of one page that an access covers.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    page: u32,
    first: u32,
    end: u32,
}

impl Span {
    /// How many cells there are.
    #[inline]
    pub fn count(self) -> u32 {
        self.end - self.first
    }

    /// Numbers of its cells.
    pub fn cells(self) -> impl Iterator<Item = (u32, u32)> {
        (self.first..self.end).map(move |cell| (self.page, cell))
    }
}

impl Shadow {
    /// The cells of some bytes, which must not cross a page.
    pub fn span(&mut self, address: u64, size: u64) -> Span {
        let key = address / PAGE;
        let page = match self.recent.get(recent(key)) {
            Some(recent) if recent.0 == key + 1 => recent.1,
            _ => self.find(key, address, size),
        };
        let mut shift = self.pages[page as usize].shift;
        let least = (address | size).trailing_zeros().min(3);
        if least < shift {
            self.refine(page, least);
            shift = least;
        }
        let offset = address % PAGE;
        let first = u32::try_from(offset >> shift).unwrap_or(0);
        let end = u32::try_from((offset + size) >> shift).unwrap_or(0);
        Span { page, first, end }
    }

    /// The cell of an access that covers one cell, which must be there; `last`: number of a page, + 1, and where it is.
    #[inline]
    pub fn whole(&mut self, address: u64, shift: u32, last: &mut (u64, u32)) -> Option<(u32, u32)> {
        let key = address / PAGE;
        if last.0 != key + 1 {
            *last = match self.recent.get(recent(key)) {
                Some(recent) if recent.0 == key + 1 => *recent,
                _ => (key + 1, self.look_up(key)?),
            };
        }
        let is_whole = self.pages[last.1 as usize].shift == shift && address & ((1 << shift) - 1) == 0;
        is_whole.then_some((last.1, ((address % PAGE) >> shift) as u32))
    }

    /// A page that is found without the table from now on.
    fn look_up(&mut self, key: u64) -> Option<u32> {
        let page = *self.index.get(&key)?;
        if let Some(place) = self.recent.get_mut(recent(key)) {
            *place = (key + 1, page);
        }
        Some(page)
    }

    fn find(&mut self, key: u64, address: u64, size: u64) -> u32 {
        self.recent.resize(RECENT, (0, 0));
        let recent = recent(key);
        if let Some(page) = self.index.get(&key) {
            self.recent[recent] = (key + 1, *page);
            return *page;
        }
        let shift = (address | size).trailing_zeros().min(3);
        let number = u32::try_from(self.pages.len()).unwrap_or(u32::MAX);
        self.pages.push(Page { shift, cells: vec![Cell::default(); CELLS >> shift] });
        self.index.insert(key, number);
        self.recent[recent] = (key + 1, number);
        number
    }

    fn refine(&mut self, page: u32, shift: u32) {
        let page = &mut self.pages[page as usize];
        let times = 1_usize << (page.shift - shift);
        let mut cells = Vec::with_capacity(page.cells.len() * times);
        for cell in &page.cells {
            cells.push(*cell);
            for _ in 1..times {
                let readers = if cell.readers == 0 { 0 } else { self.readers.copy(cell.readers) };
                cells.push(Cell { readers, ..*cell });
            }
        }
        *page = Page { shift, cells };
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
        let cell = page.and_then(|page| page.cells.get(((address % PAGE) >> page.shift) as usize));
        cell.is_some_and(|cell| cell.writer != 0)
    }

    /// Forgets some bytes.
    pub fn forget(&mut self, address: u64, size: u64) {
        for (at, size) in Shadow::pieces(address, size) {
            let key = at / PAGE;
            if !self.index.contains_key(&key) {
                continue;
            }
            let span = self.span(at, size);
            for place in span.cells() {
                let (cell, readers) = self.cell(place);
                readers.drop_list(cell.readers);
                *cell = Cell::default();
            }
        }
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        let pages: usize = self.pages.iter().map(|page| page.cells.capacity() * size_of::<Cell>()).sum();
        pages + self.readers.bytes()
    }
}
