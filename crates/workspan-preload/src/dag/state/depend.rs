//! Dependences among the children of a task: which tasks used an address last.

use core::cell::Cell;
use core::ptr;

use crate::dag::pool::BLOCK;

/// How a task uses an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// `in`.
    Read,
    /// `out` or `inout`.
    Write,
    /// `mutexinoutset`.
    Exclusive,
    /// `inoutset`.
    Set,
}

/// A list of tasks. Holds them.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct List<T: 'static> {
    /// The first task.
    pub(in crate::dag) task: &'static T,
    /// The others.
    pub(in crate::dag) next: *mut List<T>,
}

/// What is known of an address.
#[derive(Debug)]
pub(in crate::dag) struct Entry<T: 'static> {
    pub(in crate::dag) address: u64,
    pub(in crate::dag) how: Use,
    pub(in crate::dag) current: *mut List<T>,
    pub(in crate::dag) before: *mut List<T>,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Entry<T> {
        *self
    }
}

impl<T> Copy for Entry<T> {}

impl<T> Entry<T> {
    pub(in crate::dag) const NONE: Entry<T> =
        Entry { address: 0, how: Use::Write, current: ptr::null_mut(), before: ptr::null_mut() };
}

pub(in crate::dag) const SLOTS: usize = (BLOCK - 24) / size_of::<Entry<()>>();

/// Entries, in a chain of blocks.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Table<T: 'static> {
    pub(in crate::dag) used: Cell<usize>,
    pub(in crate::dag) next: Cell<*mut Table<T>>,
    pub(in crate::dag) entries: [Cell<Entry<T>>; SLOTS],
}
