//! What the touches of a segment do, noted while they are done one by one.
//!
//! **Argument:** the moments of a local's cell are copies of moments that the frame had before, or the time of a line of the segment. Which
//! is which follows from what became of its groups of reads ([`Noted`]), so it is the same whenever the shape is.

use super::slots::{Groups, Moment, Slots};
use super::step::{Await, Far, From, Noted, Step};
use crate::models::Child;
use crate::shadow::{Cell, Reader, Readers, Site};
use crate::table::Kind;
use crate::touches::Action;

/// Where the moments of a local's cell come from.
#[derive(Debug, Default)]
struct Traced {
    local: u32,
    written: Option<From>,
    readers: Vec<(From, From)>,
}

/// A step that is being noted.
#[derive(Debug, Default)]
pub(super) struct Noting {
    step: Step,
    traced: Vec<Traced>,
    /// The cell that is touched: its place among those that are traced, and its groups before.
    at: usize,
    groups: Vec<Reader>,
    noted: Option<Noted>,
    line: u32,
    /// A touch is being done.
    pub(super) is_active: bool,
    /// Something was done that is no part of a step.
    is_other: bool,
}

impl Noting {
    /// A segment begins.
    pub(super) fn begin(&mut self) {
        self.step = Step::default();
        self.traced.clear();
        (self.is_active, self.is_other, self.line) = (false, false, 0);
    }

    /// A line begins.
    pub(super) fn next_line(&mut self) {
        self.line += 1;
    }

    /// A local is touched, whose cell this is before.
    pub(super) fn touch(&mut self, slots: &mut Slots, readers: &Readers, (function, local): (u32, u32), cell: &Cell) {
        self.groups.clear();
        let mut at = cell.readers;
        while at != 0 {
            let reader = readers.get(at);
            self.groups.push(reader);
            at = reader.next;
        }
        self.at = match self.traced.iter().position(|traced| traced.local == local) {
            Some(at) => at,
            None => {
                let mut slot = |of: Moment| From::Slot(slots.of(function, local, of));
                let written = (cell.writer != 0).then(|| slot(Moment::Written));
                let (mut groups, mut readers) = (Groups::default(), Vec::new());
                for reader in &self.groups {
                    let group = groups.next(reader.site);
                    readers.push((slot(Moment::First(reader.site, group)), slot(Moment::Last(reader.site, group))));
                }
                self.traced.push(Traced { local, written, readers });
                self.traced.len() - 1
            }
        };
        (self.is_active, self.noted) = (true, None);
    }

    /// It has been touched; whether that changed its cell as far as is known.
    pub(super) fn touched(&mut self, deed: Action) {
        self.is_active = false;
        let now = From::Now(self.line);
        let traced = &mut self.traced[self.at];
        if deed == Action::Look {
            // It is not kept.
            return;
        }
        if deed != Action::Read {
            traced.readers.clear();
            traced.written = (deed == Action::Write).then_some(now);
            return;
        }
        match self.noted.take() {
            Some(Noted::First) => traced.readers.insert(0, (now, now)),
            Some(Noted::Longer(place)) if (place as usize) < traced.readers.len() => {
                traced.readers[place as usize].1 = now;
            }
            Some(Noted::Pushed) if traced.readers.len() > 1 => {
                traced.readers[1].1 = traced.readers[0].1;
                traced.readers[0] = (now, now);
            }
            Some(Noted::Joined(all)) => {
                for (into, from) in &all {
                    traced.readers[*into as usize].0 = traced.readers[*from as usize].0;
                }
                let mut place = 0;
                traced.readers.retain(|_| {
                    place += 1;
                    all.iter().all(|(_, from)| *from + 1 != place)
                });
                traced.readers.insert(0, (now, now));
            }
            _ => self.is_other = true,
        }
    }

    /// A read was added to those since the last write.
    #[inline]
    pub(super) fn read(&mut self, noted: impl FnOnce() -> Noted) {
        if self.is_active {
            self.noted = Some(noted());
        }
    }

    /// A dependence was counted; `far`: how many nodes it is carried from that of the frame, where the distance is another one each time.
    #[inline]
    pub(super) fn found(&mut self, kind: Kind, record: u32, source: Reader, far: Option<u32>) {
        if !self.is_active {
            return;
        }
        let Some(node) = far else {
            self.step.records.push(record);
            return;
        };
        let traced = &self.traced[self.at];
        let group = |is_it: &dyn Fn(&Reader) -> bool| {
            self.groups.iter().position(|group| group.site == source.site && is_it(group))
        };
        let moments = if kind == Kind::War {
            let first = group(&|group| group.first == source.first).and_then(|at| traced.readers.get(at));
            let last = group(&|group| group.last == source.last).and_then(|at| traced.readers.get(at));
            first.zip(last).map(|(first, last)| (first.0, last.1))
        } else {
            traced.written.map(|written| (written, written))
        };
        match moments {
            Some((first, last)) => self.step.far.push(Far { record, node, first, last }),
            None => self.is_other = true,
        }
    }

    /// A model waits; the level is counted from that of the frame.
    #[inline]
    pub(super) fn waits(&mut self, model: usize, level: u32, child: Child, is_top: bool) {
        if self.is_active {
            let model = u8::try_from(model).unwrap_or(u8::MAX);
            let new = Await { line: self.line, model, level, child, is_top };
            if !self.step.awaits.contains(&new) {
                self.step.awaits.push(new);
            }
        }
    }

    /// A read of what was never written.
    #[inline]
    pub(super) fn exposed(&mut self, site: Site) {
        if self.is_active {
            self.step.exposed.push(site);
        }
    }

    /// The segment has ended: its step, if it is one. `cells`: those of the frame.
    pub(super) fn end(
        &mut self,
        slots: &mut Slots,
        function: u32,
        to: u32,
        cells: &[Cell],
        readers: &Readers,
    ) -> Option<Step> {
        let mut step = std::mem::take(&mut self.step);
        if self.is_other || to == 0 {
            return None;
        }
        (step.to, step.lines) = (to, self.line);
        for traced in &self.traced {
            let cell = cells.get(traced.local as usize)?;
            let mut move_to = |of: Moment, from: From| {
                let slot = slots.of(function, traced.local, of);
                if from != From::Slot(slot) {
                    step.moves.push((slot, from));
                }
            };
            if (cell.writer != 0) != traced.written.is_some() {
                return None;
            }
            if let Some(from) = traced.written {
                move_to(Moment::Written, from);
            }
            let (mut at, mut groups, mut count) = (cell.readers, Groups::default(), 0);
            while at != 0 {
                let (first, last) = *traced.readers.get(count)?;
                let reader = readers.get(at);
                let group = groups.next(reader.site);
                move_to(Moment::First(reader.site, group), first);
                move_to(Moment::Last(reader.site, group), last);
                (at, count) = (reader.next, count + 1);
            }
            if count != traced.readers.len() {
                return None;
            }
        }
        Some(step)
    }
}
