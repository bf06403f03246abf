//! By what the log knows a task.

use core::cell::Cell;

/// By what the log knows a task.
#[derive(Debug, Default)]
pub struct Logged {
    pub(in crate::dag) identity: Cell<u64>,
    /// By what a tool knows it; of a member that has not begun, by what the tool knows who forked the team.
    pub(in crate::dag) tool: Cell<u64>,
    /// While it is suspended: where its strand's logged part begins. In [`ELSEWHERE`], the identity of its next piece.
    /// Before a member begins: its number.
    pub(in crate::dag) work: Cell<i64>,
    pub(in crate::dag) offset: Cell<i64>,
    /// While it is suspended: the tick at which that part began.
    pub(in crate::dag) begin: Cell<u64>,
    /// While it is suspended: the number by which a tool sees its strand.
    pub(in crate::dag) strand_number: Cell<u64>,
}

/// In place of an offset: the task goes on as another piece.
pub(in crate::dag) const ELSEWHERE: i64 = i64::MIN;
