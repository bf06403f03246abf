//! What has accessed memory last, for each 8 bytes: two accesses beside each other, or a list of more.
//!
//! **Memory:** three times the pages that the program touched. **Cost:** a look-up of the page, mostly in a small table.

use std::collections::HashMap;

/// Cells of 8 bytes in a page.
const CELLS: usize = 512;
/// Pages that are found without a search.
const NEAR: usize = 256;

/// An access: who and when (a stamp), which operation, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Last {
    /// Number in [`super::stamps::Stamps`].
    pub(super) stamp: u32,
    pub(super) operation: u32,
    /// [`how`].
    pub(super) how: u32,
}

const WRITE: u32 = 1 << 8;
/// The module's number is above it.
const ATOMIC: u32 = 1 << 9;
const NONE: Last = Last { stamp: 0, operation: 0, how: 0 };
/// The cell's accesses are in a list. No access is to none of the bytes.
const LISTED: u32 = WRITE;

/// Bytes, write or read, atomic or not, and module in one number.
pub(super) fn how(bytes: u8, write: bool, atomic: bool, module: u32) -> u32 {
    u32::from(bytes) | if write { WRITE } else { 0 } | if atomic { ATOMIC } else { 0 } | module << 10
}

impl Last {
    pub(super) fn bytes(self) -> u8 {
        (self.how & 0xff) as u8
    }

    pub(super) fn write(self) -> bool {
        self.how & WRITE != 0
    }

    pub(super) fn atomic(self) -> bool {
        self.how & ATOMIC != 0
    }

    pub(super) fn module(self) -> u32 {
        self.how >> 10
    }

    /// What stands for both: this one if it is to the same bytes and more, in the same way, at the same time; one to the bytes of both
    /// if they are the same operation's.
    pub(super) fn for_both(self, other: Last) -> Option<Last> {
        let covers = self.how & other.how & 0xff == other.how & 0xff;
        let alike = self.stamp == other.stamp
            && (self.how ^ other.how) & (WRITE | ATOMIC) == 0
            && (covers || (self.operation, self.module()) == (other.operation, other.module()));
        alike.then_some(Last { how: self.how | if covers { 0 } else { other.how }, ..self })
    }

    fn is_there(self) -> bool {
        self.how & 0xff != 0
    }
}

/// The accesses of 8 bytes, in the order in which they came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell([Last; 2]);

/// What a cell holds.
pub(super) enum Held {
    Nothing,
    One(Last),
    Two(Last, Last),
    More,
}

impl Cell {
    pub(super) fn held(&self) -> Held {
        match self.0 {
            [first, _] if !first.is_there() => Held::Nothing,
            [first, second] if second.is_there() => Held::Two(first, second),
            [_, Last { how: LISTED, .. }] => Held::More,
            [first, _] => Held::One(first),
        }
    }

    pub(super) fn hold_one(&mut self, only: Last) {
        self.0 = [only, NONE];
    }

    pub(super) fn hold_two(&mut self, first: Last, second: Last) {
        self.0 = [first, second];
    }
}

type Page = Box<[Cell; CELLS]>;

/// The page of a cell, and where in it the cell is.
fn page_of(cell: u64) -> (u64, usize) {
    (cell / CELLS as u64, usize::try_from(cell % CELLS as u64).unwrap_or(0))
}

/// The shadow of all memory.
#[derive(Debug)]
pub(super) struct Shadow {
    /// Where the page of a number is.
    places: HashMap<u64, u32>,
    pages: Vec<Page>,
    /// Their numbers.
    numbers: Vec<u64>,
    /// Number of a page and where it is.
    near: Box<[(u64, u32); NEAR]>,
    lists: Vec<Vec<Last>>,
    free: Vec<u32>,
}

impl Default for Shadow {
    fn default() -> Shadow {
        let near = Box::new([(u64::MAX, 0); NEAR]);
        let (pages, numbers, lists, free) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Shadow { places: HashMap::new(), pages, numbers, near, lists, free }
    }
}

