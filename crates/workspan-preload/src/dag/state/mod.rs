//! What tasks, groups and teams are known by. The rules that change it are in the files of the same names, one folder up.
//!
//! Here: where a task stands while it does not run: at its begin, suspended, at its end.

pub mod across;
pub mod call;
pub mod depend;
pub mod gather;
pub mod group;
pub mod lock;
pub mod log;
pub mod marked;
pub mod pieces;
pub mod team;

use core::fmt;

use workspan_collect::calls::CallId;
use workspan_collect::tables::ContextId;
use workspan_wire::shm::{Position, TaskState};

use crate::dag::alt_spans::AltSpans;

/// Where a task begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// Absolute span.
    pub span: i64,
    /// The same under assumptions.
    pub alt: AltSpans,
    /// Path, borrowed or owned.
    pub path: u32,
    /// Absolute span up to which `path` accounts.
    pub since: i64,
    /// Context of what it does not account for.
    pub forked_in: ContextId,
    /// The task's own context.
    pub context: ContextId,
}

/// Where a task ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct End {
    /// Absolute span.
    pub span: i64,
    /// The same under assumptions.
    pub alt: AltSpans,
    /// Path, as in a [`Position`].
    pub path: u32,
    /// Context of what it does not account for.
    pub context: ContextId,
    /// Absolute span up to which it accounts.
    pub since: i64,
    /// What is still to be added before, if the path says so.
    pub prefix: i64,
    /// Context of that.
    pub prefix_context: ContextId,
    /// The task's call, as in a [`Thread`](workspan_wire::shm::Thread).
    pub call: CallId,
    /// What it has done itself, with teams that it has forked.
    pub work: i64,
}

impl End {
    /// An end at this position.
    pub fn at(position: Position) -> End {
        End { path: position.path, context: position.context, since: position.since, ..End::default() }
    }
}

/// The path that children borrow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Base {
    /// Handle; owned if this frame had to make sure that it stays.
    pub path: u32,
    /// Absolute span up to which it accounts.
    pub since: i64,
    /// Context in which children were created.
    pub context: ContextId,
}

/// What is known of a task while it does not run: nothing before it has begun, then the one, and at last the other.
#[derive(Clone, Copy)]
pub(in crate::dag) union Rests {
    pub(in crate::dag) none: (),
    pub(in crate::dag) saved: TaskState,
    pub(in crate::dag) end: End,
}

impl fmt::Debug for Rests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rests")
    }
}
