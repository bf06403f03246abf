//! What an iteration of an innermost loop does to memory, as [`super::batch`] takes many of them.

use crate::shadow::Site;
use crate::table::{Kind, Tally};

/// Where the address of an access is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where {
    /// At a byte of the iteration, and so far from what is there.
    Byte(usize, i64),
    /// Always the same.
    Fixed(u64),
}

/// Accesses that are the same dependence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    pub(super) kind: Kind,
    pub(super) source: Site,
    /// First and last moment of the earlier access.
    pub(super) range: (u64, u64),
    pub(super) node: usize,
    pub(super) carried: bool,
    pub(super) record: u32,
    /// What was found, and is not in the table yet.
    pub(super) tally: Tally,
}

/// An access of the iteration.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) address: Where,
    pub(super) shift: u32,
    pub(super) is_write: bool,
    pub(super) site: Site,
    pub(super) function: u32,
    /// Lines of the iteration before its own.
    pub(super) after: u64,
    pub(super) classes: Vec<Class>,
    /// Which classes both recorded iterations found; one bit each. Where models wait for them, another one must find the same.
    pub(super) found: [u64; 2],
    pub(super) is_awaited: bool,
    /// The page of the last access, as [`Shadow::whole`](crate::shadow::Shadow::whole) knows it.
    pub(super) page: (u64, u32),
    /// Between these moments, reads of the site belong together, as they were found last.
    pub(super) together: (u64, u64),
}

/// What makes an iteration.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Whether it can be one piece, once that is known.
    pub(super) possible: Option<bool>,
    /// Ids, and where they are.
    pub(super) ids: Vec<(usize, u32)>,
    pub(super) bytes: usize,
    pub(super) operations: Vec<Operation>,
}
