//! Waits of tasks for what others do.

use workspan_model::strand::{Creation, Event as Ends, Strand};
use workspan_model::{ContextId, Nanos};

use super::Walk;
use crate::log::entry::Entry;
use crate::log::input::{Logs, Stopped};
use crate::log::open::{Open, Step, Task};
use crate::log::rows::Part;
use crate::log::waits::{Key, Parked};

impl<L: Logs + ?Sized, E, P: FnMut(&[Strand], &[u64]) -> Result<(), E>> Walk<'_, '_, L, P> {
    /// The main thread ends. Who is still put aside then was woken by what is missing.
    pub(super) fn end_program(&mut self, part: Part) -> Result<bool, Stopped<E>> {
        let parked = self.waits.all_parked();
        if parked.is_empty() {
            self.open.rows.emit(Ends::End, part)?;
            return Ok(false);
        }
        self.found.cut += parked.len() as u64;
        self.open.rows.carry(part)?;
        self.waits.ready.extend(parked.into_iter().map(|parked| (0, parked)));
        self.track.cursor.end = self.track.cursor.at;
        Ok(true)
    }

    /// The strand has woken somebody.
    pub(super) fn wake(&mut self, entry: &Entry, part: Part) -> Step<E> {
        let Some(key) = Key::of(entry).filter(|key| self.waits.is_awaited(*key)) else {
            return self.open.rows.carry(part);
        };
        let woken = self.open.wake(self.waits.label(), part)?;
        // Positions within a team are its own: who waits outside goes on behind it.
        let team = self.open.stack.iter().position(|open| matches!(open, Open::Team { .. }));
        let depth = team.unwrap_or(self.open.stack.len());
        let parked = self.waits.wake(key, woken);
        self.waits.ready.extend(parked.into_iter().map(|parked| (depth, parked)));
        Ok(())
    }

    /// The strand has waited, and was woken: for a lock, if the number is 1.
    pub(super) fn awaits(&mut self, entry: &Entry, part: Part) -> Step<E> {
        let Some(key) = Key::of(entry) else {
            self.open.stray += 1;
            return self.open.rows.carry(part);
        };
        if entry.number != 1 {
            return self.behind(key, entry, part);
        }
        if self.waits.woken(key).is_none() && self.open.parkable().is_some() {
            return self.park(key, entry, part, true);
        }
        let from = self.open.wake(self.waits.label(), part)?;
        let nothing = self.open.rows.nothing(Some(part.context));
        self.behind(key, entry, nothing)?;
        let nothing = self.open.rows.nothing(Some(part.context));
        self.open.locked(from, nothing)?;
        self.waits.release(from.label);
        Ok(())
    }

    /// The strand goes on behind what was left under `key`.
    fn behind(&mut self, key: Key, entry: &Entry, part: Part) -> Step<E> {
        match self.waits.woken(key) {
            Some(woken) if woken.round == self.open.round() => {
                self.open.awaits(woken, part)?;
                self.waits.take(key);
            }
            None if self.open.parkable().is_some() => return self.park(key, entry, part, false),
            // Within the order of its construct it cannot wait: it comes as much later as it did.
            Some(_) | None => {
                self.waits.take(key);
                let raised = entry.group.map_or(0, u64::cast_signed);
                self.open.rows.carry(part)?;
                let nothing = self.open.rows.nothing(Some(part.context));
                self.open.rows.carry(Part { blocked: raised, ..nothing })?;
            }
        }
        Ok(())
    }

    /// The thread or task waits for what comes later: it ends here, and goes on there.
    fn park(&mut self, key: Key, entry: &Entry, part: Part, lock: bool) -> Step<E> {
        let Some(at) = self.open.parkable() else {
            return Ok(());
        };
        let group = match &self.open.stack[at] {
            Open::Task(task) => task.group,
            _ => None,
        };
        let raised = entry.group.map_or(0, u64::cast_signed);
        let regions = self.open.stack[at + 1..].iter().filter_map(|open| match open {
            Open::Region(context) => Some(*context),
            _ => None,
        });
        let regions: Vec<u32> = regions.collect();
        let cursor = self.track.cursor;
        let end = self.open.wake(self.waits.label(), part)?;
        self.open.close_to(at + 1)?;
        self.waits
            .park(key, Parked { cursor, end, regions, context: part.context, lock, group, is_late: false, raised });
        let nothing = self.open.rows.nothing(None);
        self.end(Some(nothing))?;
        Ok(())
    }

    /// The innermost group is about to be waited for: true if one of its tasks still waits, in this order, and goes on first.
    pub(super) fn goes_on_late(&mut self) -> bool {
        let Some(parked) = self.open.innermost_group().and_then(|group| self.waits.unpark_of(group)) else {
            return false;
        };
        self.waits.ready.push((self.open.stack.len(), Parked { is_late: true, ..parked }));
        true
    }

    /// Goes on with a thread or task that the running strand has woken.
    pub(super) fn resume_ready(&mut self) -> Result<bool, Stopped<E>> {
        let depth = self.open.stack.len();
        let innermost = self.open.innermost_group();
        // A group that was cut off is none any more.
        let is_there = |group: usize| self.open.groups.iter().any(|(_, place)| *place == group);
        let group_of = |parked: &Parked| parked.group.filter(|group| is_there(*group));
        let can_go_on = |parked: &Parked| group_of(parked).is_none_or(|group| innermost == Some(group));
        let Some(at) = self.waits.ready.iter().rposition(|(at, parked)| *at >= depth && can_go_on(parked)) else {
            return Ok(false);
        };
        let group = group_of(&self.waits.ready[at].1);
        let (_, parked) = self.waits.ready.remove(at);
        let creation = Creation { context: ContextId::ROOT, group: group.map(|_| 0), overhead: Nanos::ZERO };
        let nothing = self.open.rows.nothing(None);
        self.open.rows.emit(Ends::Spawn(creation), nothing)?;
        self.open.begin(Task {
            back: self.track.cursor,
            from: self.open.rows.position,
            group,
            creation,
            identity: 0,
            around: nothing.context,
            call: false,
            depended_on: false,
        });
        let nothing = self.open.rows.nothing(Some(parked.context));
        match parked.lock && !parked.is_late {
            true => self.open.locked(parked.end, nothing)?,
            false => self.open.awaits(parked.end, nothing)?,
        }
        self.waits.release(parked.end.label);
        if parked.is_late {
            let nothing = self.open.rows.nothing(Some(parked.context));
            self.open.rows.carry(Part { blocked: parked.raised, ..nothing })?;
        }
        for context in parked.regions {
            let event = Ends::Enter(self.open.rows.context(context));
            self.open.rows.bare(event, parked.context)?;
            self.open.stack.push(Open::Region(context));
        }
        self.track.cursor = parked.cursor;
        Ok(true)
    }
}
