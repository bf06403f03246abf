//! Tasks that are objects, and teams: as OpenMP has them, and rayon's spawned tasks.

use std::collections::BTreeMap;

use workspan_model::strand::{Creation, Event as Ends, Strand};
use workspan_model::{ContextId, Nanos};
use workspan_wire::log::{Event, INNERMOST};

use super::entry::{Cursor, Entry};
use super::rows::Part;
use super::walk::{Open, Step, Walk};
use super::Logs;

/// A task that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// Where its creator goes on.
    pub(super) back: Cursor,
    pub(super) from: i64,
    /// Place of its group in what is open.
    pub(super) group: Option<usize>,
    /// For further copies: how they are created, their identity, their creator's context.
    pub(super) creation: Creation,
    pub(super) identity: u64,
    pub(super) around: u32,
    /// Its creator goes on from its end.
    pub(super) call: bool,
    /// Others may come after it.
    pub(super) depended_on: bool,
}

/// What a task knows of those that it has created.
#[derive(Debug)]
pub(super) struct Scope {
    /// The latest end.
    children: i64,
    created: u32,
    /// Those that others may come after: number and end, by identity.
    known: BTreeMap<u64, (u32, i64)>,
    /// For what the next wait waits.
    pub(super) waits: Vec<u64>,
    /// Groups that a barrier has ended.
    waited: u32,
}

impl Scope {
    pub(super) const NEW: Scope =
        Scope { children: i64::MIN, created: 0, known: BTreeMap::new(), waits: Vec::new(), waited: 0 };
}

/// The rounds of a team.
#[derive(Debug)]
pub(super) struct Rounds {
    /// The longest of each, as if it began where the team does.
    best: Vec<i64>,
    round: usize,
    /// Contexts of its loops, and how many the member has entered.
    loops: Vec<u32>,
    entered: usize,
    /// The member has arrived at its last barrier.
    pub(super) leaving: bool,
}

