//! What a run in time is made of.

use workspan_analysis::strands::order::{Order, TaskId};
use workspan_model::{ContextId, Nanos};

/// A run in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Lanes, by thread.
    pub lanes: Vec<Lane>,
    /// By lane, then by time.
    pub slices: Vec<Slice>,
    /// By the beginning of what they point to.
    pub arrows: Vec<Arrow>,
    /// What is not there.
    pub left_out: LeftOut,
}

/// A thread, or what does not fit beside its other strands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    /// The thread.
    pub thread: u16,
    /// From 0.
    pub lane: u16,
}

/// Strands of a task that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its lane, by position.
    pub lane: usize,
    /// When it began, after the program did.
    pub start: Nanos,
    /// When it ended: all of its strands, and hooks between them.
    pub end: Nanos,
    /// What the strands cost.
    pub work: Nanos,
    /// Time that they were blocked.
    pub blocked: Nanos,
    /// Their context.
    pub context: ContextId,
    /// Their task.
    pub task: TaskId,
    /// They lie on the critical path.
    pub critical: bool,
    /// Their number.
    pub strands: u64,
}

/// What comes after what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Slice where it begins, by position.
    pub from: usize,
    /// When, within that.
    pub at: Nanos,
    /// Slice where it ends.
    pub to: usize,
    /// When, within that.
    pub until: Nanos,
    /// Why.
    pub order: Order,
}

/// What did not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Strands that take time.
    pub strands: u64,
    /// What they cost, and were blocked.
    pub time: Nanos,
    /// Arrows that begin or end there, and those that would point back in time.
    pub arrows: u64,
}

/// A strand that is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) thread: u16,
    pub(super) slice: Slice,
}

/// Arrows between strands that are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) order: Order,
}
