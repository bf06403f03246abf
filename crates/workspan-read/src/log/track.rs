//! Where in the logs a walk is.

use workspan_wire::log::Event;

use super::entry::{Cursor, Entry, Source};
use super::index::Index;
use super::input::{Logs, Stopped};

/// A place in the logs, with the pieces that are left.
pub(super) struct Track<'l, L: ?Sized> {
    source: Source<'l, L>,
    pub(super) index: Index,
    pub(super) cursor: Cursor,
}

impl<'l, L: Logs + ?Sized> Track<'l, L> {
    pub(super) fn new(source: Source<'l, L>, index: Index) -> Track<'l, L> {
        Track { source, index, cursor: Cursor { slot: 0, at: 0, end: 0 } }
    }

    /// The entry that comes next.
    pub(super) fn here<E>(&mut self) -> Result<Option<Entry>, Stopped<E>> {
        self.entry(self.cursor)
    }

    fn entry<E>(&mut self, cursor: Cursor) -> Result<Option<Entry>, Stopped<E>> {
        self.source.entry(cursor).map_err(Stopped::Read)
    }

    /// The entry at `cursor` that belongs to the piece itself: others that lie within are passed over.
    pub(super) fn own<E>(&mut self, mut cursor: Cursor, turns: bool) -> Result<(Cursor, Option<Entry>), Stopped<E>> {
        loop {
            let entry = self.entry(cursor)?;
            match entry {
                Some(Entry { event: Event::Begin | Event::Resume | Event::Member, at, next, .. }) => {
                    cursor.at = self.index.end_of(cursor.slot, at).unwrap_or(next).max(next);
                }
                Some(Entry { event: Event::Turn, at, next, .. }) if turns => {
                    cursor.at = self.index.end_of(cursor.slot, at).unwrap_or(next).max(next);
                }
                _ => return Ok((cursor, entry)),
            }
        }
    }

    /// Goes on with a piece, behind its first entry.
    pub(super) fn follow<E>(&mut self, piece: Cursor) -> Result<Option<Entry>, Stopped<E>> {
        let first = self.entry(piece)?;
        self.cursor = Cursor { at: first.map_or(piece.end, |first| first.next), ..piece };
        Ok(first)
    }
}
