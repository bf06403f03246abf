//! Regions that the program marks: what-if regions and regions of interest.
//!
//! A marked region is part of a strand, or contains tasks; like any region it is a context of its own, so that its work,
//! its span and its share of the critical path show. It belongs to the task that begins it, which must end it.

use core::cell::Cell;

use workspan_collect::path;
use workspan_collect::region::{self, CallSite, Region};
use workspan_collect::strand;
use workspan_wire::shm::Thread;

use super::frame::Frame;

/// Marked regions that a task can have open at a time; further ones belong to the innermost of these.
const DEPTH: usize = 3;

/// Marked regions that a task has open.
#[derive(Debug)]
pub struct Marks {
    depth: Cell<usize>,
    open: [Cell<Option<Region>>; DEPTH],
}

impl Marks {
    pub(super) const fn new() -> Marks {
        Marks { depth: Cell::new(0), open: [const { Cell::new(None) }; DEPTH] }
    }
}

/// `task` begins the region of `site` at tick `now`; its strand is stopped.
pub fn begin(thread: &Thread, task: &Frame, now: u64, site: &CallSite) {
    let Some(extra) = task.extra(thread) else {
        return;
    };
    let depth = extra.marks.depth.get();
    extra.marks.depth.set(depth + 1);
    if let Some(slot) = extra.marks.open.get(depth) {
        path::settle(thread);
        let target = region::target(thread, site).filter(|target| target.context != strand::context(thread));
        slot.set(target.map(|target| region::enter_stopped(thread, now, site, target)));
    }
}

/// `task` ends its innermost marked region at tick `now`; its strand is stopped.
pub fn end(thread: &Thread, task: &Frame, now: u64) {
    let Some(extra) = task.known_extra() else {
        return;
    };
    let Some(depth) = extra.marks.depth.get().checked_sub(1) else {
        return;
    };
    extra.marks.depth.set(depth);
    if let Some(region) = extra.marks.open.get(depth).and_then(Cell::take) {
        region::leave_stopped(thread, now, region);
    }
}
