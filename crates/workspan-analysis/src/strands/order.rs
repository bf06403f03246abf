//! What comes after what: tasks and the order between strands, for those who draw them.
//!
//! [`visit`] reads the rows once and shows a [`Visitor`] each strand: which task it is part of, and which strands must be
//! over before it begins. The rules are those of [`workspan_model::strand`]; what breaks them is passed over as the
//! [machine](super::machine) does, so a visitor sees every row.
//!
//! An edge that others imply may be missing. **Memory:** the constructs that are open, and the ends of tasks that may still
//! be waited for.

use std::ops::ControlFlow;

use workspan_model::nesting::{Construct, Nesting, Open};
use workspan_model::{Creation, Event, Nanos, Strand};

use super::rows::Rows;

/// A task, a fork's branch other than the first, or a member of a team; 0 is the program itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// Why a strand comes after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// It is the same task that goes on.
    Continue,
    /// The other one created the task.
    Spawn,
    /// It waits for the other one's task, or all members of a team do.
    Join,
    /// The task was created to come after the other one's.
    Depend,
    /// It waited for what the other one did.
    Wake,
}

/// Who wants to know.
pub trait Visitor {
    /// What stands for a strand that is over, or a barrier.
    type End: Copy;

    /// The next strand. `number`: of its row, counted from 0; some rows are none.
    fn strand(&mut self, number: u64, row: &Strand, task: TaskId, after: &[(Self::End, Order)]) -> Self::End;

    /// The end of a round of a team; who [arrives](Visitor::arrive) there is known then.
    fn barrier(&mut self) -> Self::End;

    /// A member, or a task of its round, must be over before what comes after the barrier.
    fn arrive(&mut self, end: Self::End, barrier: Self::End);
}

/// Shows a visitor all rows.
pub fn visit<R: Rows + ?Sized, V: Visitor>(rows: &R, visitor: &mut V) -> Result<(), R::Error> {
    let mut walk = Walk::new(visitor);
    rows.read(&mut |batch| {
        for row in batch {
            walk.row(row);
            walk.number += 1;
        }
        ControlFlow::Continue(())
    })
}

struct Walk<'v, V: Visitor> {
    visitor: &'v mut V,
    number: u64,
    /// What the next strand comes after.
    after: Vec<(V::End, Order)>,
    /// The strand that was read last.
    last: Option<V::End>,
    task: TaskId,
    tasks: u32,
    /// Of the running task.
    children: Children<V::End>,
    open: Nesting<Frame<V::End>>,
    groups: Vec<Group<V::End>>,
    /// What waits go on from, by label.
    labels: Vec<V::End>,
}

/// Tasks that a task has created.
struct Children<E> {
    /// Their ends, and whether they must still be waited for.
    ends: Vec<(E, bool)>,
    /// Of them, those that have been waited for.
    synced: usize,
    /// Tasks before these: a barrier has waited for them.
    forgotten: usize,
    /// After which the next one comes.
    depends: Vec<E>,
}

struct Group<E> {
    ends: Vec<E>,
    round: bool,
}

enum Frame<E> {
    Fork { from: E, ends: Vec<E>, task: TaskId, synced: usize, most: usize },
    Group,
    Region,
    Task { from: E, task: TaskId, children: Children<E>, group: Option<usize>, call: bool },
    Team { from: E, task: TaskId, children: Children<E>, barriers: Vec<E>, round: usize, begun: bool },
}

impl<E> Open for Frame<E> {
    fn construct(&self) -> Construct {
        match self {
            Frame::Fork { .. } => Construct::Fork,
            Frame::Group => Construct::Group,
            Frame::Region => Construct::Region,
            Frame::Task { .. } => Construct::Task,
            Frame::Team { .. } => Construct::Team,
        }
    }
}

impl<E> Children<E> {
    fn none() -> Children<E> {
        Children { ends: Vec::new(), synced: 0, forgotten: 0, depends: Vec::new() }
    }

    fn forget(&mut self) {
        self.forgotten += self.ends.len();
        self.ends.clear();
        self.depends.clear();
        self.synced = 0;
    }
}

