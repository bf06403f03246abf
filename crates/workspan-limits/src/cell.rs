//! What is known of some bytes of memory. **Invariant**: a plain value, so that cells can be packed and unpacked.

use crate::row::{Lane, Row};

/// The history of some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Cell<L, const N: usize, const T: usize> {
    /// Depth of who wrote it last.
    pub written: Row<L, N>,
    /// Depth of who accessed it last, in the models with name dependences.
    pub touched: Row<L, T>,
    /// Frame that it belonged to then; 0 if it is not on the stack.
    pub owner: u32,
    /// Instruction that wrote it last; 0 if none.
    pub by: u32,
}

impl<L: Lane, const N: usize, const T: usize> Cell<L, N, T> {
    /// That of bytes that nobody has accessed.
    pub(crate) const NEW: Cell<L, N, T> = Cell { written: [L::START; N], touched: [L::START; T], owner: 0, by: 0 };
}
