//! What a segment does to locals, whenever the shape of its frame is the same.

use crate::models::Child;
use crate::shadow::Site;

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
    /// That many lines after the beginning.
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
