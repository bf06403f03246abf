//! Critical paths, as they lie in the shared memory: chains of nodes, newest first, and handles to them.

use super::sync::{AtomicI64, AtomicU32, Cell};

/// Entries of a [`PathNode`].
pub const NODE_ENTRIES: usize = 5;

/// Bit of a path handle: the holder owns a reference and may extend the node.
pub const OWNED: u32 = 1 << 31;

/// Bit of a path handle: the task's prefix is still to be added.
pub const PREFIXED: u32 = 1 << 30;
/// The part of a path handle that names a node.
pub const NODE: u32 = PREFIXED - 1;

/// A segment of critical paths: up to [`NODE_ENTRIES`] contexts with their shares, and the segment before it.
#[derive(Debug)]
#[repr(C)]
pub struct PathNode {
    /// Ticks per entry.
    pub ticks: [Cell<i64>; NODE_ENTRIES],
    /// Work of the outermost instances that end on the path, descendants included, per entry.
    pub work: [Cell<i64>; NODE_ENTRIES],
    /// Their spans.
    pub span: [Cell<i64>; NODE_ENTRIES],
    /// How many these are (saturating); of an entry of [`AWAITED`], which call it is.
    pub calls: [Cell<u32>; NODE_ENTRIES],
    /// Contexts of the entries, or [`AWAITED`].
    pub contexts: [Cell<u16>; NODE_ENTRIES],
    /// Entries in use.
    pub len: Cell<u8>,
    pub(crate) _pad: Cell<u8>,
    /// Nodes of the chain, as it was when this one was added or folded.
    pub length: Cell<u32>,
    /// With how many it is to be folded.
    pub fold_at: Cell<u32>,
    /// Holders: paths that end here, and nodes that come next.
    pub holders: AtomicU32,
    /// The segment before it; 0 for none. In a free node: the next free one.
    pub parent: AtomicU32,
}

/// In place of an entry's context: it is a [`Call`], whose sums may not be known yet.
pub const AWAITED: u16 = u16::MAX;

/// An instance of a site that a path goes through from its begin on: its sums are known when all has ended that was created
/// in it.
#[derive(Debug)]
#[repr(C)]
pub struct Call {
    /// Entries of nodes that stand for it, and 1 while it is not known.
    pub holders: AtomicU32,
    /// What keeps it from being known: itself, and what was created in it.
    pub open: AtomicU32,
    /// 1 once it is known.
    pub known: AtomicU32,
    /// In a free one: the next free one.
    pub next: AtomicU32,
    /// Its context.
    pub context: AtomicU32,
    /// The call around it in the same task; 0 for none.
    pub around: Cell<u32>,
    /// Of a member's part: the call that all members have a part of; 0 for none.
    pub whole: Cell<u32>,
    pub(crate) _pad: Cell<u32>,
    /// Its work, as far as it is known.
    pub work: AtomicI64,
    /// Of `work`: that of tasks that were created in it.
    pub apart: AtomicI64,
    /// Its span.
    pub span: AtomicI64,
}
