//! What it takes to see where a segment runs.

use workspan_graph::program::Loaded;
use workspan_trace::program::{flag, operation};
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use crate::source::{small, SegmentInfo};

/// A segment, as far as calls and loops are concerned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrival {
    pub(super) flags: u32,
    pub(super) function: u32,
    /// Innermost loop + 1.
    pub(super) in_loop: u32,
    /// The loop whose body begins here, + 1.
    pub(super) body_of: u32,
    /// Bytes of its event; 0: unknown, or it cannot be part of a strip.
    pub(super) bytes: u32,
    pub(super) is_known: bool,
}

impl Arrival {
    /// Of the segment with that number.
    pub(super) fn new(loaded: &Loaded, number: usize, info: &SegmentInfo) -> Arrival {
        let module = &loaded.module;
        let segment = &module.segments[number];
        let odd = operation::MASK_SLOT;
        let is_plain = !info.runs.is_empty() && module.operations_of(segment).iter().all(|each| each.flags & odd == 0);
        let bytes = if is_plain { ID_BYTES + SLOT_BYTES * module.slots(segment) } else { 0 };
        let SegmentInfo { flags, function, in_loop, body_of, .. } = *info;
        Arrival { flags, function, in_loop, body_of, bytes: small(bytes), is_known: true }
    }

    /// True if it may come after another one within a strip.
    #[inline]
    pub(super) fn continues(&self, before: &Arrival) -> bool {
        const BEGINS: u32 = flag::HEADER | flag::ENTRY | flag::FRAME | flag::LANDING | flag::DEAD_END;
        self.bytes != 0
            && self.flags & BEGINS == 0
            && (self.function, self.in_loop) == (before.function, before.in_loop)
    }

    /// True if no other segment may come after it within a strip.
    #[inline]
    pub(super) fn is_end(&self) -> bool {
        self.flags & (flag::CALL | flag::RETURN) != 0
    }
}
