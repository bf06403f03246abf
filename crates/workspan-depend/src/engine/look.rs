//! What one access of many iterations meets, before anything changes: how many of them find what is expected.
//!
//! **Cost:** for each piece of a run some comparisons, however many cells it has; for each other cell, the cell and its groups of reads.

use super::column::Column;
use super::strip::Habit;
use crate::shadow::{Cell, Found, Group, Numbers, Piece, Readers, Shadow, Site};
use crate::table::Kind;

/// Groups of reads of a cell that is read, at most.
const GROUPS: usize = 6;
/// Cells of a run that are not worth it.
const FEW: u32 = 8;

/// What reads and writes of a column may find.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) is_write: bool,
    /// Moments of reads of the site that belong together.
    pub(super) together: [(u64, u64); 2],
    /// When the loop began.
    pub(super) since: u64,
}

/// Where a column goes on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// A cell.
    Cell((u32, u32)),
    /// Some cells of a run.
    Run(u32, Numbers),
}

impl Column {
    /// Where it is in an iteration, up to another; a run that has nothing in common with it becomes cells.
    pub(super) fn next(
        &self,
        shadow: &mut Shadow,
        habit: &mut Habit,
        shift: u32,
        (at, to): (usize, usize),
    ) -> Option<Next> {
        let address = self.address(at);
        let found = shadow.found(address, shift, &mut habit.page);
        if found.is_none() && !shadow.is_known(address) {
            // Nobody has been here.
            shadow.span(address, 1 << shift);
            return shadow.whole(address, shift, &mut habit.page).map(Next::Cell);
        }
        let (number, first) = match found? {
            Found::Cell(place) => return Some(Next::Cell(place)),
            Found::Run(number, first) => (number, first),
        };
        let run = shadow.run(number)?;
        let (low, end) = run.bounds();
        let is_down = self.is_down();
        let left = if is_down { first + 1 - low } else { end - first };
        let count = left.min(u32::try_from(to - at).unwrap_or(u32::MAX));
        if self.is_even() && run.stride == self.distance() && (count >= FEW || count == end - low) {
            return Some(Next::Run(number, Numbers { first, count, is_down }));
        }
        if self.is_even() && run.stride != self.distance() && self.stride != 0 {
            shadow.dissolve(number);
        }
        shadow.whole(address, shift, &mut habit.page).map(Next::Cell)
    }

    /// How many of some iterations find what is expected.
    pub(super) fn good(
        &self,
        shadow: &mut Shadow,
        habit: &mut Habit,
        (shift, many): (u32, usize),
        bounds: &Bounds,
    ) -> usize {
        let site = habit.site;
        let mut at = 0;
        while at < many {
            match self.next(shadow, habit, shift, (at, many)) {
                None => return at,
                Some(Next::Cell(place)) => {
                    let (cell, readers) = shadow.cell(place);
                    if self.is_one {
                        let is_good = self.is_source(cell) && is_pushed(readers, cell, site, bounds.since);
                        return if is_good && !bounds.is_write { many } else { 0 };
                    }
                    let is_good = if bounds.is_write {
                        self.is_written(cell, readers)
                    } else {
                        self.is_source(cell) && is_read(readers, cell, site, bounds)
                    };
                    if !is_good {
                        return at;
                    }
                    at += 1;
                }
                Some(Next::Run(number, numbers)) => {
                    for (piece, numbers) in shadow.run(number).into_iter().flat_map(|run| run.pieces(numbers)) {
                        let found = if bounds.is_write {
                            self.writes(piece, numbers)
                        } else {
                            self.reads(piece, numbers, site, bounds)
                        };
                        at += found as usize;
                        if found < numbers.count {
                            return at;
                        }
                    }
                }
            }
        }
        many
    }

    /// The source of a read has written a cell; where there is none, nobody has.
    fn is_source(&self, cell: &Cell) -> bool {
        match self.sources.first() {
            Some(source) => cell.writer == source.site && source.is_at(cell.written),
            None => cell.writer == 0,
        }
    }

