//! Shapes of frames, and what segments do in them, as [`super::shape`] finds it.

use std::collections::HashMap;

use super::noting::Noting;
use super::slots::{Local, Slots};
use super::step::Step;
use super::strip::Root;
use crate::shadow::{BuildHasher, Reader};

/// How the touches of a segment are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// One by one, to cells that stay.
    Each,
    /// There is none.
    None,
    /// One by one, and noted as a step.
    Noting,
    /// As a step that is known.
    Known(usize),
}

/// A shape.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) locals: Vec<Local>,
    /// Nodes of the frame, itself first: models in which they are tasks.
    pub(super) tasks: Vec<u16>,
    /// Strips that begin in it.
    pub(super) roots: Vec<Root>,
    /// The shape after a turn of the innermost loop; 0: not known.
    pub(super) turned: u32,
}

/// Shapes of a thread's frames.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    pub(super) numbers: HashMap<Box<[u32]>, u32, BuildHasher>,
    /// By number, from 1.
    pub(super) known: Vec<Known>,
    pub(super) after: HashMap<(u32, u64), u32, BuildHasher>,
    /// Steps by shape and segment; nothing: it cannot be one.
    pub(super) step_of: HashMap<(u32, u32), Option<usize>, BuildHasher>,
    pub(super) steps: Vec<Step>,
    pub(super) slots: Slots,
    /// The step that is noted.
    pub(super) noting: Noting,
    /// Room for keys, and for groups of reads.
    pub(super) key: Vec<u32>,
    pub(super) groups: Vec<Reader>,
    /// Segments that ran in a shape, as parts of strips or by themselves.
    pub(super) segments: u64,
    /// Shapes do not come again in this program.
    pub(super) off: bool,
}

impl Shapes {
    /// The step of a segment in a shape, if it is known.
    #[inline]
    pub(super) fn step(&self, shape: u32, id: u32) -> Option<usize> {
        self.step_of.get(&(shape, id)).copied().flatten()
    }
}
