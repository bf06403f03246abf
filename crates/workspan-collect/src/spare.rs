//! What the calling thread keeps of tables that all threads share ([`Stash`]): a task's end takes a node of a path and frees another, a
//! lock's region a call, and threads that all do so would do it one after the other.
//!
//! [`thread`](super::thread) itself uses paths, so it says here which slot is whose, and is not asked.

use core::cell::Cell;
use core::ptr;

use super::shared::Shared;
use workspan_wire::shm::Thread;
use workspan_wire::stash::Stash;

std::thread_local! {
    /// The slot of the calling thread; null if it has none.
    static SLOT: Cell<*const Thread> = const { Cell::new(ptr::null()) };
}

/// The calling thread keeps in this slot, which is its own; null: nowhere. Returns where it did before.
pub(super) fn keep_in(slot: *const Thread) -> *const Thread {
    SLOT.replace(slot)
}

/// Of nodes of paths.
#[inline(always)]
pub(super) fn nodes(shared: Shared) -> Option<&'static Stash> {
    slot(shared).map(|thread| &thread.spare.nodes)
}

/// Of calls.
#[inline(always)]
pub(super) fn calls(shared: Shared) -> Option<&'static Stash> {
    slot(shared).map(|thread| &thread.spare.calls)
}

#[inline(always)]
fn slot(shared: Shared) -> Option<&'static Thread> {
    // SAFETY: null, or a slot from `keep_in`: of shared memory, which is never unmapped.
    let thread = unsafe { SLOT.get().as_ref() }?;
    (thread.base.get() == shared.address()).then_some(thread)
}
