//! Critical paths, as they lie in the shared memory: chains of nodes, newest first, and handles to them.

use core::cell::Cell;
use core::mem::size_of;
use core::sync::atomic::AtomicU32;

/// Entries of a [`PathNode`].
pub const NODE_ENTRIES: usize = 5;

/// Bit of a path handle: the holder owns a reference and may extend the node.
pub const OWNED: u32 = 1 << 31;

/// Bit of a path handle: [`prefix`](super::shm::Thread::prefix) is still to be added.
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
    /// How many these are (saturating).
    pub calls: [Cell<u32>; NODE_ENTRIES],
    /// Contexts of the entries.
    pub contexts: [Cell<u16>; NODE_ENTRIES],
    /// Entries in use.
    pub len: Cell<u8>,
    /// Nodes since the last fold (saturating).
    pub depth: Cell<u8>,
    /// Holders: paths that end here, and nodes that come next.
    pub holders: AtomicU32,
    /// The segment before it; 0 for none. In a free node: the next free one.
    pub parent: AtomicU32,
}

const _: () = assert!(size_of::<PathNode>() == 160);
