//! Following the program in serial order: which record does what.

mod across;
mod waiting;

use workspan_model::strand::{Creation, Event as Ends, Strand};
use workspan_model::{ContextId, Nanos};
use workspan_wire::log::{Event, INNERMOST};

use crate::log::across::Running;
use crate::log::entry::{Cursor, Entry, Source};
use crate::log::index::Index;
use crate::log::input::{Converted, Logs, Stopped};
use crate::log::open::{Constructs, Open, Step, Task};
use crate::log::rows::{Part, Rows};
use crate::log::track::Track;
use crate::log::waits::Waits;

/// A walk through the logs.
pub(super) struct Walk<'l, 's, L: ?Sized, P> {
    track: Track<'l, L>,
    open: Constructs<'s, P>,
    waits: Waits,
    /// Loops whose pieces stand here, whoever ran them; with the place of each in what is open.
    across: Vec<(usize, Running)>,
    found: Converted,
}

impl<'l, 's, L: Logs + ?Sized, E, P: FnMut(&[Strand], &[u64]) -> Result<(), E>> Walk<'l, 's, L, P> {
    pub(super) fn new(source: Source<'l, L>, index: Index, rows: Rows<'s, P>) -> Walk<'l, 's, L, P> {
        // Each record has been read once for the index, or twice.
        let stray = source.stray / if rows.complete() { 1 } else { 2 };
        let found = Converted { stray, ..Converted::default() };
        let mut index = index;
        let waits = Waits::new(std::mem::take(&mut index.awaited));
        Walk { track: Track::new(source, index), open: Constructs::new(rows), waits, across: Vec::new(), found }
    }

    pub(super) fn run(mut self) -> Result<Converted, Stopped<E>> {
        let nowhere = self.track.cursor;
        let lone = self.track.index.lone(self.open.rows.complete());
        self.found.lone = lone.len() as u64;
        for piece in lone {
            self.lone(piece, nowhere)?;
        }
        if let Some(main) = self.track.index.main {
            let main = self.track.index.place(main);
            self.track.follow(main)?;
            self.open.rows.opening = true;
            while self.step()? {}
        } else {
            self.found.cut += 1;
            // Those that wait go on first.
            if self.end(None)? {
                while self.step()? {}
            }
        }
        self.open.rows.flush()?;
        self.found.stray += self.open.stray;
        self.found.strands = self.open.rows.strands;
        self.found.lost = self.track.index.pieces.iter().filter(|piece| !piece.placed).count() as u64;
        Ok(self.found)
    }

    /// A task that nobody created, as far as is known, begins at the program's start and is blocked until its own.
    fn lone(&mut self, piece: usize, back: Cursor) -> Step<E> {
        let piece = self.track.index.place(piece);
        let Some(entry) = self.track.follow(piece)? else {
            return Ok(());
        };
        let begun = if entry.event == Event::Turn { 0 } else { entry.n };
        let context = if entry.event == Event::Life { 0 } else { entry.context };
        let creation = Creation { context: self.open.rows.context(context), group: None, overhead: Nanos::ZERO };
        let nothing = self.open.rows.nothing(Some(0));
        self.open.rows.emit(Ends::Spawn(creation), nothing)?;
        let from = self.open.rows.position;
        self.open.begin(Task {
            back,
            from,
            group: None,
            creation,
            identity: 0,
            around: 0,
            call: false,
            depended_on: false,
        });
        let nothing = self.open.rows.nothing(Some(context));
        self.open.rows.carry(Part { blocked: begun, ..nothing })?;
        while !self.open.stack.is_empty() {
            self.step()?;
        }
        Ok(())
    }

