//! Iterations that models have not been asked about, as [`super::repeat`] uses them.

use super::waiting::Waiting;
use crate::models::{Child, Wait, COUNT};
use crate::tree::Common;

/// What a model waits for because of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gathered {
    /// Place of the model.
    pub(super) place: u8,
    pub(super) level: u32,
    /// The line, where the innermost task waits; 0: another one.
    pub(super) line: u32,
    pub(super) child: Child,
}

/// What models wait for because of an access on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) line: u32,
    pub(super) at: Common,
    pub(super) waiting: Waiting,
}

/// Iterations that models have not been asked about.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// What models wait for is only noted.
    pub(super) gathers: bool,
    pub(super) finds: Vec<Find>,
    /// The same of the iteration before, and what it is for models.
    pub(super) finds_before: Vec<Find>,
    pub(super) before: Vec<Gathered>,
    /// There was one.
    pub(super) is_known: bool,
    /// Iterations that waited for the same.
    pub(super) pending: u64,
    pub(super) further: [Vec<Wait>; COUNT],
}

impl Repeats {
    /// Models have waited for what was found.
    pub(super) fn known(&mut self) {
        std::mem::swap(&mut self.finds, &mut self.finds_before);
        self.is_known = true;
    }

    /// Models wait because of an access on a line.
    #[inline]
    pub(super) fn find(&mut self, line: u32, at: Common, waiting: &Waiting) {
        self.finds.push(Find { line, at, waiting: *waiting });
    }
}
