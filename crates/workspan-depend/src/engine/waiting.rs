//! What models wait for because of a dependence, as [`super::waits`] finds it.

use crate::models::Child;
use crate::source::PlaceId;

/// Models that wait because of a dependence: one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waiting {
    /// For calls of a place.
    pub(super) calls: u16,
    /// For the loop that has ended in between.
    pub(super) loops: u16,
    /// For the iterations before.
    pub(super) iterations: u16,
    /// For the line of the earlier access.
    pub(super) lines: u16,
    /// Those to which iterations are tasks: the level is the iteration's.
    pub(super) inner: u16,
    /// The call that the earlier access was made in, or whose result it takes.
    pub(super) call: PlaceId,
    /// The loop.
    pub(super) ended: u32,
    /// Line of the earlier access.
    pub(super) line: u32,
}

impl Waiting {
    /// Nothing.
    pub(super) const NONE: Waiting =
        Waiting { calls: 0, loops: 0, iterations: 0, lines: 0, inner: 0, call: 0, ended: 0, line: 0 };

    /// What a model waits for.
    pub(super) fn children(&self, bit: u16) -> [Option<Child>; 2] {
        let first = if self.iterations & bit != 0 {
            Some(Child::Iteration)
        } else if self.loops & bit != 0 {
            Some(Child::Loop(self.ended))
        } else if self.calls & bit != 0 {
            Some(Child::Call(self.call))
        } else {
            None
        };
        // Beside a call, also what the function did itself on that line.
        [first, (self.lines & bit != 0).then_some(Child::Line(self.line))]
    }

    /// Models that wait for anything.
    #[inline]
    pub(super) fn any(&self) -> u16 {
        self.calls | self.loops | self.iterations | self.lines
    }
}

/// The task for which models have waited: waiting again for what had ended before it began changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waited {
    /// Node of the task; 0: none.
    pub(super) serial: u64,
    /// Moment at which the iteration of the common node began.
    pub(super) turn: u64,
    /// Node of the call that runs in the common node's frame; 0: none.
    pub(super) frame: u64,
    /// Calls that had returned.
    pub(super) returns: u64,
}
