//! What is open while rows are read.

use workspan_model::nesting::{Construct, Open};
use workspan_model::ContextId;

use super::path::{Paths, Tail};
use super::position::{Position, Work};
use super::region::Point;
use super::teams::Team;

/// What is open within the running task, and the tasks around it.
#[derive(Debug)]
pub(super) enum Frame {
    Fork(Fork),
    Group,
    Task(Task),
    Region(Region),
    Team(Box<Team>),
}

impl Open for Frame {
    #[inline(always)]
    fn construct(&self) -> Construct {
        match self {
            Frame::Fork(_) => Construct::Fork,
            Frame::Group => Construct::Group,
            Frame::Task(_) => Construct::Task,
            Frame::Region(_) => Construct::Region,
            Frame::Team(_) => Construct::Team,
        }
    }
}

/// A task's state: while it runs, and put aside while one that it created does.
#[derive(Debug)]
pub(super) struct Running {
    /// Where its running strand stands.
    pub(super) at: Position,
    /// What it ran itself.
    pub(super) own: i64,
    /// What was before the strand ([`Point`]).
    pub(super) place: u32,
    pub(super) children: Children,
}

impl Running {
    /// The first one.
    pub(super) fn root() -> Running {
        let at = Position { tail: Tail::at(0, 0), uniform: 0 };
        Running { at, own: 0, place: Point::Begin.code(), children: Children::NONE }
    }

    /// Puts it aside; what follows is a new task.
    #[inline(always)]
    pub(super) fn suspend(&mut self) -> Running {
        let children = std::mem::replace(&mut self.children, Children::NONE);
        let suspended = Running { at: self.at, own: self.own, place: self.place, children };
        self.own = 0;
        self.place = Point::Begin.code();
        suspended
    }

    /// A suspended one goes on.
    #[inline(always)]
    pub(super) fn resume(&mut self, suspended: Running, paths: &mut Paths) {
        self.children.forget(paths);
        *self = suspended;
    }
}

/// Branches.
#[derive(Debug)]
pub(super) struct Fork {
    /// Where they begin.
    pub(super) from: Position,
    /// The longest that has ended.
    best: Position,
    /// Of the running branch.
    iterations: u32,
    /// The running branch is the first.
    pub(super) first: bool,
    /// The others are tasks.
    pub(super) tasks: bool,
    /// What the task around ran itself, the first branch included.
    pub(super) own: i64,
    /// It is a call by itself.
    pub(super) counted: bool,
}

impl Fork {
    #[inline(always)]
    pub(super) fn new(from: Position, iterations: u32, tasks: bool, counted: bool) -> Fork {
        // Also a branch that is shorter than nothing, what hooks take being taken out, is as long as it is.
        Fork { from, best: Position::NEVER, iterations, first: true, tasks, own: 0, counted }
    }

    /// A branch ends here, which is used up. `burden`: what a stolen one costs more.
    #[inline(always)]
    pub(super) fn end_branch(&mut self, paths: &mut Paths, mut at: Position, burden: i64) {
        if self.tasks && !self.first {
            at.delay(burden);
        }
        let each = at.uniform.saturating_sub(self.from.uniform) / i64::from(self.iterations.max(1));
        let uniform = self.from.uniform.saturating_add(each);
        self.best.join(paths, Position { uniform, ..at });
    }

    /// The next branch begins. Where.
    #[inline(always)]
    pub(super) fn next(&mut self, iterations: u32, burden: i64) -> Position {
        self.first = false;
        self.iterations = iterations;
        let mut begin = self.from.borrowed();
        if self.tasks {
            begin.delay(burden);
        }
        begin
    }

    /// All have ended: what goes on after them.
    #[inline(always)]
    pub(super) fn join(&self, paths: &mut Paths) -> Position {
        Position { tail: paths.merge(&self.from.tail, self.best.tail), uniform: self.best.uniform }
    }
}

/// Tasks that are waited for together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) last: Position,
    /// Their work.
    pub(super) work: i64,
    /// It is the round of a team: no further group is visible from within.
    pub(super) round: bool,
}

/// The open groups.
#[derive(Debug, Default)]
pub(super) struct Groups(Vec<Group>);

