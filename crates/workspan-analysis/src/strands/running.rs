//! A task's state, and what it knows of the tasks that it has created.

use super::path::{Paths, Tail};
use super::position::Position;
use super::region::Point;

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
