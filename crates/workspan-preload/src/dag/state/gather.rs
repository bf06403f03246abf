//! Tasks that somebody waits for together.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64};

use workspan_wire::shm::Latest;

use super::{Base, Start};

/// Tasks that are waited for together.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Gather {
    /// The latest end so far.
    pub(in crate::dag) ends: Latest,
    /// Low half: tasks that have not reported; high half: who else holds it.
    pub(in crate::dag) open: AtomicU64,
    /// Where it was opened; the handle is its own. A task that began there and never left its context lends the same handle.
    pub(in crate::dag) base: Base,
    /// By what the runtime knows it.
    pub(in crate::dag) key: u64,
    /// The address of the task of whose log it is a group; 0 if it is none, or no more.
    pub(in crate::dag) logged: Cell<u64>,
    /// The one around it there.
    pub(in crate::dag) outer: Cell<*const Gather>,
    /// Where all of its tasks may begin whoever creates them, and their identity in the log; its path is that of `base`.
    pub(in crate::dag) begin: Cell<Option<(Start, u64)>>,
    /// Whose serial code has created tasks of it, and not waited for them.
    pub(in crate::dag) beside: AtomicU32,
}
