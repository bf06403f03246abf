//! Taskgroups that are open.

use core::cell::Cell;

use workspan_wire::shm::Latest;

/// A taskgroup that is open.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Group {
    /// Ends of the tasks in it.
    pub(in crate::dag) ends: Latest,
    /// The group around it that the same task has open.
    pub(in crate::dag) outer: Cell<*const Group>,
}