impl Shadow {
    /// The page of a cell.
    pub(super) fn page(&mut self, cell: u64) -> u32 {
        let (number, _) = page_of(cell);
        let near = &mut self.near[usize::try_from(number % NEAR as u64).unwrap_or(0)];
        if near.0 == number {
            return near.1;
        }
        let Shadow { places, pages, numbers, .. } = self;
        let found = *places.entry(number).or_insert_with(|| {
            numbers.push(number);
            pages.push(Box::new([Cell([NONE; 2]); CELLS]));
            u32::try_from(pages.len() - 1).expect("less than 16 TiB of memory")
        });
        *near = (number, found);
        found
    }

    /// A cell of a page.
    pub(super) fn cell(&mut self, page: u32, cell: u64) -> &mut Cell {
        &mut self.pages[page as usize][page_of(cell).1]
    }

    /// A read by a context that has read these bytes, and has learnt of nobody since. If nobody else writes here, there is nothing to
    /// ask: the old read stands for both. False: not so.
    pub(super) fn read_again(&mut self, (page, cell): (u32, u64), new: Last, is_mine: impl Fn(Last) -> bool) -> bool {
        let it = &mut self.pages[page as usize][page_of(cell).1];
        let lasts = match it.held() {
            Held::More => self.lists[it.0[1].stamp as usize].as_mut_slice(),
            Held::Two(..) => it.0.as_mut_slice(),
            _ => return false,
        };
        let mut own = None;
        for (at, last) in lasts.iter().enumerate() {
            if let (None, Some(both)) = (own, last.for_both(new)) {
                own = Some((at, both));
            } else if last.write() && !is_mine(*last) {
                return false;
            }
        }
        if let Some((at, both)) = own {
            lasts[at] = both;
        }
        own.is_some()
    }

    /// Takes all accesses out of a cell into an empty list.
    pub(super) fn take(&mut self, page: u32, cell: u64, into: &mut Vec<Last>) {
        let it = self.cell(page, cell);
        let held = it.held();
        let list = it.0[1].stamp;
        it.0 = [NONE; 2];
        match held {
            Held::Nothing => {}
            Held::One(first) => into.push(first),
            Held::Two(first, second) => into.extend([first, second]),
            Held::More => {
                std::mem::swap(into, &mut self.lists[list as usize]);
                self.free.push(list);
            }
        }
    }

    /// Puts accesses into a cell from which all were taken, and leaves an empty list.
    pub(super) fn put(&mut self, page: u32, cell: u64, lasts: &mut Vec<Last>) {
        let cells = match **lasts {
            [] => [NONE; 2],
            [only] => [only, NONE],
            [first, second] => [first, second],
            [first, ..] => {
                let list = self.free.pop().unwrap_or_else(|| {
                    self.lists.push(Vec::new());
                    u32::try_from(self.lists.len() - 1).expect("fewer lists than 16 GiB of cells")
                });
                std::mem::swap(&mut self.lists[list as usize], lasts);
                [first, Last { stamp: list, operation: 0, how: LISTED }]
            }
        };
        lasts.clear();
        self.cell(page, cell).0 = cells;
    }

    /// Forgets the accesses to cells, the last one included.
    pub(super) fn forget(&mut self, first: u64, last: u64) {
        let ((low, low_at), (high, high_at)) = (page_of(first), page_of(last));
        let numbers: Vec<u64> = if high - low > self.pages.len() as u64 {
            self.numbers.iter().copied().filter(|number| (low..=high).contains(number)).collect()
        } else {
            (low..=high).collect()
        };
        for number in numbers {
            let Some(page) = self.places.get(&number).copied() else {
                continue;
            };
            let from = if number == low { low_at } else { 0 };
            let to = if number == high { high_at } else { CELLS - 1 };
            let Shadow { pages, lists, free, .. } = self;
            for cell in &mut pages[page as usize][from..=to] {
                if matches!(cell.held(), Held::More) {
                    lists[cell.0[1].stamp as usize].clear();
                    free.push(cell.0[1].stamp);
                }
                cell.0 = [NONE; 2];
            }
        }
    }
}
