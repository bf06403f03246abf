//! Following the program in serial order.

use workspan_model::strand::{Creation, Event as Ends, Strand};
use workspan_model::Nanos;
use workspan_wire::log::Event;

use super::entry::{Cursor, Entry, Source};
use super::index::Index;
use super::objects::{Rounds, Scope, Task};
use super::rows::{Part, Rows};
use super::{Converted, Logs, Stopped};

/// What has begun and not ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Open {
    /// Branches; where they began, and the longest so far.
    Fork { from: i64, best: i64 },
    /// A group; the end of its longest task.
    Group { last: i64 },
    /// A region.
    Region,
    /// A task.
    Task(Task),
    /// A team, and where the task that forked it goes on.
    Team { back: Cursor, identity: u64, from: i64 },
    /// One of its members.
    Member,
    /// A right branch that ran elsewhere.
    Right { back: Cursor },
    /// A strand that went on elsewhere.
    Handoff { back: Cursor },
    /// The turns at a serial resource, in a group of their own.
    Turns { back: Cursor, identity: u64, next: i64 },
    /// One of them.
    Turn,
    /// The item that it gave.
    Item { from: i64 },
}

impl Open {
    /// True for what is cut off by the end of a piece, never open across it.
    pub(super) fn is_inner(self) -> bool {
        matches!(self, Open::Fork { .. } | Open::Group { .. } | Open::Region | Open::Team { .. })
    }
}

/// A walk through the logs.
pub(super) struct Walk<'l, 's, L: ?Sized, P> {
    pub(super) source: Source<'l, L>,
    pub(super) index: Index,
    pub(super) rows: Rows<'s, P>,
    pub(super) cursor: Cursor,
    pub(super) open: Vec<Open>,
    /// Groups that are open: identity, place in `open`.
    pub(super) groups: Vec<(u64, usize)>,
    /// Of the open tasks and members, below the root's.
    pub(super) scopes: Vec<Scope>,
    /// Open teams.
    pub(super) teams: Vec<Rounds>,
    pub(super) found: Converted,
}

pub(super) type Step<E> = Result<(), Stopped<E>>;

impl<'l, 's, L: Logs + ?Sized, E, P: FnMut(&[Strand]) -> Result<(), E>> Walk<'l, 's, L, P> {
    pub(super) fn new(source: Source<'l, L>, index: Index, rows: Rows<'s, P>) -> Walk<'l, 's, L, P> {
        let cursor = Cursor { slot: 0, at: 0, end: 0 };
        // Each record has been read once for the index, or twice.
        let stray = source.stray / if rows.complete() { 1 } else { 2 };
        let found = Converted { stray, ..Converted::default() };
        Walk {
            source,
            index,
            rows,
            cursor,
            open: Vec::new(),
            groups: Vec::new(),
            scopes: vec![Scope::NEW],
            teams: Vec::new(),
            found,
        }
    }

    pub(super) fn run(mut self) -> Result<Converted, Stopped<E>> {
        let nowhere = self.cursor;
        let lone = self.index.lone(self.rows.complete());
        self.found.lone = lone.len() as u64;
        for piece in lone {
            self.lone(piece, nowhere)?;
        }
        if let Some(main) = self.index.main {
            let main = self.index.place(main);
            self.follow(main)?;
            while self.step()? {}
        } else {
            self.found.cut += 1;
            self.end(None)?;
        }
        self.rows.flush()?;
        self.found.strands = self.rows.strands;
        self.found.lost = self.index.pieces.iter().filter(|piece| !piece.placed).count() as u64;
        Ok(self.found)
    }

    /// A task that nobody created, as far as is known, begins at the program's start and is blocked until its own.
    fn lone(&mut self, piece: usize, back: Cursor) -> Step<E> {
        let piece = self.index.place(piece);
        let Some(entry) = self.follow(piece)? else {
            return Ok(());
        };
        let begun = if entry.event == Event::Turn { 0 } else { entry.n };
        let context = if entry.event == Event::Life { 0 } else { entry.context };
        let creation = Creation { context: self.rows.context(context), group: None, overhead: Nanos::ZERO };
        let nothing = self.rows.nothing(Some(0));
        self.rows.emit(Ends::Spawn(creation), nothing)?;
        let from = self.rows.position;
        self.begin(Task { back, from, group: None, creation, identity: 0, around: 0, call: false, depended_on: false });
        let nothing = self.rows.nothing(Some(context));
        self.rows.carry(Part { blocked: begun, ..nothing })?;
        while !self.open.is_empty() {
            self.step()?;
        }
        Ok(())
    }