    /// The sources of a write are the last that have written and read a cell.
    fn is_written(&self, cell: &Cell, readers: &Readers) -> bool {
        let is_written = self.is_after_write();
        if is_written != (cell.writer != 0) || is_written && !self.is_source(cell) {
            return false;
        }
        let reads = &self.sources[usize::from(is_written)..];
        let (mut at, mut count) = (cell.readers, 0);
        while at != 0 {
            let reader = readers.get(at);
            // Those of several sites are in any order.
            if !reads.iter().any(|source| source.site == reader.site && source.is_at(reader.last)) {
                return false;
            }
            (at, count) = (reader.next, count + 1);
        }
        count == reads.len()
    }

    /// Its first source is a write, if it writes itself.
    fn is_after_write(&self) -> bool {
        self.sources.first().is_some_and(|source| source.kind == Kind::Waw)
    }

    /// How many numbers of a piece were written by the source.
    fn source_of(&self, piece: &Piece, numbers: Numbers) -> u32 {
        match self.sources.first() {
            Some(source) if piece.writer == source.site => piece.written.leading(numbers, (source.low, source.high)),
            None if piece.writer == 0 => numbers.count,
            _ => 0,
        }
    }

    /// The same as [`is_source`](Column::is_source) and [`is_read`], for many numbers.
    fn reads(&self, piece: &Piece, numbers: Numbers, site: Site, bounds: &Bounds) -> u32 {
        let of_source = self.source_of(piece, numbers);
        let mut of_site = piece.groups.iter().filter(|group| group.site == site);
        let (latest, former) = (of_site.next(), of_site.next());
        if of_site.next().is_some() || piece.groups.len() > GROUPS {
            return 0;
        }
        let (Some(latest), Some(former)) = (latest, former) else {
            return of_source;
        };
        let of_both = |(low, high): &(u64, u64)| {
            let former = former.last.leading(numbers, (*low, u64::MAX));
            former.min(latest.last.leading(numbers, (0, *high)))
        };
        of_source.min(bounds.together.iter().map(of_both).max().unwrap_or(0))
    }

    /// The same as [`is_written`](Column::is_written), for many numbers.
    fn writes(&self, piece: &Piece, numbers: Numbers) -> u32 {
        let is_written = self.is_after_write();
        let reads = &self.sources[usize::from(is_written)..];
        if is_written != (piece.writer != 0) || reads.len() != piece.groups.len() {
            return 0;
        }
        let of_group = |group: &Group| {
            let of_site = reads.iter().filter(|source| source.site == group.site);
            of_site.map(|source| group.last.leading(numbers, (source.low, source.high))).max().unwrap_or(0)
        };
        let of_source = if is_written { self.source_of(piece, numbers) } else { numbers.count };
        piece.groups.iter().map(of_group).fold(of_source, u32::min)
    }
}

/// A cell can be read in a new iteration: the site has two groups of reads at most, and then they belong together.
fn is_read(readers: &Readers, cell: &Cell, site: Site, bounds: &Bounds) -> bool {
    let (mut latest, mut former, mut count) = (None, None, 0);
    let mut at = cell.readers;
    while at != 0 {
        let reader = readers.get(at);
        if reader.site == site {
            match (latest, former) {
                (None, _) => latest = Some(reader.last),
                (_, None) => former = Some(reader.last),
                _ => return false,
            }
        }
        (at, count) = (reader.next, count + 1);
        if count > GROUPS {
            return false;
        }
    }
    let (Some(latest), Some(former)) = (latest, former) else {
        return true;
    };
    bounds.together.iter().any(|(low, high)| *low <= former && latest <= *high)
}

/// A cell that is read again and again: two groups of reads of the site in this loop are all that it has.
fn is_pushed(readers: &Readers, cell: &Cell, site: Site, since: u64) -> bool {
    let (head, next) = (readers.get(cell.readers), readers.get(readers.get(cell.readers).next));
    head.site == site && next.site == site && next.next == 0 && head.next != 0 && next.last >= since
}
