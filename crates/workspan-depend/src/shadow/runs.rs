//! Runs: cells at one distance from one another, whose moments grow by the same steps from cell to cell.
//!
//! **Argument:** a run says of each of its cells what the cell itself would say. It can be cut anywhere, and each cell can be taken out of it.
//! A cell of a run names the run and its number there, so whoever comes to it finds the run.

use super::cells::{Cell, Reader, Readers, Site};

/// What stands in place of the writer in a cell that belongs to a run.
pub(super) const RUN: Site = Site::MAX;

/// A moment for each number, at the same distance from one to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// Of number 0.
    start: u64,
    step: u64,
}

impl Moments {
    /// From those of two numbers.
    pub fn through((number, moment): (u32, u64), step: u64) -> Moments {
        Moments { start: moment.wrapping_sub(u64::from(number).wrapping_mul(step)), step }
    }

    /// Of a number.
    #[inline]
    pub fn of(self, number: u32) -> u64 {
        self.start.wrapping_add(u64::from(number).wrapping_mul(self.step))
    }

    /// How many of some numbers, from the first on, have moments between two.
    pub fn leading(self, numbers: Numbers, (low, high): (u64, u64)) -> u32 {
        let is_within = |at: u32| (low..=high).contains(&self.of(numbers.get(at)));
        let Some(last) = numbers.count.checked_sub(1).filter(|_| is_within(0)) else {
            return 0;
        };
        if is_within(last) {
            return numbers.count;
        }
        // They grow or fall all along: those within are the first ones.
        let (mut within, mut beyond) = (0, last);
        while beyond - within > 1 {
            let middle = within + (beyond - within) / 2;
            if is_within(middle) {
                within = middle;
            } else {
                beyond = middle;
            }
        }
        beyond
    }
}

/// Some numbers of a run, up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The first one.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// Each is less than the one before.
    pub is_down: bool,
}

impl Numbers {
    /// One of them, from 0.
    #[inline]
    pub fn get(self, at: u32) -> u32 {
        if self.is_down {
            self.first - at
        } else {
            self.first + at
        }
    }

    /// The last one; there is one.
    #[inline]
    pub fn last(self) -> u32 {
        self.get(self.count - 1)
    }

    /// The least one, and the one behind the greatest.
    #[inline]
    fn bounds(self) -> (u32, u32) {
        if self.is_down {
            (self.first + 1 - self.count, self.first + 1)
        } else {
            (self.first, self.first + self.count)
        }
    }

    /// Those from one number on, up to another.
    fn within(self, (from, to): (u32, u32)) -> Numbers {
        let (low, end) = self.bounds();
        let (low, end) = (low.max(from), end.min(to));
        Numbers { first: if self.is_down { end - 1 } else { low }, count: end - low, is_down: self.is_down }
    }
}

/// A group of reads of each cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Site.
    pub site: Site,
    /// First read.
    pub first: Moments,
    /// Last read.
    pub last: Moments,
}

/// Neighbours in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Their least number, and the one behind the greatest.
    pub bounds: (u32, u32),
    /// Who has written them; 0: nobody.
    pub writer: Site,
    /// When.
    pub written: Moments,
    /// Reads since, in the order in which cells list them.
    pub groups: Vec<Group>,
}

impl Piece {
    /// All are read at these moments, each in a later iteration than before: the two groups of the site, if there are, become one.
    pub fn read(&mut self, site: Site, now: Moments) {
        let new = Group { site, first: now, last: now };
        let mut of_site = (0..self.groups.len()).filter(|at| self.groups[*at].site == site);
        if let (Some(latest), Some(former)) = (of_site.next(), of_site.next()) {
            self.groups[latest].first = self.groups[former].first;
            self.groups[..=former].rotate_right(1);
            self.groups[0] = new;
        } else {
            self.groups.insert(0, new);
        }
    }

    /// Puts a state into a cell.
    fn put(&self, number: u32, cell: &mut Cell, readers: &mut Readers) {
        let mut list = 0;
        for group in self.groups.iter().rev() {
            let (first, last) = (group.first.of(number), group.last.of(number));
            list = readers.add(Reader { site: group.site, next: list, first, last });
        }
        let written = if self.writer == 0 { 0 } else { self.written.of(number) };
        *cell = Cell { written, writer: self.writer, readers: list };
    }

