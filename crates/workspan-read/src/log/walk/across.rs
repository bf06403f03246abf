//! Loops whose iterations wait for one another: their pieces, in the order of the iterations.

use workspan_model::strand::{Event as Ends, Strand};

use super::Walk;
use crate::log::across::loop_of;
use crate::log::entry::Entry;
use crate::log::input::Logs;
use crate::log::open::{Open, Step};
use crate::log::rows::Part;

impl<L: Logs + ?Sized, E, P: FnMut(&[Strand], &[u64]) -> Result<(), E>> Walk<'_, '_, L, P> {
    /// A fork has begun: if it is such a loop's, and the first one, all pieces follow; otherwise the member has none.
    pub(super) fn enter_across(&mut self, entry: &Entry) -> Step<E> {
        let Some(of) = loop_of(entry) else { return Ok(()) };
        let Some((back, running)) = self.track.index.loops.enter(of, self.track.cursor) else { return Ok(()) };
        if let Some(mut running) = running {
            if let Some(first) = running.next() {
                self.across.push((self.open.stack.len() - 1, running));
                self.track.cursor = first;
                return Ok(());
            }
        }
        self.track.cursor = back;
        let nothing = self.open.rows.nothing(None);
        self.open.join(nothing)
    }

    /// True if a piece of such a loop ends here.
    pub(super) fn ends_piece_across(&self, entry: &Entry) -> bool {
        self.across.last().is_some_and(|(_, running)| running.is_last(entry, self.track.cursor.slot))
    }

    /// It has ended, after `part`.
    pub(super) fn next_across(&mut self, part: Part) -> Step<E> {
        let Some((place, mut running)) = self.across.pop() else { return Ok(()) };
        self.open.close_to(place + 1)?;
        let Some(next) = running.next() else {
            self.track.cursor = running.back();
            return self.open.join(part);
        };
        self.open.rows.emit(Ends::Next(1), part)?;
        let position = self.open.rows.position;
        if let Some(Open::Fork { from, best }) = self.open.stack.get_mut(place) {
            *best = position.max(*best);
            self.open.rows.position = *from;
        }
        self.track.cursor = next;
        self.across.push((place, running));
        Ok(())
    }
}
