//! Where a task starts.

use super::tables::ContextId;

/// Where a task starts.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// Absolute span at the fork.
    pub span: i64,
    /// The same with steals: the task's own included, if it can be stolen.
    pub burdened: i64,
    /// Path at the fork: owned by the task, or borrowed from a strand that waits for it.
    pub path: u32,
    /// Absolute span up to which `path` accounts.
    pub path_since: i64,
    /// Context of the span from `path_since` to `span`.
    pub forked_in: ContextId,
    /// Context of the task.
    pub context: ContextId,
    /// For serial code that moves to another thread: work not yet charged.
    pub pending: i64,
    /// For serial code: site + 1 of the last region.
    pub last_region: u32,
    /// By which the log knows it; 0 if its creation was not logged.
    pub identity: u64,
}