    /// Takes the next entry. `false`: the program has ended.
    fn step(&mut self) -> Result<bool, Stopped<E>> {
        if self.resume_ready()? {
            return Ok(true);
        }
        let Some(entry) = self.track.here()? else {
            if self.open.rows.complete() && self.open.is_in_detached() {
                self.found.unfinished += 1;
            } else {
                self.found.cut += u64::from(!self.open.is_leaving());
            }
            return self.end(None);
        };
        self.track.cursor.at = entry.next;
        let part = Part::of(&entry, self.track.cursor.slot);
        if self.ends_piece_across(&entry) {
            return self.next_across(part).map(|()| true);
        }
        match entry.event {
            Event::Fork => {
                self.open.rows.emit(Ends::Fork(iterations(&entry)), part)?;
                let from = self.open.rows.position;
                self.open.stack.push(Open::Fork { from, best: i64::MIN });
                self.enter_across(&entry)?;
            }
            Event::Next => self.next(part, iterations(&entry))?,
            Event::Join => {
                if self.open.close_down_to(|open| matches!(open, Open::Fork { .. }))? {
                    self.open.join(part)?;
                }
            }
            Event::Group => {
                let nothing = self.open.rows.nothing(Some(entry.context));
                self.open.group(entry.identity, nothing)?;
            }
            Event::Wait => {
                if self.goes_on_late() {
                    self.track.cursor.at = entry.at;
                } else if self.open.is_waited_for() {
                    self.open.rows.carry(part)?;
                } else if self.open.close_down_to(|open| matches!(open, Open::Group { .. }))? {
                    self.open.wait(part)?;
                }
            }
            Event::Spawn | Event::Call => self.spawn(&entry, part)?,
            Event::Sync => self.open.sync(part, entry.number == 1)?,
            Event::After => self.open.scope().waits.push(entry.identity),
            Event::Team => self.team(&entry, part)?,
            Event::Barrier => self.open.barrier(part, entry.number == 1)?,
            Event::TeamEnd => {
                if self.open.close_down_to(|open| matches!(open, Open::Team { .. }))? {
                    self.open.team_end(part)?;
                }
            }
            Event::Suspend => match entry.with.and_then(|with| self.track.index.take(with.identity)) {
                Some(piece) => {
                    self.open.rows.carry(part)?;
                    self.track.follow(piece)?;
                }
                None => return self.end(Some(part)),
            },
            Event::Enter => {
                let mut context = entry.with.map_or(0, |with| with.context);
                if entry.with.is_some_and(|with| with.n == 1) {
                    context = self.open.loop_entered(context).unwrap_or(entry.context);
                }
                let event = Ends::Enter(self.open.rows.context(context));
                self.open.rows.emit(event, part)?;
                self.open.stack.push(Open::Region(context));
            }
            Event::Leave => {
                if self.open.close_down_to(|open| matches!(open, Open::Region(_)))? {
                    self.open.rows.emit(Ends::Leave, part)?;
                    self.open.stack.pop();
                }
            }
            Event::Handoff => {
                self.open.rows.carry(part)?;
                if let Some(piece) = entry.with.and_then(|with| self.track.index.take(with.identity)) {
                    self.open.stack.push(Open::Handoff { back: self.track.cursor });
                    self.track.follow(piece)?;
                }
            }
            Event::Cut => self.open.rows.cut(part)?,
            Event::Wake => self.wake(&entry, part)?,
            Event::Await => self.awaits(&entry, part)?,
            Event::Turns => self.turns(part)?,
            Event::Item => self.item(&entry, part)?,
            Event::End | Event::ItemEnd | Event::TurnEnd => return self.end(Some(part)),
            // Of another task, in between.
            Event::Begin | Event::Turn | Event::Resume | Event::Member => {
                let end = self.track.index.end_of(self.track.cursor.slot, entry.at).unwrap_or(entry.next);
                self.track.cursor.at = end.max(entry.next);
            }
            Event::Life | Event::Born | Event::Left | Event::Overhead | Event::Single => {}
            _ => self.open.stray += 1,
        }
        Ok(true)
    }

