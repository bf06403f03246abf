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

/// Shapes that are kept.
const MOST: usize = 1 << 14;
/// Of one function.
const OF_FUNCTION: u32 = 1 << 11;
/// Of one function, with [`Detail::Former`].
const IN_DETAIL: u32 = 1 << 9;

/// How much a shape says of moments before the iteration that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Whether they lie in the iteration before.
    Former,
    /// Nothing: each distance is computed.
    Carried,
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
    /// How many each function has.
    pub(super) of_function: HashMap<u32, u32, BuildHasher>,
}

impl Shapes {
    /// How much further shapes of a function say. It has many where each of several places may or may not have run in the iteration before:
    /// without that there are far fewer.
    pub(super) fn detail(&self, function: u32) -> Detail {
        let of_function = self.of_function.get(&function).copied().unwrap_or(0);
        if of_function < IN_DETAIL {
            Detail::Former
        } else {
            Detail::Carried
        }
    }

    /// True if the function may have another one: a few functions with many shapes leave room for those that come later.
    pub(super) fn has_room(&self, function: u32) -> bool {
        self.known.len() < MOST && self.of_function.get(&function).is_none_or(|count| *count < OF_FUNCTION)
    }

    /// The step of a segment in a shape, if it is known.
    #[inline]
    pub(super) fn step(&self, shape: u32, id: u32) -> Option<usize> {
        self.step_of.get(&(shape, id)).copied().flatten()
    }
}
