//! What is open while rows are read.

use workspan_model::nesting::{Construct, Open};
use workspan_model::ContextId;

use super::path::Paths;
use super::position::{Position, Work};
use super::teams::Team;

/// What is open within the running task, and the tasks around it: in the order of [`Construct`], so that one is the other.
#[derive(Debug)]
pub(super) enum Frame {
    Fork(Fork),
    Group,
    Region(Region),
    Task(Task),
    Team(Box<Team>),
}

impl Open for Frame {
    #[inline(always)]
    fn construct(&self) -> Construct {
        match self {
            Frame::Fork(_) => Construct::Fork,
            Frame::Group => Construct::Group,
            Frame::Region(_) => Construct::Region,
            Frame::Task(_) => Construct::Task,
            Frame::Team(_) => Construct::Team,
        }
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