impl Groups {
    pub(super) fn open(&mut self, round: bool) {
        self.0.push(Group { last: Position::NEVER, work: 0, round });
    }

    pub(super) fn close(&mut self) -> Option<Group> {
        self.0.pop()
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut Group> {
        self.0.last_mut()
    }

    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut Group> {
        self.0.get_mut(at as usize)
    }

    /// Where the group is that a task names, and whether there is such a group: if not, it is the outermost that the task
    /// can see, or none at all.
    pub(super) fn find(&self, outward: usize) -> (Option<u32>, bool) {
        let open = self.0.len();
        // A team ends at its rounds.
        let crossed = self.0.iter().rev().take(outward).position(|group| group.round);
        let (at, known) = match crossed {
            None if outward < open => (Some(open - 1 - outward), true),
            None => ((open > 0).then_some(0), false),
            Some(at) => (Some(open - 1 - at), false),
        };
        (at.and_then(|at| u32::try_from(at).ok()), known)
    }
}

/// What the running task knows of those it created.
#[derive(Debug)]
pub(super) struct Children {
    pub(super) last: Position,
    /// The latest end of all descendants.
    pub(super) late: i64,
    pub(super) late_uniform: i64,
    /// Only if anybody comes after them.
    pub(super) ends: Option<Box<Ends>>,
}

impl Children {
    const NONE: Children = Children { last: Position::NEVER, late: i64::MIN, late_uniform: i64::MIN, ends: None };

    /// One has ended here, with all that it created.
    #[inline]
    pub(super) fn end_one(&mut self, at: &Position, of: &Children) {
        self.late = self.late.max(at.tail.span.max(of.late));
        self.late_uniform = self.late_uniform.max(at.uniform.max(of.late_uniform));
    }

    /// Nobody asks any more for them.
    pub(super) fn forget(&mut self, paths: &mut Paths) {
        paths.release(self.last.tail.path);
        self.last = Position::NEVER;
        self.late = i64::MIN;
        self.late_uniform = i64::MIN;
        let Some(ends) = &mut self.ends else {
            return;
        };
        ends.forgotten += ends.ends.len();
        for end in ends.ends.drain(..).chain(ends.after.take()) {
            paths.release(end.tail.path);
        }
    }
}

/// Ends of the tasks that one has created.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// By number.
    ends: Vec<Position>,
    /// Tasks before these: a barrier has waited for them.
    forgotten: usize,
    /// After which the next one comes.
    after: Option<Position>,
}

/// A task that another is to come after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// It has been waited for.
    Over,
    /// Its number among those that have not.
    Known(usize),
    /// There is no such task.
    Unknown,
}

impl Ends {
    /// Keeps the end of a task, with a hold of its own.
    pub(super) fn keep(&mut self, paths: &mut Paths, end: &Position) {
        let path = paths.own(end.tail.path);
        self.ends.push(Position { tail: Tail { path, ..end.tail }, ..*end });
    }

    /// The next task comes after the one of this number.
    pub(super) fn after(&mut self, paths: &mut Paths, number: u32) -> Before {
        let Some(index) = (number as usize).checked_sub(self.forgotten) else {
            return Before::Over;
        };
        let Some(end) = self.ends.get(index) else {
            return Before::Unknown;
        };
        self.after.get_or_insert(Position::NEVER).raise(paths, end);
        Before::Known(index)
    }

    /// After what the task that is created now comes.
    pub(super) fn take_after(&mut self) -> Option<Position> {
        self.after.take()
    }
}

/// A task: how it began. The state of its creator is on a stack of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) context: ContextId,
    /// Position of its group, if it has one.
    pub(super) group: Option<u32>,
    pub(super) call: bool,
    pub(super) outermost: bool,
    /// It is among the open calls.
    pub(super) counted: bool,
    pub(super) span: i64,
    pub(super) uniform: i64,
    pub(super) work: Work,
}

/// An instance of a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) context: ContextId,
    pub(super) outermost: bool,
    /// It is among the open calls.
    pub(super) counted: bool,
    pub(super) span: i64,
    pub(super) uniform: i64,
    pub(super) work: Work,
    /// Of the team around.
    pub(super) round: usize,
    /// When it was entered, if from serial code.
    pub(super) entered: Option<i64>,
}
