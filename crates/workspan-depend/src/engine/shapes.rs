//! Shapes of frames, and what segments do in them, as [`super::shape`] finds it.

use std::collections::HashMap;

use workspan_trace::facts::Deed;

use crate::models::Child;
use crate::shadow::{BuildHasher, Cell, Reader, Readers, Site};

/// What became of the groups of reads when one was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noted {
    /// A new group is the first one.
    First,
    /// A group is longer: the one at that place of the list, from 0.
    Longer(u32),
    /// The second group took in the first one, which begins anew.
    Pushed,
    /// Of the groups at two places, the latter became part of the former; and a new group is the first one.
    Joined(u32, u32),
    /// Several did.
    Other,
}

/// One touch of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    pub(super) local: u32,
    pub(super) site: Site,
    pub(super) deed: Deed,
    /// What becomes of the reads; nothing: the touch is done as any other.
    pub(super) noted: Option<Noted>,
}

/// What a model waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Await {
    pub(super) model: u8,
    /// Level, from that of the frame.
    pub(super) level: u32,
    pub(super) child: Child,
}

/// What a model waits for at one level, on one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) model: u8,
    pub(super) level: u32,
    /// Where it is in [`Step::awaited`].
    pub(super) first: usize,
    pub(super) end: usize,
}

/// What a segment does in a shape.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// Shape afterwards.
    pub(super) to: u32,
    /// How often it was done again.
    pub(super) times: u64,
    /// Dependences that it finds.
    pub(super) records: Vec<u32>,
    pub(super) acts: Vec<Act>,
    /// What models wait for on the line that is noted.
    pub(super) awaits: Vec<Await>,
    /// The same of all lines before, by model and level.
    pub(super) groups: Vec<Group>,
    pub(super) awaited: Vec<Child>,
    /// Where acts and groups of each line end.
    pub(super) lines: Vec<(usize, usize)>,
}

impl Step {
    /// A line has been noted.
    pub(super) fn group(&mut self) {
        self.awaits.sort_by_key(|each| (each.model, each.level));
        for all in self.awaits.chunk_by(|a, b| (a.model, a.level) == (b.model, b.level)) {
            let first = self.awaited.len();
            self.awaited.extend(all.iter().map(|each| each.child));
            let end = self.awaited.len();
            self.groups.push(Group { model: all[0].model, level: all[0].level, first, end });
        }
        self.awaits.clear();
    }
}

/// How the touches of a segment are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// One by one.
    Each,
    /// One by one, and noted as a step.
    Noting,
    /// As a step that is known.
    Known(usize),
}

/// Shapes of a thread's frames.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    pub(super) numbers: HashMap<Box<[u32]>, u32, BuildHasher>,
    pub(super) after: HashMap<(u32, u64), u32, BuildHasher>,
    pub(super) step_of: HashMap<(u32, u32), usize, BuildHasher>,
    pub(super) steps: Vec<Step>,
    /// The step that is noted, and whether a touch of it is being done.
    pub(super) noting: Step,
    pub(super) is_active: bool,
    /// The touch cannot be part of a step.
    pub(super) is_hard: bool,
    pub(super) noted: Option<Noted>,
    pub(super) key: Vec<u32>,
    pub(super) segments: u64,
    /// Shapes do not come again in this program.
    pub(super) off: bool,
}

impl Shapes {
    /// A touch is being done that becomes part of a step.
    #[inline]
    pub(super) fn is_noting(&self) -> bool {
        self.is_active
    }

    /// A dependence was counted; `is_near`: the distance is always the same.
    #[inline]
    pub(super) fn found(&mut self, record: u32, is_near: bool) {
        if self.is_active {
            self.noting.records.push(record);
            self.is_hard |= !is_near;
        }
    }

    /// A model waits; the level is counted from that of the frame.
    #[inline]
    pub(super) fn waits(&mut self, model: usize, level: u32, child: Child) {
        if self.is_active {
            self.noting.awaits.push(Await { model: u8::try_from(model).unwrap_or(u8::MAX), level, child });
        }
    }

    /// A read was added to those since the last write.
    #[inline]
    pub(super) fn read(&mut self, noted: Noted) {
        if self.is_active {
            self.noted = Some(noted);
        }
    }

    /// A step was done again `times` times; the shape afterwards.
    #[inline]
    pub(super) fn done(&mut self, step: usize, times: u64) -> u32 {
        let step = &mut self.steps[step];
        step.times += times;
        step.to
    }

    /// What the touch does is not decided by the shape.
    #[inline]
    pub(super) fn hard(&mut self) {
        self.is_hard = true;
    }
}

/// A touch whose dependences are known.
#[inline]
pub(super) fn act(cell: &mut Cell, readers: &mut Readers, (site, deed, noted): (Site, Deed, Noted), now: u64) {
    if deed != Deed::Read {
        if cell.readers != 0 {
            readers.drop_list(cell.readers);
        }
        *cell = if deed == Deed::Write { Cell { written: now, writer: site, readers: 0 } } else { Cell::default() };
        return;
    }
    let mut is_new = true;
    match noted {
        Noted::First | Noted::Other => {}
        Noted::Longer(place) => {
            is_new = false;
            let number = group(cell, readers, place);
            readers.change(number, |known| known.last = now);
        }
        Noted::Pushed => {
            is_new = false;
            let head = readers.get(cell.readers);
            readers.change(head.next, |next| next.last = head.last);
            readers.change(cell.readers, |head| (head.first, head.last) = (now, now));
        }
        Noted::Joined(into, from) => {
            let (before, into) = (group(cell, readers, from - 1), group(cell, readers, into));
            let number = readers.get(before).next;
            let joined = readers.get(number);
            readers.unlink(before, number, cell);
            let longer = readers.get(into);
            readers.set(into, Reader { first: joined.first, ..longer });
        }
    }
    if is_new {
        cell.readers = readers.add(Reader { site, next: cell.readers, first: now, last: now });
    }
}

/// The group at a place of the list, from 0.
fn group(cell: &Cell, readers: &Readers, place: u32) -> u32 {
    (0..place).fold(cell.readers, |number, _| readers.get(number).next)
}
