//! What the cells of one access have in common counts once.
//!
//! **Argument:** how many cells an access covers is no property of the program: smaller accesses near by refine a page of the shadow, and
//! where pages begin depends on where the system puts the stack. A count is a number of later accesses, so a dependence that
//! several cells of one access find in the same node of the tree is counted once; its distances span those of all cells.

use crate::table::Table;

/// Dependences that the parts of an access have found so far.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Record, node, and the greatest distance.
    found: Vec<(u32, usize, u64)>,
    /// Where the access begins.
    address: u64,
    /// There are several pieces, and several cells of a piece.
    pieces: bool,
    cells: bool,
}

impl Parts {
    /// A piece of an access begins.
    #[inline]
    pub(super) fn begin(&mut self, address: u64, is_part: bool) {
        if !is_part {
            self.found.clear();
        }
        (self.address, self.pieces, self.cells) = (address, is_part, false);
    }

    /// The cells of the piece are counted.
    #[inline]
    pub(super) fn of_cells(&mut self, count: usize) {
        self.cells = count > 1;
    }

    /// The access has ended.
    #[inline]
    pub(super) fn end(&mut self) {
        (self.pieces, self.cells) = (false, false);
        self.found.clear();
    }

    /// A dependence was seen, at a node that began at `start`.
    #[inline]
    pub(super) fn count(
        &mut self,
        table: &mut Table,
        (record, node): (u32, usize),
        (address, start): (u64, u64),
        distances: (u64, u64),
    ) {
        if !self.pieces && !self.cells {
            table.count(record, (address, start), distances);
            return;
        }
        match self.found.iter_mut().find(|found| (found.0, found.1) == (record, node)) {
            Some((.., most)) => {
                table.widen(record, distances, distances.1.saturating_sub(*most));
                *most = distances.1.max(*most);
            }
            None => {
                self.found.push((record, node, distances.1));
                table.count(record, (self.address, start), distances);
            }
        }
    }
}