    /// The left branch has ended; the right one is here, or elsewhere.
    fn next(&mut self, mut part: Part, number: u32) -> Step<E> {
        if !self.open.close_down_to(|open| matches!(open, Open::Fork { .. }))? {
            return Ok(());
        }
        let mut identity = 0;
        if let Some(late) = self.track.here()?.filter(|entry| entry.event == Event::Late) {
            part.cost = part.cost.wrapping_add(late.n);
            part.blocked = part.blocked.wrapping_add(late.blocked);
            identity = late.with.map_or(0, |with| with.identity);
            self.track.cursor.at = late.next;
        }
        self.open.rows.emit(Ends::Next(number), part)?;
        let position = self.open.rows.position;
        if let Some(Open::Fork { from, best }) = self.open.stack.last_mut() {
            *best = position.max(*best);
            self.open.rows.position = *from;
        }
        let (mut after, entry) = self.track.own(self.track.cursor, false)?;
        match entry {
            Some(Entry { event: Event::Elsewhere, identity: told, next, .. }) => {
                after.at = next;
                identity = told;
            }
            // Cut off while it waited.
            None => {}
            Some(_) => return Ok(()),
        }
        match self.track.index.take(identity) {
            Some(piece) => {
                self.open.stack.push(Open::Right { back: after });
                self.track.follow(piece)?;
            }
            None if entry.is_some() => {
                self.track.cursor = after;
                let nothing = self.open.rows.nothing(None);
                self.open.join(nothing)?;
            }
            None => {}
        }
        Ok(())
    }

    /// The task's turns begin. All turns at the resource, whosever, stand where the first is taken.
    fn turns(&mut self, part: Part) -> Step<E> {
        let (first, entry) = self.track.own(self.track.cursor, false)?;
        let (mut back, left) = self.track.own(first, true)?;
        if let Some(left) = left.filter(|entry| entry.event == Event::Left) {
            back.at = left.next;
        }
        self.track.cursor = back;
        match entry {
            Some(Entry { event: Event::Turn, n: 0, identity, .. }) => {
                self.open.group(u64::MAX, part)?;
                self.open.stack.push(Open::Turns { back, identity, next: 0 });
                self.next_turn()
            }
            _ => self.open.rows.carry(part),
        }
    }

    fn next_turn(&mut self) -> Step<E> {
        let Some(Open::Turns { back, identity, next }) = self.open.stack.last().copied() else {
            return Ok(());
        };
        if let Some(piece) = self.track.index.take_turn(identity, next) {
            if let Some(Open::Turns { next, .. }) = self.open.stack.last_mut() {
                *next += 1;
            }
            self.open.stack.push(Open::Turn);
            self.track.follow(piece)?;
            return Ok(());
        }
        self.open.stack.pop();
        self.track.cursor = back;
        let nothing = self.open.rows.nothing(None);
        self.open.wait(nothing)
    }

    fn item(&mut self, entry: &Entry, part: Part) -> Step<E> {
        if !matches!(self.open.stack.last(), Some(Open::Turn)) {
            self.open.stray += 1;
            return self.open.rows.carry(part);
        }
        let context = self.open.rows.context(entry.context);
        let creation = Creation { context, group: Some(0), overhead: Nanos::ZERO };
        self.open.rows.emit(Ends::Spawn(creation), part)?;
        self.open.stack.push(Open::Item { from: self.open.rows.position });
        Ok(())
    }

    /// A piece ends, or is cut off (`None`). `false`: so does the program.
    fn end(&mut self, part: Option<Part>) -> Result<bool, Stopped<E>> {
        let boundary = self.open.stack.iter().rposition(|open| !open.is_inner());
        let mut part = part;
        if self.open.stack.last().is_some_and(|open| open.is_inner()) {
            // The program ends in the middle: what there was is charged before all of it ends.
            if let Some(part) = part.take() {
                self.open.rows.carry(part)?;
            }
        }
        self.open.close_to(boundary.map_or(0, |place| place + 1))?;
        let nothing = self.open.rows.nothing(None);
        let part = part.unwrap_or(nothing);
        let Some(place) = boundary else {
            return self.end_program(part);
        };
        let kind = self.open.stack[place];
        self.open.stack.pop();
        match kind {
            Open::Task(task) => {
                self.open.rows.emit(Ends::End, part)?;
                self.open.ended(&task);
                self.track.cursor = task.back;
                if let Some(copy) = self.track.index.next(task.identity) {
                    let nothing = self.open.rows.nothing(Some(task.around));
                    self.begin_piece(
                        Task { creation: Creation { overhead: Nanos::ZERO, ..task.creation }, ..task },
                        copy,
                        nothing,
                    )?;
                }
            }
            Open::Member => {
                self.open.end_member(part)?;
                self.next_member()?;
            }
            Open::Right { back } => {
                self.open.join(part)?;
                self.track.cursor = back;
            }
            Open::Handoff { back } => {
                self.open.rows.carry(part)?;
                self.track.cursor = back;
            }
            Open::Turn => {
                self.open.rows.carry(part)?;
                self.next_turn()?;
            }
            Open::Item { from } => {
                self.open.rows.emit(Ends::End, part)?;
                let group = self.open.groups.last().map(|(_, place)| *place);
                self.open.task_ended(group, from);
                self.open.stack.pop();
                self.next_turn()?;
            }
            Open::Turns { .. } | Open::Fork { .. } | Open::Group { .. } | Open::Region(_) | Open::Team { .. } => {}
        }
        Ok(true)
    }

