//! What is open in the order of a serial execution, and what becomes of it: the rules of
//! [`workspan_model::strand`], as far as rows must say what the logs leave out.

use std::collections::BTreeMap;

use workspan_model::strand::{Creation, Event as Ends, Strand};
use workspan_model::{ContextId, Nanos};

use super::entry::Cursor;
use super::input::Stopped;
use super::rows::{Part, Rows};
use super::waits::{Round, Woken};

/// What has begun and not ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Open {
    /// Branches; where they began, and the longest so far.
    Fork { from: i64, best: i64 },
    /// A group; the end of its longest task.
    Group { last: i64 },
    /// A region, and its context.
    Region(u32),
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
        matches!(self, Open::Fork { .. } | Open::Group { .. } | Open::Region(_) | Open::Team { .. })
    }
}

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
    /// Of the team, among all.
    number: u64,
    /// The longest of each, as if it began where the team does.
    best: Vec<i64>,
    round: usize,
    /// Contexts of its loops, and how many the member has entered.
    loops: Vec<u32>,
    entered: usize,
    /// The member has arrived at its last barrier.
    leaving: bool,
}

/// All that is open, and the rows that it has become so far.
pub(super) struct Constructs<'s, P> {
    pub(super) rows: Rows<'s, P>,
    pub(super) stack: Vec<Open>,
    /// Groups that are open: identity, place in `stack`.
    pub(super) groups: Vec<(u64, usize)>,
    /// Of the open tasks and members, below the root's.
    scopes: Vec<Scope>,
    /// Open teams.
    teams: Vec<Rounds>,
    /// How many there were.
    begun_teams: u64,
    /// Records that made no sense where they stood.
    pub(super) stray: u64,
}

pub(super) type Step<E> = Result<(), Stopped<E>>;

