//! What the calling thread keeps of tables that all threads share ([`Stash`]): a task's end takes a node of a path and frees another, a
//! lock's region a call, and threads that all do so would do it one after the other.

use super::shared::Shared;
use super::thread;
use workspan_wire::stash::Stash;

/// Of nodes of paths.
#[inline(always)]
pub(super) fn nodes(shared: Shared) -> Option<&'static Stash> {
    thread::slot(shared).map(|thread| &thread.spare.nodes)
}

/// Of calls.
#[inline(always)]
pub(super) fn calls(shared: Shared) -> Option<&'static Stash> {
    thread::slot(shared).map(|thread| &thread.spare.calls)
}