impl<L: Logs + ?Sized, E, P: FnMut(&[Strand]) -> Result<(), E>> Walk<'_, '_, L, P> {
    /// The running task's.
    pub(super) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::NEW);
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// A task is created.
    pub(super) fn spawn(&mut self, entry: &Entry, part: Part) -> Step<E> {
        let Some(with) = entry.with else {
            self.found.stray += 1;
            return self.rows.carry(part);
        };
        let mut overhead = Nanos::ZERO;
        let mut depended_on = false;
        let mut after = Vec::new();
        while let Some(next) = self.entry(self.cursor)? {
            match next.event {
                Event::Overhead => overhead = Nanos(self.rows.nanos(next.identity.cast_signed())),
                Event::After if next.context == 0 && next.identity == 0 => depended_on = true,
                Event::After if next.context == 0 => after.push(next.identity),
                _ => break,
            }
            self.cursor.at = next.next;
        }
        let Some(piece) = self.index.next(with.identity) else {
            // It never ran.
            return self.rows.carry(part);
        };
        let group = match entry.group {
            Some(group) => self.groups.iter().rposition(|(identity, _)| *identity == group),
            None if with.n == INNERMOST => self.groups.len().checked_sub(1),
            None => None,
        };
        let outward = group.map(|group| u16::try_from(self.groups.len() - 1 - group).unwrap_or(u16::MAX));
        let group = group.map(|group| self.groups[group].1);
        let creation = Creation { context: self.rows.context(with.context), group: outward, overhead };
        let predecessors = self.predecessors(&after, part.context)?;
        let task = Task {
            back: self.cursor,
            from: self.rows.position,
            group,
            creation,
            identity: with.identity,
            around: part.context,
            call: entry.event == Event::Call,
            depended_on,
        };
        self.begin_piece(task, piece, part)?;
        self.rows.position = self.rows.position.max(predecessors);
        Ok(())
    }

    /// The next task comes after these of its siblings. Where the latest of them has ended.
    fn predecessors(&mut self, identities: &[u64], context: u32) -> Result<i64, super::Stopped<E>> {
        let mut latest = i64::MIN;
        for identity in identities {
            if let Some((number, end)) = self.scope().known.get(identity).copied() {
                latest = latest.max(end);
                self.rows.bare(Ends::After(number), context)?;
            }
        }
        Ok(latest)
    }

    /// `part` ends with the creation of `task`, which begins with this piece.
    pub(super) fn begin_piece(&mut self, task: Task, piece: usize, part: Part) -> Step<E> {
        let mut creation = task.creation;
        if self.index.pieces[piece].machinery {
            // Not counted as a task of any site.
            creation.context = ContextId::ROOT;
        }
        let event = if task.call { Ends::Call(creation) } else { Ends::Spawn(creation) };
        self.rows.emit(event, part)?;
        self.begin(Task { from: self.rows.position, ..task });
        let piece = self.index.place(piece);
        self.follow(piece)?;
        Ok(())
    }

    /// A task begins.
    pub(super) fn begin(&mut self, task: Task) {
        self.open.push(Open::Task(task));
        self.scopes.push(Scope::NEW);
    }

    /// A task has ended: its creator goes on.
    pub(super) fn ended(&mut self, task: &Task) {
        self.scopes.pop();
        let end = self.rows.position;
        let scope = self.scope();
        let number = scope.created;
        scope.created += 1;
        if task.depended_on {
            scope.known.insert(task.identity, (number, end));
        }
        if !task.call {
            scope.children = scope.children.max(end);
        }
        self.task_ended(task.group.filter(|_| !task.call), if task.call { end } else { task.from });
    }

    /// The task waits for its children, or for some of them.
    pub(super) fn sync(&mut self, part: Part, some: bool) -> Step<E> {
        if !some {
            self.rows.emit(Ends::Sync, part)?;
            self.rows.position = self.rows.position.max(self.scope().children);
            return Ok(());
        }
        let waits = std::mem::take(&mut self.scope().waits);
        let latest = self.predecessors(&waits, part.context)?;
        if latest == i64::MIN {
            return self.rows.carry(part);
        }
        // As if it called a task that does nothing after those.
        let creation = Creation { context: ContextId::ROOT, group: None, overhead: Nanos::ZERO };
        self.rows.emit(Ends::Call(creation), part)?;
        self.rows.position = self.rows.position.max(latest);
        self.rows.bare(Ends::End, part.context)?;
        self.scope().created += 1;
        Ok(())
    }

    /// A team begins: its members, one after the other.
    pub(super) fn team(&mut self, entry: &Entry, part: Part) -> Step<E> {
        let identity = entry.with.map_or(0, |with| with.identity);
        let size = self.index.count(identity);
        self.rows.emit(Ends::Team(u32::try_from(size).unwrap_or(u32::MAX)), part)?;
        self.groups.push((u64::MAX, self.open.len()));
        self.open.push(Open::Team { back: self.cursor, identity, from: self.rows.position });
        self.teams.push(Rounds { best: Vec::new(), round: 0, loops: Vec::new(), entered: 0, leaving: false });
        self.next_member()
    }

    /// The next member begins, or the forking task goes on.
    pub(super) fn next_member(&mut self) -> Step<E> {
        let Some(Open::Team { back, identity, from }) = self.open.last().copied() else {
            return Ok(());
        };
        let Some(piece) = self.index.take(identity) else {
            self.cursor = back;
            return Ok(());
        };
        if let Some(team) = self.teams.last_mut() {
            (team.round, team.entered, team.leaving) = (0, 0, false);
        }
        self.rows.position = from;
        self.open.push(Open::Member);
        self.scopes.push(Scope::NEW);
        self.follow(piece)?;
        Ok(())
    }

    /// A member arrives at a barrier.
    pub(super) fn barrier(&mut self, part: Part, last: bool) -> Step<E> {
        let member = self.open.iter().rposition(|open| !matches!(open, Open::Region | Open::Group { .. }));
        let Some(at) = member.filter(|at| matches!(self.open[*at], Open::Member)) else {
            self.found.stray += 1;
            return self.rows.carry(part);
        };
        // Groups that the runtime opens for reductions last over the barrier, which waits for their tasks anyway.
        let is_group = |open: &Open| matches!(open, Open::Group { .. });
        if let Some(first) = self.open[at..].iter().position(is_group) {
            let groups = self.open[at..].iter().filter(|open| is_group(open)).count();
            self.scope().waited += u32::try_from(groups).unwrap_or(u32::MAX);
            self.close_to(at + first)?;
        }
        self.rows.emit(Ends::Barrier, part)?;
        self.end_round();
        if let Some(team) = self.teams.last_mut() {
            team.round += 1;
            team.leaving = last;
        }
        if let Some(Open::Team { from, .. }) = at.checked_sub(1).map(|team| self.open[team]) {
            self.rows.position = from;
        }
        // All of them have ended.
        self.scope().children = i64::MIN;
        Ok(())
    }

    /// A member enters a loop. Not all learn which one (`context` is 0 then); the first does. Its context.
    pub(super) fn loop_entered(&mut self, context: u32) -> Option<u32> {
        let known = (context != 0).then_some(context);
        let Some(team) = self.teams.last_mut() else {
            return known;
        };
        let at = team.entered;
        team.entered += 1;
        if team.loops.len() <= at {
            team.loops.resize(at + 1, 0);
        }
        let first = &mut team.loops[at];
        if *first == 0 {
            *first = context;
        }
        known.or((*first != 0).then_some(*first))
    }

    /// True if the group whose end is reported has ended already; then that is used up.
    pub(super) fn is_waited_for(&mut self) -> bool {
        let open = self.open.iter().rfind(|open| matches!(open, Open::Group { .. }) || !open.is_inner());
        let none = !matches!(open, Some(Open::Group { .. }));
        let scope = self.scope();
        let waited = none && scope.waited > 0;
        scope.waited -= u32::from(waited);
        waited
    }

    /// The running member's round ends here.
    pub(super) fn end_round(&mut self) {
        self.raise_round();
    }

    /// The round of the innermost team lasts until here.
    pub(super) fn raise_round(&mut self) {
        let position = self.rows.position;
        if let Some(team) = self.teams.last_mut() {
            if team.best.len() <= team.round {
                team.best.resize(team.round + 1, i64::MIN);
            }
            let best = &mut team.best[team.round];
            *best = position.max(*best);
        }
    }

    /// The team, which is open, has ended.
    pub(super) fn team_end(&mut self, part: Part) -> Step<E> {
        let (Some(Open::Team { from, .. }), Some(team)) = (self.open.pop(), self.teams.pop()) else {
            return Ok(());
        };
        self.groups.pop();
        let longest = team.best.iter().filter(|best| **best != i64::MIN);
        self.rows.position = longest.fold(from, |position, best| position.wrapping_add(best.wrapping_sub(from)));
        self.rows.emit(Ends::TeamEnd, part)
    }
}