    /// A task is created.
    fn spawn(&mut self, entry: &Entry, part: Part) -> Step<E> {
        let Some(with) = entry.with else {
            self.open.stray += 1;
            return self.open.rows.carry(part);
        };
        let mut overhead = Nanos::ZERO;
        let mut depended_on = false;
        let mut after = Vec::new();
        while let Some(next) = self.track.here()? {
            match next.event {
                Event::Overhead => overhead = Nanos(self.open.rows.nanos(next.identity.cast_signed())),
                Event::After if next.context == 0 && next.identity == 0 => depended_on = true,
                Event::After if next.context == 0 => after.push(next.identity),
                _ => break,
            }
            self.track.cursor.at = next.next;
        }
        let Some(piece) = self.track.index.next(with.identity) else {
            // It never ran.
            return self.open.rows.carry(part);
        };
        let group = match entry.group {
            Some(group) => self.open.groups.iter().rposition(|(identity, _)| *identity == group),
            None if with.n == INNERMOST => self.open.groups.len().checked_sub(1),
            None => None,
        };
        let outward = group.map(|group| u16::try_from(self.open.groups.len() - 1 - group).unwrap_or(u16::MAX));
        let group = group.map(|group| self.open.groups[group].1);
        let creation = Creation { context: self.open.rows.context(with.context), group: outward, overhead };
        let predecessors = self.open.predecessors(&after, part.context)?;
        let task = Task {
            back: self.track.cursor,
            from: self.open.rows.position,
            group,
            creation,
            identity: with.identity,
            around: part.context,
            call: entry.event == Event::Call,
            depended_on,
        };
        self.begin_piece(task, piece, part)?;
        self.open.rows.position = self.open.rows.position.max(predecessors);
        Ok(())
    }

    /// `part` ends with the creation of `task`, which begins with this piece.
    fn begin_piece(&mut self, task: Task, piece: usize, part: Part) -> Step<E> {
        let mut creation = task.creation;
        if self.track.index.pieces[piece].machinery {
            // Not counted as a task of any site.
            creation.context = ContextId::ROOT;
        }
        let event = if task.call { Ends::Call(creation) } else { Ends::Spawn(creation) };
        self.open.rows.emit(event, part)?;
        self.open.begin(Task { from: self.open.rows.position, ..task });
        let piece = self.track.index.place(piece);
        self.track.follow(piece)?;
        Ok(())
    }

    /// A team begins: its members, one after the other.
    fn team(&mut self, entry: &Entry, part: Part) -> Step<E> {
        let identity = entry.with.map_or(0, |with| with.identity);
        let size = self.track.index.count(identity);
        self.open.team(self.track.cursor, identity, size, part)?;
        self.next_member()
    }

    /// The next member begins, or the forking task goes on.
    fn next_member(&mut self) -> Step<E> {
        let Some(Open::Team { back, identity, from }) = self.open.stack.last().copied() else {
            return Ok(());
        };
        let Some(piece) = self.track.index.take(identity) else {
            self.track.cursor = back;
            return Ok(());
        };
        self.open.begin_member(from);
        self.track.follow(piece)?;
        Ok(())
    }
}

/// Iterations of a branch.
fn iterations(entry: &Entry) -> u32 {
    entry.with.map_or(u32::from(entry.number), |with| u32::try_from(with.n).unwrap_or(u32::MAX))
}