    pub(super) fn entry(&mut self, cursor: Cursor) -> Result<Option<Entry>, Stopped<E>> {
        self.source.entry(cursor).map_err(Stopped::Read)
    }

    /// The entry at `cursor` that belongs to the piece itself: others that lie within are passed over.
    fn own(&mut self, mut cursor: Cursor, turns: bool) -> Result<(Cursor, Option<Entry>), Stopped<E>> {
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

    /// Takes the next entry. `false`: the program has ended.
    fn step(&mut self) -> Result<bool, Stopped<E>> {
        let Some(entry) = self.entry(self.cursor)? else {
            // The end of a member's last barrier need not be seen.
            let leaving = self.open.last().is_some_and(|open| matches!(open, Open::Member));
            let leaving = leaving && self.teams.last().is_some_and(|team| team.leaving);
            if self.rows.complete() && self.is_in_detached() {
                self.found.unfinished += 1;
            } else {
                self.found.cut += u64::from(!leaving);
            }
            return self.end(None);
        };
        self.cursor.at = entry.next;
        let part = Part::of(&entry, self.cursor.slot);
        match entry.event {
            Event::Fork => {
                self.rows.emit(Ends::Fork(iterations(&entry)), part)?;
                let from = self.rows.position;
                self.open.push(Open::Fork { from, best: i64::MIN });
            }
            Event::Next => self.next(part, iterations(&entry))?,
            Event::Join => {
                if self.close_down_to(|open| matches!(open, Open::Fork { .. }))? {
                    self.join(part)?;
                }
            }
            Event::Group => {
                let nothing = self.rows.nothing(Some(entry.context));
                self.group(entry.identity, nothing)?;
            }
            Event::Wait => {
                if self.is_waited_for() {
                    self.rows.carry(part)?;
                } else if self.close_down_to(|open| matches!(open, Open::Group { .. }))? {
                    self.wait(part)?;
                }
            }
            Event::Spawn | Event::Call => self.spawn(&entry, part)?,
            Event::Sync => self.sync(part, entry.number == 1)?,
            Event::After => self.scope().waits.push(entry.identity),
            Event::Team => self.team(&entry, part)?,
            Event::Barrier => self.barrier(part, entry.number == 1)?,
            Event::TeamEnd => {
                if self.close_down_to(|open| matches!(open, Open::Team { .. }))? {
                    self.team_end(part)?;
                }
            }
            Event::Suspend => match entry.with.and_then(|with| self.index.take(with.identity)) {
                Some(piece) => {
                    self.rows.carry(part)?;
                    self.follow(piece)?;
                }
                None => return self.end(Some(part)),
            },
            Event::Enter => {
                let mut context = entry.with.map_or(0, |with| with.context);
                if entry.with.is_some_and(|with| with.n == 1) {
                    context = self.loop_entered(context).unwrap_or(entry.context);
                }
                let event = Ends::Enter(self.rows.context(context));
                self.rows.emit(event, part)?;
                self.open.push(Open::Region);
            }
            Event::Leave => {
                if self.close_down_to(|open| matches!(open, Open::Region))? {
                    self.rows.emit(Ends::Leave, part)?;
                    self.open.pop();
                }
            }
            Event::Handoff => {
                self.rows.carry(part)?;
                if let Some(piece) = entry.with.and_then(|with| self.index.take(with.identity)) {
                    self.open.push(Open::Handoff { back: self.cursor });
                    self.follow(piece)?;
                }
            }
            Event::Cut => self.rows.cut(part)?,
            Event::Turns => self.turns(part)?,
            Event::Item => self.item(&entry, part)?,
            Event::End | Event::ItemEnd | Event::TurnEnd => return self.end(Some(part)),
            // Of another task, in between.
            Event::Begin | Event::Turn | Event::Resume | Event::Member => {
                let end = self.index.end_of(self.cursor.slot, entry.at).unwrap_or(entry.next);
                self.cursor.at = end.max(entry.next);
            }
            Event::Life | Event::Born | Event::Left | Event::Overhead | Event::Single => {}
            _ => self.found.stray += 1,
        }
        Ok(true)
    }

    /// True in a task, or the life of a thread, for which nobody waits.
    fn is_in_detached(&self) -> bool {
        let innermost = self.open.iter().rev().find(|open| !open.is_inner());
        matches!(innermost, Some(Open::Task(task)) if task.group.is_none() && !task.call && !task.depended_on)
    }

    /// Goes on with a piece, behind its first entry.
    pub(super) fn follow(&mut self, piece: Cursor) -> Result<Option<Entry>, Stopped<E>> {
        let first = self.entry(piece)?;
        self.cursor = Cursor { at: first.map_or(piece.end, |first| first.next), ..piece };
        Ok(first)
    }

    /// Closes what is open within the innermost construct of a kind, of this piece. `false`: there is none.
    pub(super) fn close_down_to(&mut self, kind: impl Fn(&Open) -> bool) -> Result<bool, Stopped<E>> {
        let place = self.open.iter().rposition(|open| kind(open) || !open.is_inner());
        match place {
            Some(place) if kind(&self.open[place]) => {
                self.close_to(place + 1)?;
                Ok(true)
            }
            _ => {
                self.found.stray += 1;
                Ok(false)
            }
        }
    }

    /// Ends all inner constructs from `place` on.
    pub(super) fn close_to(&mut self, place: usize) -> Step<E> {
        while self.open.len() > place {
            let nothing = self.rows.nothing(None);
            match self.open.last() {
                Some(Open::Fork { .. }) => self.join(nothing)?,
                Some(Open::Group { .. }) => self.wait(nothing)?,
                Some(Open::Team { .. }) => self.team_end(nothing)?,
                Some(Open::Region) => {
                    self.rows.emit(Ends::Leave, nothing)?;
                    self.open.pop();
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn join(&mut self, part: Part) -> Step<E> {
        self.rows.emit(Ends::Join, part)?;
        if let Some(Open::Fork { best, .. }) = self.open.pop() {
            self.rows.position = self.rows.position.max(best);
        }
        Ok(())
    }

    fn group(&mut self, identity: u64, part: Part) -> Step<E> {
        self.rows.emit(Ends::Group, part)?;
        self.groups.push((identity, self.open.len()));
        self.open.push(Open::Group { last: i64::MIN });
        Ok(())
    }

    fn wait(&mut self, part: Part) -> Step<E> {
        self.rows.emit(Ends::Wait, part)?;
        self.groups.pop();
        if let Some(Open::Group { last }) = self.open.pop() {
            self.rows.position = self.rows.position.max(last);
        }
        Ok(())
    }

    /// The left branch has ended; the right one is here, or elsewhere.
    fn next(&mut self, mut part: Part, number: u32) -> Step<E> {
        if !self.close_down_to(|open| matches!(open, Open::Fork { .. }))? {
            return Ok(());
        }
        let mut identity = 0;
        if let Some(late) = self.entry(self.cursor)?.filter(|entry| entry.event == Event::Late) {
            part.cost = part.cost.wrapping_add(late.n);
            part.blocked = part.blocked.wrapping_add(late.blocked);
            identity = late.with.map_or(0, |with| with.identity);
            self.cursor.at = late.next;
        }
        self.rows.emit(Ends::Next(number), part)?;
        let position = self.rows.position;
        if let Some(Open::Fork { from, best }) = self.open.last_mut() {
            *best = position.max(*best);
            self.rows.position = *from;
        }
        let (mut after, entry) = self.own(self.cursor, false)?;
        match entry {
            Some(Entry { event: Event::Elsewhere, identity: told, next, .. }) => {
                after.at = next;
                identity = told;
            }
            // Cut off while it waited.
            None => {}
            Some(_) => return Ok(()),
        }
        match self.index.take(identity) {
            Some(piece) => {
                self.open.push(Open::Right { back: after });
                self.follow(piece)?;
            }
            None if entry.is_some() => {
                self.cursor = after;
                let nothing = self.rows.nothing(None);
                self.join(nothing)?;
            }
            None => {}
        }
        Ok(())
    }

    /// The task's turns begin. All turns at the resource, whosever, stand where the first is taken.
    fn turns(&mut self, part: Part) -> Step<E> {
        let (first, entry) = self.own(self.cursor, false)?;
        let (mut back, left) = self.own(first, true)?;
        if let Some(left) = left.filter(|entry| entry.event == Event::Left) {
            back.at = left.next;
        }
        self.cursor = back;
        match entry {
            Some(Entry { event: Event::Turn, n: 0, identity, .. }) => {
                self.group(u64::MAX, part)?;
                self.open.push(Open::Turns { back, identity, next: 0 });
                self.next_turn()
            }
            _ => self.rows.carry(part),
        }
    }

    fn next_turn(&mut self) -> Step<E> {
        let Some(Open::Turns { back, identity, next }) = self.open.last().copied() else {
            return Ok(());
        };
        if let Some(piece) = self.index.take_turn(identity, next) {
            if let Some(Open::Turns { next, .. }) = self.open.last_mut() {
                *next += 1;
            }
            self.open.push(Open::Turn);
            self.follow(piece)?;
            return Ok(());
        }
        self.open.pop();
        self.cursor = back;
        let nothing = self.rows.nothing(None);
        self.wait(nothing)
    }

    fn item(&mut self, entry: &Entry, part: Part) -> Step<E> {
        if !matches!(self.open.last(), Some(Open::Turn)) {
            self.found.stray += 1;
            return self.rows.carry(part);
        }
        let context = self.rows.context(entry.context);
        let creation = Creation { context, group: Some(0), overhead: Nanos::ZERO };
        self.rows.emit(Ends::Spawn(creation), part)?;
        self.open.push(Open::Item { from: self.rows.position });
        Ok(())
    }

    /// A piece ends, or is cut off (`None`). `false`: so does the program.
    fn end(&mut self, part: Option<Part>) -> Result<bool, Stopped<E>> {
        let boundary = self.open.iter().rposition(|open| !open.is_inner());
        let mut part = part;
        if self.open.last().is_some_and(|open| open.is_inner()) {
            // The program ends in the middle: what there was is charged before all of it ends.
            if let Some(part) = part.take() {
                self.rows.carry(part)?;
            }
        }
        self.close_to(boundary.map_or(0, |place| place + 1))?;
        let nothing = self.rows.nothing(None);
        let part = part.unwrap_or(nothing);
        let Some(place) = boundary else {
            self.rows.emit(Ends::End, part)?;
            return Ok(false);
        };
        let kind = self.open[place];
        self.open.pop();
        match kind {
            Open::Task(task) => {
                self.rows.emit(Ends::End, part)?;
                self.ended(&task);
                self.cursor = task.back;
                if let Some(copy) = self.index.next(task.identity) {
                    let nothing = self.rows.nothing(Some(task.around));
                    self.begin_piece(
                        Task { creation: Creation { overhead: Nanos::ZERO, ..task.creation }, ..task },
                        copy,
                        nothing,
                    )?;
                }
            }
            Open::Member => {
                self.rows.emit(Ends::End, part)?;
                self.end_round();
                self.scopes.pop();
                self.next_member()?;
            }
            Open::Right { back } => {
                self.join(part)?;
                self.cursor = back;
            }
            Open::Handoff { back } => {
                self.rows.carry(part)?;
                self.cursor = back;
            }
            Open::Turn => {
                self.rows.carry(part)?;
                self.next_turn()?;
            }
            Open::Item { from } => {
                self.rows.emit(Ends::End, part)?;
                let group = self.groups.last().map(|(_, place)| *place);
                self.task_ended(group, from);
                self.open.pop();
                self.next_turn()?;
            }
            Open::Turns { .. } | Open::Fork { .. } | Open::Group { .. } | Open::Region | Open::Team { .. } => {}
        }
        Ok(true)
    }

    pub(super) fn task_ended(&mut self, group: Option<usize>, from: i64) {
        let position = self.rows.position;
        match group.and_then(|group| self.open.get_mut(group)) {
            Some(Open::Group { last }) => *last = position.max(*last),
            Some(Open::Team { .. }) => self.raise_round(),
            _ => {}
        }
        self.rows.position = from;
    }
}

/// Iterations of a branch.
fn iterations(entry: &Entry) -> u32 {
    entry.with.map_or(u32::from(entry.number), |with| u32::try_from(with.n).unwrap_or(u32::MAX))
}
