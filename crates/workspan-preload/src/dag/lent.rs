//! Paths that tasks lend to what they are waited for with ([`super::gather`]).
//!
//! A gather knows where it was opened, and keeps the path up to there. A task that began just there, and ended in the same context
//! without a change of its path, hands in that path as it borrowed it: whoever waits supplies the rest.

use core::ptr;

use workspan_collect::shared::Shared;
use workspan_collect::tables::ContextId;
use workspan_wire::shm::{Thread, NODE};

use super::frame::Frame;
use super::state::gather::Gather;
use super::state::Base;

/// The gather of `task`, which `create` made.
pub fn of(thread: &Thread, task: &Frame) -> Option<&'static Gather> {
    let report = task.report.get();
    let nobody = report.is_null() || ptr::eq(report, &Shared::of(thread).header().detached);
    if nobody || !task.kind.get().direct {
        return None;
    }
    // SAFETY: `create` stored the address of a gather's first field, made of the gather's own reference to its block; the
    // task keeps the gather until it reports.
    Some(unsafe { &*report.cast::<Gather>() })
}

/// True of a strand on `path`, which accounts for it up to `since`, in `context`.
pub(super) fn is_at(base: &Base, path: u32, since: i64, context: ContextId) -> bool {
    base.path & NODE == path & NODE && base.since == since && base.context == context
}

/// True if `task`, which ended in its creator's context on the path that it borrowed, began where its gather was opened.
pub(super) fn lends(thread: &Thread, task: &Frame) -> bool {
    let start = task.start.get();
    of(thread, task).is_some_and(|gather| is_at(&gather.base, start.path, start.since, start.forked_in))
}