impl<'v, V: Visitor> Walk<'v, V> {
    fn new(visitor: &'v mut V) -> Walk<'v, V> {
        Walk {
            visitor,
            number: 0,
            after: Vec::new(),
            last: None,
            task: TaskId(0),
            tasks: 0,
            children: Children::none(),
            open: Nesting::new(),
            groups: Vec::new(),
            labels: Vec::new(),
        }
    }

    fn row(&mut self, row: &Strand) {
        if let (Event::After(number), Nanos::ZERO, Nanos::ZERO) = (row.event, row.cost, row.blocked) {
            // No strand of its own.
            self.depend(number);
            return;
        }
        if row.event == Event::TeamEnd {
            self.leave_members();
        }
        if let Some(Frame::Team { begun, .. }) = self.open.last_mut() {
            let first = !std::mem::replace(begun, true);
            if first && row.event != Event::TeamEnd {
                self.task = self.next_task();
            }
        }
        let end = self.visitor.strand(self.number, row, self.task, &self.after);
        self.last = Some(end);
        self.follow(end, Order::Continue);
        if self.open.leaves_out(&row.event) {
            return;
        }
        match row.event {
            Event::Fork(_) if self.open.has_room() => {
                let synced = self.children.synced;
                self.open.push(Frame::Fork { from: end, ends: Vec::new(), task: self.task, synced, most: synced });
            }
            Event::Next(_) => self.next(end),
            Event::Join => self.join(end),
            Event::Group if self.open.has_room() => {
                self.open.push(Frame::Group);
                self.groups.push(Group { ends: Vec::new(), round: false });
            }
            Event::Wait => self.wait(),
            Event::Spawn(creation) if self.open.has_room() => self.spawn(end, creation, false),
            Event::Call(creation) if self.open.has_room() => self.spawn(end, creation, true),
            Event::End => self.end(end),
            Event::Sync => self.sync(),
            Event::After(number) => self.depend(number),
            Event::Enter(_) if self.open.has_room() => self.open.push(Frame::Region),
            Event::Leave => {
                if self.is_open(Construct::Region) {
                    self.open.pop();
                }
            }
            Event::Team(_) if self.open.has_room() => self.team(end),
            Event::Barrier => self.barrier(end),
            Event::TeamEnd => self.team_end(end),
            Event::Wake(label) if label as usize == self.labels.len() => self.labels.push(end),
            Event::Wake(label) => self.labels.iter_mut().skip(label as usize).take(1).for_each(|known| *known = end),
            Event::Await(label) | Event::Locked(label) => {
                self.after.extend(self.labels.get(label as usize).map(|before| (*before, Order::Wake)));
            }
            // No room: skipped, with what is within.
            Event::Fork(_) | Event::Group | Event::Spawn(_) | Event::Call(_) | Event::Enter(_) | Event::Team(_) => {}
        }
    }

    /// The next strand comes after `end` alone.
    fn follow(&mut self, end: V::End, order: Order) {
        self.after.clear();
        self.after.push((end, order));
    }

    fn wait_for(&mut self, ends: impl IntoIterator<Item = V::End>) {
        self.after.extend(ends.into_iter().map(|end| (end, Order::Join)));
    }

    /// True if the innermost open construct is of this kind, or has been made so by ending what is within.
    fn is_open(&mut self, what: Construct) -> bool {
        let Some(within) = self.open.within(what) else {
            return false;
        };
        for _ in 0..within {
            self.close_inner();
        }
        true
    }

    /// Ends the innermost construct, which is not a task.
    fn close_inner(&mut self) {
        match (self.open.last(), self.last) {
            (Some(Frame::Fork { .. }), Some(last)) => self.join(last),
            (Some(Frame::Group), _) => self.wait(),
            _ => _ = self.open.pop(),
        }
    }

    fn next_task(&mut self) -> TaskId {
        self.tasks = self.tasks.saturating_add(1);
        TaskId(self.tasks)
    }

    fn next(&mut self, end: V::End) {
        if !self.is_open(Construct::Fork) {
            return;
        }
        let new = self.next_task();
        if let Some(Frame::Fork { from, ends, synced, most, .. }) = self.open.last_mut() {
            ends.push(end);
            *most = self.children.synced.max(*most);
            self.children.synced = *synced;
            self.task = new;
            let from = *from;
            self.follow(from, Order::Spawn);
        }
    }

    fn join(&mut self, end: V::End) {
        if !self.is_open(Construct::Fork) {
            return;
        }
        if let Some(Frame::Fork { mut ends, task, most, .. }) = self.open.pop() {
            ends.push(end);
            self.children.synced = self.children.synced.max(most);
            self.task = task;
            self.after.clear();
            self.wait_for(ends);
        }
    }

    fn wait(&mut self) {
        if !self.is_open(Construct::Group) {
            return;
        }
        self.open.pop();
        if let Some(group) = self.groups.pop() {
            self.wait_for(group.ends);
        }
    }

    fn spawn(&mut self, from: V::End, creation: Creation, call: bool) {
        let group = creation.group.and_then(|outward| self.group_at(usize::from(outward)));
        let mut children = std::mem::replace(&mut self.children, Children::none());
        let depends = std::mem::take(&mut children.depends);
        self.open.push(Frame::Task { from, task: self.task, children, group, call });
        self.task = self.next_task();
        self.follow(from, Order::Spawn);
        self.after.extend(depends.into_iter().map(|end| (end, Order::Depend)));
    }

    /// Where in the stack of groups the one is that a task names: within the innermost team.
    fn group_at(&self, outward: usize) -> Option<usize> {
        let last = self.groups.len().checked_sub(1)?;
        let team = self.groups.iter().rposition(|group| group.round).unwrap_or(0);
        Some(last.saturating_sub(outward).max(team))
    }

    fn end(&mut self, end: V::End) {
        if !self.is_open(Construct::Task) {
            return;
        }
        match self.open.pop() {
            Some(Frame::Task { from, task, children, group, call }) => {
                self.task = task;
                self.children = children;
                self.children.ends.push((end, !call));
                if call {
                    self.follow(end, Order::Join);
                } else {
                    if let Some(group) = group.and_then(|at| self.groups.get_mut(at)) {
                        group.ends.push(end);
                    }
                    self.follow(from, Order::Continue);
                }
            }
            Some(Frame::Team { from, task, children, mut barriers, round, .. }) => {
                self.end_round(end, &mut barriers, round);
                self.open.push(Frame::Team { from, task, children, barriers, round: 0, begun: false });
                self.begin_member(from);
            }
            Some(_) | None => {}
        }
    }

    fn sync(&mut self) {
        let ends = self.children.ends.get(self.children.synced..).unwrap_or_default();
        self.after.extend(ends.iter().filter(|(_, wait)| *wait).map(|(end, _)| (*end, Order::Join)));
        self.children.synced = self.children.ends.len();
    }

    fn depend(&mut self, number: u32) {
        let index = (number as usize).checked_sub(self.children.forgotten);
        if let Some((end, _)) = index.and_then(|index| self.children.ends.get(index)) {
            self.children.depends.push(*end);
        }
    }

    fn team(&mut self, from: V::End) {
        let children = std::mem::replace(&mut self.children, Children::none());
        let (task, barriers) = (self.task, Vec::new());
        self.open.push(Frame::Team { from, task, children, barriers, round: 0, begun: false });
        self.groups.push(Group { ends: Vec::new(), round: true });
        self.begin_member(from);
    }

    /// If there is another one: it is a task from its first row on.
    fn begin_member(&mut self, from: V::End) {
        self.children.forgotten = 0;
        self.follow(from, Order::Spawn);
    }

    /// A member's round ends with `end`.
    fn end_round(&mut self, end: V::End, barriers: &mut Vec<V::End>, round: usize) {
        self.children.forget();
        while barriers.len() <= round {
            barriers.push(self.visitor.barrier());
        }
        self.visitor.arrive(end, barriers[round]);
        if let Some(group) = self.groups.last_mut().filter(|group| group.round) {
            for end in group.ends.drain(..) {
                self.visitor.arrive(end, barriers[round]);
            }
        }
    }

    fn barrier(&mut self, end: V::End) {
        // Regions may last over a barrier.
        let Some(at) = self.open.team_at_barrier() else {
            return;
        };
        let Some(Frame::Team { barriers, round, .. }) = self.open.get_mut(at) else {
            return;
        };
        let (mut barriers, ended) = (std::mem::take(barriers), *round);
        self.end_round(end, &mut barriers, ended);
        self.follow(barriers[ended], Order::Join);
        if let Some(Frame::Team { barriers: slot, round, .. }) = self.open.get_mut(at) {
            (*slot, *round) = (barriers, ended + 1);
        }
    }

    /// The strand of a team's end comes after all members, and is the creator's.
    fn leave_members(&mut self) {
        if let Some(Frame::Team { from, task, barriers, begun: false, .. }) = self.open.last() {
            self.task = *task;
            let after = barriers.last().map_or((*from, Order::Continue), |barrier| (*barrier, Order::Join));
            self.follow(after.0, after.1);
        }
    }

    fn team_end(&mut self, end: V::End) {
        if !self.is_open(Construct::Team) {
            return;
        }
        if let Some(Frame::Team { task, children, .. }) = self.open.pop() {
            self.groups.pop();
            self.task = task;
            self.children = children;
            self.follow(end, Order::Continue);
        }
    }
}
