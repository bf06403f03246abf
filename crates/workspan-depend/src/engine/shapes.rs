//! Shapes of frames, and what segments do in them, as [`super::shape`] finds it.

use std::collections::HashMap;

use super::locals::{Local, Slots};
use super::noting::Noting;
use super::strip::Root;
use crate::models::Child;
use crate::shadow::{BuildHasher, Reader, Site};

/// What became of the groups of reads when one was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Noted {
    /// A new group is the first one.
    First,
    /// A group is longer: the one at that place of the list, from 0.
    Longer(u32),
    /// The second group took in the first one, which begins anew.
    Pushed,
    /// Each latter group became part of the former, by their places in the list; and a new group is the first one.
    Joined(Vec<(u32, u32)>),
}

/// Where a moment comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// A slot of the frame.
    Slot(u32),
    /// So many lines after the beginning.
    Now(u32),
}

/// What a model waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Await {
    /// The line that waits, from 1.
    pub(super) line: u32,
    pub(super) model: u8,
    /// Level, from that of the frame.
    pub(super) level: u32,
    pub(super) child: Child,
    /// It is the innermost level.
    pub(super) is_top: bool,
}

/// A dependence on an iteration before the one before, whose distance is another one each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Far {
    pub(super) record: u32,
    /// Node, from that of the frame.
    pub(super) node: u32,
    pub(super) first: From,
    pub(super) last: From,
}

/// What a segment does in a shape.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// Shape afterwards.
    pub(super) to: u32,
    /// Lines.
    pub(super) lines: u32,
    /// How often it was done again.
    pub(super) times: u64,
    /// Dependences that it finds; an iteration apart at most.
    pub(super) records: Vec<u32>,
    /// Others.
    pub(super) far: Vec<Far>,
    /// Reads of what was never written.
    pub(super) exposed: Vec<Site>,
    /// What models wait for.
    pub(super) awaits: Vec<Await>,
    /// Moments that change, all at once.
    pub(super) moves: Vec<(u32, From)>,
}

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
