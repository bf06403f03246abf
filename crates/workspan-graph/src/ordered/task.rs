//! What a task is.

use workspan_trace::control::Operation;

use crate::structure::Position;
use crate::summary::Tally;

/// Types of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// Runs code.
    Work,
    /// Creates a context.
    Create,
    /// Waits for the end of a context.
    Join,
    /// An operation on a synchronisation object.
    Sync,
    /// A barrier that several contexts pass.
    Barrier,
}

impl Type {
    /// The letter that stands for it in Contech's graphs.
    pub fn letter(self) -> &'static str {
        match self {
            Type::Work => "W",
            Type::Create => "C",
            Type::Join => "J",
            Type::Sync => "S",
            Type::Barrier => "B",
        }
    }
}

/// A task. Its name is `context:sequence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Context.
    pub context: u32,
    /// Number in the context.
    pub sequence: u32,
    /// Type.
    pub kind: Type,
    /// For syncs: what was done.
    pub operation: Option<Operation>,
    /// Object of a sync or barrier; context + 1 of a create or join, or 0.
    pub object: u64,
    /// Ticks when it began.
    pub start: u64,
    /// Ticks when it ended.
    pub end: u64,
    /// What it executed and touched.
    pub tally: Tally,
    /// Segment that was executed last before it: the place of a create, join, sync or barrier.
    pub at: Position,
}