impl<'s, E, P: FnMut(&[Strand], &[u64]) -> Result<(), E>> Constructs<'s, P> {
    pub(super) fn new(rows: Rows<'s, P>) -> Constructs<'s, P> {
        let (stack, groups, teams) = (Vec::new(), Vec::new(), Vec::new());
        Constructs { rows, stack, groups, scopes: vec![Scope::NEW], teams, begun_teams: 0, stray: 0 }
    }

    /// The round that the running strand is in.
    pub(super) fn round(&self) -> Round {
        self.teams.last().map(|team| (team.number, team.round))
    }

    /// Where the thread or task begins whose strand runs, if nothing is open in it but regions, and its group, if it has one, is the
    /// innermost.
    pub(super) fn parkable(&self) -> Option<usize> {
        let at = self.stack.iter().rposition(|open| !matches!(open, Open::Region(_)))?;
        let is_in = |group: usize| self.innermost_group() == Some(group);
        let is_own = |task: &Task| task.group.is_none_or(is_in) && !task.call && !task.depended_on;
        matches!(&self.stack[at], Open::Task(task) if is_own(task) && self.teams.is_empty()).then_some(at)
    }

    /// Its place in what is open.
    pub(super) fn innermost_group(&self) -> Option<usize> {
        self.groups.last().map(|(_, place)| *place)
    }

    /// The end of a member's last barrier need not be seen.
    pub(super) fn is_leaving(&self) -> bool {
        matches!(self.stack.last(), Some(Open::Member)) && self.teams.last().is_some_and(|team| team.leaving)
    }

    /// True in a task, or the life of a thread, for which nobody waits.
    pub(super) fn is_in_detached(&self) -> bool {
        let innermost = self.stack.iter().rev().find(|open| !open.is_inner());
        matches!(innermost, Some(Open::Task(task)) if task.group.is_none() && !task.call && !task.depended_on)
    }

    /// Closes what is open within the innermost construct of a kind, of this piece. `false`: there is none.
    pub(super) fn close_down_to(&mut self, kind: impl Fn(&Open) -> bool) -> Result<bool, Stopped<E>> {
        let place = self.stack.iter().rposition(|open| kind(open) || !open.is_inner());
        match place {
            Some(place) if kind(&self.stack[place]) => {
                self.close_to(place + 1)?;
                Ok(true)
            }
            _ => {
                self.stray += 1;
                Ok(false)
            }
        }
    }

    /// Ends all inner constructs from `place` on.
    pub(super) fn close_to(&mut self, place: usize) -> Step<E> {
        while self.stack.len() > place {
            let nothing = self.rows.nothing(None);
            match self.stack.last() {
                Some(Open::Fork { .. }) => self.join(nothing)?,
                Some(Open::Group { .. }) => self.wait(nothing)?,
                Some(Open::Team { .. }) => self.team_end(nothing)?,
                Some(Open::Region(_)) => {
                    self.rows.emit(Ends::Leave, nothing)?;
                    self.stack.pop();
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    pub(super) fn join(&mut self, part: Part) -> Step<E> {
        self.rows.emit(Ends::Join, part)?;
        if let Some(Open::Fork { best, .. }) = self.stack.pop() {
            self.rows.position = self.rows.position.max(best);
        }
        Ok(())
    }

    pub(super) fn group(&mut self, identity: u64, part: Part) -> Step<E> {
        self.rows.emit(Ends::Group, part)?;
        self.groups.push((identity, self.stack.len()));
        self.stack.push(Open::Group { last: i64::MIN });
        Ok(())
    }

    pub(super) fn wait(&mut self, part: Part) -> Step<E> {
        self.rows.emit(Ends::Wait, part)?;
        self.groups.pop();
        if let Some(Open::Group { last }) = self.stack.pop() {
            self.rows.position = self.rows.position.max(last);
        }
        Ok(())
    }

    pub(super) fn task_ended(&mut self, group: Option<usize>, from: i64) {
        let position = self.rows.position;
        match group.and_then(|group| self.stack.get_mut(group)) {
            Some(Open::Group { last }) => *last = position.max(*last),
            Some(Open::Team { .. }) => self.raise_round(),
            _ => {}
        }
        self.rows.position = from;
    }

    /// The running task's.
    pub(super) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::NEW);
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// The next task comes after these of its siblings. Where the latest of them has ended.
    pub(super) fn predecessors(&mut self, identities: &[u64], context: u32) -> Result<i64, Stopped<E>> {
        let mut latest = i64::MIN;
        for identity in identities {
            if let Some((number, end)) = self.scope().known.get(identity).copied() {
                latest = latest.max(end);
                self.rows.bare(Ends::After(number), context)?;
            }
        }
        Ok(latest)
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

    /// A member arrives at a barrier.
    pub(super) fn barrier(&mut self, part: Part, last: bool) -> Step<E> {
        let member = self.stack.iter().rposition(|open| !matches!(open, Open::Region(_) | Open::Group { .. }));
        let Some(at) = member.filter(|at| matches!(self.stack[*at], Open::Member)) else {
            self.stray += 1;
            return self.rows.carry(part);
        };
        // Groups that the runtime opens for reductions last over the barrier, which waits for their tasks anyway.
        let is_group = |open: &Open| matches!(open, Open::Group { .. });
        if let Some(first) = self.stack[at..].iter().position(is_group) {
            let groups = self.stack[at..].iter().filter(|open| is_group(open)).count();
            self.scope().waited += u32::try_from(groups).unwrap_or(u32::MAX);
            self.close_to(at + first)?;
        }
        self.rows.emit(Ends::Barrier, part)?;
        self.raise_round();
        if let Some(team) = self.teams.last_mut() {
            team.round += 1;
            team.leaving = last;
        }
        if let Some(Open::Team { from, .. }) = at.checked_sub(1).map(|team| self.stack[team]) {
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
        let open = self.stack.iter().rfind(|open| matches!(open, Open::Group { .. }) || !open.is_inner());
        let none = !matches!(open, Some(Open::Group { .. }));
        let scope = self.scope();
        let waited = none && scope.waited > 0;
        scope.waited -= u32::from(waited);
        waited
    }

    /// The round of the innermost team lasts until here.
    fn raise_round(&mut self) {
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
        let (Some(Open::Team { from, .. }), Some(team)) = (self.stack.pop(), self.teams.pop()) else {
            return Ok(());
        };
        self.groups.pop();
        let longest = team.best.iter().filter(|best| **best != i64::MIN);
        self.rows.position = longest.fold(from, |position, best| position.wrapping_add(best.wrapping_sub(from)));
        self.rows.emit(Ends::TeamEnd, part)
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

    /// A task begins.
    pub(super) fn begin(&mut self, task: Task) {
        self.stack.push(Open::Task(task));
        self.scopes.push(Scope::NEW);
    }

    /// A team of `size` members begins; the task that forked it goes on at `back`.
    pub(super) fn team(&mut self, back: Cursor, identity: u64, size: usize, part: Part) -> Step<E> {
        self.rows.emit(Ends::Team(u32::try_from(size).unwrap_or(u32::MAX)), part)?;
        self.groups.push((u64::MAX, self.stack.len()));
        self.stack.push(Open::Team { back, identity, from: self.rows.position });
        self.begun_teams += 1;
        let number = self.begun_teams;
        self.teams.push(Rounds { number, best: Vec::new(), round: 0, loops: Vec::new(), entered: 0, leaving: false });
        Ok(())
    }

    /// A member of the innermost team begins where that does.
    pub(super) fn begin_member(&mut self, from: i64) {
        if let Some(team) = self.teams.last_mut() {
            (team.round, team.entered, team.leaving) = (0, 0, false);
        }
        self.rows.position = from;
        self.stack.push(Open::Member);
        self.scopes.push(Scope::NEW);
    }

    /// It has ended.
    pub(super) fn end_member(&mut self, part: Part) -> Step<E> {
        self.rows.emit(Ends::End, part)?;
        self.raise_round();
        self.scopes.pop();
        Ok(())
    }

    /// The strand has woken whoever awaits `label`.
    pub(super) fn wake(&mut self, label: u32, part: Part) -> Result<Woken, Stopped<E>> {
        self.rows.emit(Ends::Wake(label), part)?;
        Ok(Woken { label, position: self.rows.position, round: self.round() })
    }

    /// The strand has waited for what was done there: how long that took does not matter.
    pub(super) fn awaits(&mut self, woken: Woken, part: Part) -> Step<E> {
        self.rows.emit(Ends::Await(woken.label), part)?;
        self.rows.position = self.rows.position.max(woken.position);
        Ok(())
    }

    /// What has come since `from` was the order of locks.
    pub(super) fn locked(&mut self, from: Woken, part: Part) -> Step<E> {
        self.rows.emit(Ends::Locked(from.label), part)?;
        self.rows.position = self.rows.position.max(from.position);
        Ok(())
    }
}
