//! Loops whose iterations wait for one another.
//!
//! Each iteration is a piece of such a loop, and they are spread over the members of the team, whose rows stand one member after the other. In
//! that order an iteration may wait for one that comes later. So all pieces stand where the first member enters the loop, in the order
//! of their iterations, as one thread would run them; for the other members the loop has none.

use std::collections::BTreeMap;

use workspan_wire::log::{ACROSS, ITERATION_BITS};

use super::entry::{Cursor, Entry};

/// A piece, from behind the entry before it up to the one that ends it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// The number of its first iteration that has had its source.
    order: u64,
    slot: usize,
    begin: u64,
    /// Where the entry begins that ends it, and the next one.
    last: u64,
    end: u64,
}

/// Where a member's part of a loop is over, by slot and where its first piece begins.
type Ends = BTreeMap<(usize, u64), u64>;

/// All such loops.
#[derive(Debug, Default)]
pub(super) struct Loops {
    pieces: BTreeMap<u64, Vec<Piece>>,
    ends: Ends,
}

/// The forks that are open in a piece of a task, while a log is read.
#[derive(Debug, Default)]
pub(super) struct Forks(Vec<Option<Part>>);

#[derive(Debug)]
struct Part {
    of: u64,
    slot: usize,
    first: u64,
    begin: u64,
    order: Option<u64>,
    pieces: Vec<Piece>,
}

impl Part {
    fn piece(&mut self, entry: &Entry) {
        let before = self.pieces.last().map_or(0, |last| last.order);
        let order = self.order.take().unwrap_or(before);
        self.pieces.push(Piece { order, slot: self.slot, begin: self.begin, last: entry.at, end: entry.next });
        self.begin = entry.next;
    }
}

/// Of an entry that opens a fork, by what such a loop is known.
pub(super) fn loop_of(entry: &Entry) -> Option<u64> {
    entry.with.map(|with| with.identity).filter(|identity| identity & ACROSS != 0)
}

impl Forks {
    /// A fork begins in the log of this slot.
    pub(super) fn fork(&mut self, entry: &Entry, slot: usize) {
        let begin = entry.next;
        let part = |of| Part { of, slot, first: begin, begin, order: None, pieces: Vec::new() };
        self.0.push(loop_of(entry).map(part));
    }

    /// A piece of the innermost fork ends.
    pub(super) fn next(&mut self, entry: &Entry) {
        if let Some(Some(part)) = self.0.last_mut() {
            part.piece(entry);
        }
    }

    /// Somebody may wait for an iteration's source.
    pub(super) fn wake(&mut self, entry: &Entry) {
        let Some(label) = entry.with.map(|with| with.identity) else { return };
        if let Some(Some(part)) = self.0.last_mut() {
            if label >> ITERATION_BITS == part.of >> ITERATION_BITS {
                part.order.get_or_insert(label & ((1 << ITERATION_BITS) - 1));
            }
        }
    }

    /// The innermost fork ends.
    pub(super) fn join(&mut self, entry: &Entry, loops: &mut Loops) {
        let Some(Some(mut part)) = self.0.pop() else { return };
        part.piece(entry);
        loops.ends.insert((part.slot, part.first), entry.next);
        loops.pieces.entry(part.of).or_default().append(&mut part.pieces);
    }
}

impl Loops {
    /// All logs have been read.
    pub(super) fn order(&mut self) {
        for pieces in self.pieces.values_mut() {
            pieces.sort_by_key(|piece| (piece.order, piece.slot, piece.begin));
        }
    }

    /// The part of a member that enters such a loop at `cursor`, behind the entry: where it is over, and, of the first one that does, all
    /// pieces. `None`: the log breaks off.
    pub(super) fn enter(&mut self, of: u64, cursor: Cursor) -> Option<(Cursor, Option<Running>)> {
        let at = *self.ends.get(&(cursor.slot, cursor.at))?;
        let back = Cursor { at, ..cursor };
        let running = self.pieces.remove(&of).map(|pieces| Running { pieces: pieces.into_iter(), last: (0, 0), back });
        Some((back, running))
    }
}

/// Such a loop whose pieces are under way.
#[derive(Debug)]
pub(super) struct Running {
    pieces: std::vec::IntoIter<Piece>,
    /// The slot of the one that is, and where the entry begins that ends it.
    last: (usize, u64),
    back: Cursor,
}

impl Running {
    /// Where the next piece is, which is under way from now on.
    pub(super) fn next(&mut self) -> Option<Cursor> {
        let Piece { slot, begin, last, end, .. } = self.pieces.next()?;
        self.last = (slot, last);
        Some(Cursor { slot, at: begin, end })
    }

    /// True of the entry that ends the piece that is under way.
    pub(super) fn is_last(&self, entry: &Entry, slot: usize) -> bool {
        self.last == (slot, entry.at)
    }

    /// Where the member goes on.
    pub(super) fn back(&self) -> Cursor {
        self.back
    }
}
