//! Regions that the program marks: what-if regions, functions, and regions of interest.
//!
//! A marked region is part of a strand, or contains tasks; like any region it is a context of its own, so that its work,
//! its span and its share of the critical path show. It belongs to the task that begins it, which must end it.
//!
//! Those that a task has open are a stack of pages from the pool, as deep as the program nests them.

use workspan_collect::path;
use workspan_collect::region::{self, CallSite};
use workspan_collect::strand;
use workspan_wire::shm::Thread;

use super::call;
use super::frame::Frame;
use super::state::call::Open;
use super::state::marked::Mark;

/// `task` begins the region of `site` at tick `now`; its strand is stopped.
pub fn begin(thread: &Thread, task: &Frame, now: u64, site: &CallSite) {
    let Some(extra) = task.extra(thread) else {
        return;
    };
    path::settle(thread);
    let target = region::target(thread, site).filter(|target| target.context != strand::context(thread));
    let region = target.map(|target| {
        let region = region::enter_stopped(thread, now, site, target).marked_elsewhere();
        let outermost = !target.recursive;
        let call = if outermost { call::enter(thread, task, target.context) } else { Open::NONE };
        Mark { region, call }
    });
    extra.marks.push(thread, region);
}

/// `task` ends its innermost marked region at tick `now`; its strand is stopped.
pub fn end(thread: &Thread, task: &Frame, now: u64) {
    let Some(extra) = task.known_extra() else {
        return;
    };
    if let Some(Mark { region, call }) = extra.marks.pop(thread) {
        call::leave(thread, task, call);
        region::leave_stopped(thread, now, region);
    }
}
