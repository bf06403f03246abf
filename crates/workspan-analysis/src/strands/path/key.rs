//! Keys of nodes, and what is in a number of a node besides.

/// Keys of tokens: what a path goes through, and whose sums are not known yet.
pub(in crate::strands) const TOKEN: u32 = 1 << 31;
/// Of these: keys of local ones.
pub(in crate::strands) const LOCAL: u32 = 1 << 30;

/// A tail's path is a hold of its own.
pub(in crate::strands) const OWNED: u32 = 1 << 31;

/// No node.
pub(super) const NONE: u32 = 0;