    /// The one cell of a number.
    pub fn of_cell(number: u32, cell: &Cell, readers: &Readers) -> Piece {
        let through = |moment: u64| Moments::through((number, moment), 0);
        let (mut groups, mut at) = (Vec::new(), cell.readers);
        while at != 0 {
            let Reader { site, next, first, last } = readers.get(at);
            groups.push(Group { site, first: through(first), last: through(last) });
            at = next;
        }
        let written = if cell.writer == 0 { Moments::default() } else { through(cell.written) };
        Piece { bounds: (number, number + 1), writer: cell.writer, written, groups }
    }

    /// All numbers are others by the same difference.
    fn renumber(&mut self, by: u32) {
        let (low, end) = self.bounds;
        self.bounds = (low.wrapping_add(by), end.wrapping_add(by));
        let moments = self.groups.iter_mut().flat_map(|group| [&mut group.first, &mut group.last]);
        for moments in moments.chain([&mut self.written]) {
            *moments = Moments::through((self.bounds.0, moments.of(low)), moments.step);
        }
    }

    /// Takes in a piece behind it, if the moments of both follow from one another.
    fn take(&mut self, next: &Piece) -> bool {
        let is_same = self.writer == next.writer && self.groups.len() == next.groups.len();
        if !is_same || self.groups.iter().zip(&next.groups).any(|(one, other)| one.site != other.site) {
            return false;
        }
        let (one, other) = (self.bounds, next.bounds);
        let both = |own: &Moments, of_next: &Moments| {
            if own == of_next {
                return Some(*own);
            }
            let (last, first) = (own.of(one.1 - 1), of_next.of(other.0));
            // Through one number go all.
            match (one.1 - one.0 == 1, other.1 - other.0 == 1) {
                (true, true) => Some(Moments::through((other.0, first), first.wrapping_sub(last))),
                (true, false) => Some(*of_next).filter(|moments| moments.of(one.0) == last),
                (false, true) => Some(*own).filter(|moments| moments.of(other.0) == first),
                (false, false) => None,
            }
        };
        let written = if self.writer == 0 { Some(Moments::default()) } else { both(&self.written, &next.written) };
        let groups = self.groups.iter().zip(&next.groups);
        let groups = groups.map(|(own, of_next)| {
            let (first, last) = (both(&own.first, &of_next.first)?, both(&own.last, &of_next.last)?);
            Some(Group { site: own.site, first, last })
        });
        let (Some(written), Some(groups)) = (written, groups.collect::<Option<Vec<_>>>()) else {
            return false;
        };
        (self.written, self.groups, self.bounds.1) = (written, groups, other.1);
        true
    }
}

/// A run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Address of number 0, which it need not have.
    pub base: u64,
    /// Distance of neighbours.
    pub stride: u64,
    /// Logarithm of the bytes of a cell.
    pub shift: u32,
    /// What it consists of, in the order of numbers: nothing is missing.
    pieces: Vec<Piece>,
    /// How often it was cut in two since many of its cells were accessed at once.
    pub cuts: u32,
}

impl Run {
    /// A run of one piece.
    pub fn new(base: u64, stride: u64, shift: u32, piece: Piece) -> Run {
        Run { base, stride, shift, pieces: vec![piece], cuts: 0 }
    }

