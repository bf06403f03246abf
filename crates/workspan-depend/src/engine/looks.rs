//! What looking at lists of reads has cost, so that a list is gone through as a whole where that has been paid for.

use crate::source::PlaceId;
use crate::tree::Common;

/// Groups of reads of one site that lie in one node, and in one call of its function.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadKind {
    /// The latest group, and its place in the list.
    pub(super) group: u32,
    pub(super) place: u32,
    pub(super) node: Common,
    pub(super) call: PlaceId,
}

/// Looks at the lists of a thread.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Groups looked at since a list was gone through as a whole.
    pub(super) spent: u32,
    /// How many that list had.
    pub(super) length: u32,
    /// Room for one list.
    pub(super) kinds: Vec<ReadKind>,
}
