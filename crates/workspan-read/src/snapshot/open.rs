//! Regions that a thread had not left when the process was over.

use std::mem::{offset_of, size_of};

use workspan_model::{ContextId, OpenRegion};
use workspan_wire::shm::{self, OpenRegion as OpenRecord, Thread, ThreadArea};

use crate::memory::{Record, Ticks};

/// A region that a thread had not left.
pub(super) struct Open {
    pub(super) context: ContextId,
    pub(super) outermost: bool,
    /// Ticks so far.
    pub(super) span: i64,
}

impl Open {
    pub(super) fn in_nanos(&self, ticks: &Ticks) -> OpenRegion {
        let &Open { context, outermost, span } = self;
        OpenRegion { context, outermost, span: ticks.nanos(span).at_least_zero() }
    }
}

/// Outermost first.
pub(super) fn regions<'a>(area: &'a Record, contexts: &'a [ContextId]) -> impl Iterator<Item = Open> + 'a {
    let thread = offset_of!(ThreadArea, thread);
    let count = (area.u32(thread + offset_of!(Thread, open_len)) as usize).min(shm::OPEN_REGIONS);
    let span = area
        .i64(thread + offset_of!(Thread, task.work))
        .wrapping_add(area.i64(thread + offset_of!(Thread, task.offsets.actual)));
    (0..count).filter_map(move |i| {
        let at = thread + offset_of!(Thread, open) + i * size_of::<OpenRecord>();
        let context = area.u32(at + offset_of!(OpenRecord, context)) as usize;
        let context = contexts.get(context).copied().filter(|c| *c != ContextId::ROOT)?;
        Some(Open {
            context,
            outermost: area.u32(at + offset_of!(OpenRecord, outermost)) != 0,
            span: span.wrapping_sub(area.i64(at + offset_of!(OpenRecord, span))),
        })
    })
}