    /// It has no number any more.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    /// The least number, and the one behind the greatest.
    #[inline]
    pub fn bounds(&self) -> (u32, u32) {
        match (self.pieces.first(), self.pieces.last()) {
            (Some(first), Some(last)) => (first.bounds.0, last.bounds.1),
            _ => (0, 0),
        }
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Address of a number.
    #[inline]
    pub fn address(&self, number: u32) -> u64 {
        self.base.wrapping_add(u64::from(number) * self.stride)
    }

    /// The piece of a number.
    fn find(&self, number: u32) -> usize {
        match self.pieces.len() {
            1 => 0,
            _ => self.pieces.partition_point(|piece| piece.bounds.1 <= number),
        }
    }

    /// Who has written a number.
    pub fn writer(&self, number: u32) -> Site {
        self.pieces.get(self.find(number)).map_or(0, |piece| piece.writer)
    }

    /// Puts the state of a number into its cell.
    pub fn put(&self, number: u32, cell: &mut Cell, readers: &mut Readers) {
        *cell = Cell::default();
        if let Some(piece) = self.pieces.get(self.find(number)) {
            piece.put(number, cell, readers);
        }
    }

    /// A piece ends before a number.
    fn split(&mut self, number: u32) {
        let at = self.find(number);
        let Some(piece) = self.pieces.get_mut(at).filter(|piece| piece.bounds.0 < number) else {
            return;
        };
        let mut second = piece.clone();
        (piece.bounds.1, second.bounds.0) = (number, number);
        self.pieces.insert(at + 1, second);
    }

    /// Keeps the numbers below one; a run of those from there on.
    pub fn split_off(&mut self, number: u32) -> Run {
        self.split(number);
        let at = self.find(number);
        Run { pieces: self.pieces.split_off(at), ..*self }
    }

    /// Its first number is none of it any more.
    pub fn shrink(&mut self) {
        if let Some(first) = self.pieces.first_mut() {
            first.bounds.0 += 1;
            if first.bounds.0 == first.bounds.1 {
                self.pieces.remove(0);
            }
        }
    }

    /// Pieces of some numbers, in their order.
    pub fn pieces(&self, numbers: Numbers) -> impl Iterator<Item = (&Piece, Numbers)> {
        let (low, end) = numbers.bounds();
        let (first, last) = (self.find(low), self.find(end - 1));
        let count = last + 1 - first;
        (0..count).map(move |at| {
            let piece = &self.pieces[if numbers.is_down { last - at } else { first + at }];
            (piece, numbers.within(piece.bounds))
        })
    }

    /// Writes some numbers.
    pub fn write(&mut self, numbers: Numbers, site: Site, written: Moments) {
        let (first, end) = self.cut_out(numbers);
        let (_, to) = self.pieces[end - 1].bounds;
        self.pieces.drain(first + 1..end);
        let piece = &mut self.pieces[first];
        (piece.bounds.1, piece.writer, piece.written) = (to, site, written);
        piece.groups.clear();
        self.join(first, first + 1);
    }

    /// Reads some numbers.
    pub fn read(&mut self, numbers: Numbers, site: Site, now: Moments) {
        let (first, end) = self.cut_out(numbers);
        self.pieces[first..end].iter_mut().for_each(|piece| piece.read(site, now));
        self.join(first, end);
    }

    /// Makes pieces of some numbers alone; which they are.
    fn cut_out(&mut self, numbers: Numbers) -> (usize, usize) {
        let (low, end) = numbers.bounds();
        self.split(low);
        if end < self.bounds().1 {
            self.split(end);
        }
        (self.find(low), self.find(end - 1) + 1)
    }

    /// Pieces that are the same become one: some, and their neighbours.
    fn join(&mut self, first: usize, end: usize) {
        for at in (first.saturating_sub(1)..end).rev() {
            if let Some([piece, next]) = self.pieces.get_mut(at..at + 2) {
                if piece.take(next) {
                    self.pieces.remove(at + 1);
                }
            }
        }
    }

    /// Takes in a run behind it, which is numbered from another one on.
    pub fn append(&mut self, other: Run, by: u32) {
        for mut piece in other.pieces {
            piece.renumber(by);
            self.push(piece);
        }
    }

    /// Takes in a piece behind it.
    pub fn push(&mut self, piece: Piece) {
        if self.pieces.last_mut().is_none_or(|last| !last.take(&piece)) {
            self.pieces.push(piece);
        }
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        let groups: usize = self.pieces.iter().map(|piece| piece.groups.capacity() * size_of::<Group>()).sum();
        size_of::<Run>() + self.pieces.capacity() * size_of::<Piece>() + groups
    }
}
