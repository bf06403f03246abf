//! Regions that the program marks: what-if regions, functions, and regions of interest.
//!
//! A marked region is part of a strand, or contains tasks; like any region it is a context of its own, so that its work,
//! its span and its share of the critical path show. It belongs to the task that begins it, which must end it.
//!
//! Those that a task has open are a stack of pages from the pool, as deep as the program nests them.

use core::cell::Cell;
use core::ptr;

use workspan_collect::path;
use workspan_collect::region::{self, CallSite, Region};
use workspan_collect::strand;
use workspan_wire::shm::Thread;

use super::frame::Frame;
use super::{call, pool};

/// Regions on a page.
const PAGE: usize = 4;

/// A marked region that is open.
#[derive(Clone, Copy, Debug)]
struct Mark {
    region: Region,
    call: call::Open,
}

/// Marked regions that a task has open.
#[derive(Debug)]
pub struct Marks {
    top: Cell<*const Page>,
    /// Regions for which there was no page.
    beyond: Cell<u32>,
}

#[derive(Debug)]
struct Page {
    below: *const Page,
    len: Cell<usize>,
    open: [Cell<Option<Mark>>; PAGE],
}

impl Marks {
    pub(super) const fn new() -> Marks {
        Marks { top: Cell::new(ptr::null()), beyond: Cell::new(0) }
    }

    fn page(&self) -> Option<&Page> {
        // SAFETY: null, or a page from `push`, which is this stack's until `pop` or `forget` gives it back.
        unsafe { self.top.get().as_ref() }
    }

    fn push(&self, thread: &Thread, region: Option<Mark>) {
        if self.page().is_none_or(|page| page.len.get() == PAGE) {
            let none = self.beyond.get() != 0;
            let Some(at) = (if none { None } else { pool::take::<Page>(thread) }) else {
                self.beyond.set(self.beyond.get() + 1);
                return;
            };
            let page = Page { below: self.top.get(), len: Cell::new(0), open: [const { Cell::new(None) }; PAGE] };
            // SAFETY: a fresh block, large and aligned enough.
            unsafe { at.write(page) };
            self.top.set(at);
        }
        if let Some(page) = self.page() {
            page.open[page.len.get()].set(region);
            page.len.set(page.len.get() + 1);
        }
    }

    fn pop(&self, thread: &Thread) -> Option<Mark> {
        if let Some(beyond) = self.beyond.get().checked_sub(1) {
            self.beyond.set(beyond);
            return None;
        }
        let page = self.page()?;
        let at = page.len.get() - 1;
        let region = page.open[at].take();
        page.len.set(at);
        if at == 0 {
            self.give_back(thread);
        }
        region
    }

    fn give_back(&self, thread: &Thread) {
        if let Some(page) = self.page() {
            let at = self.top.replace(page.below);
            // SAFETY: it came from the pool, and nothing refers to it any more.
            unsafe { pool::give(thread, at) };
        }
    }

    /// The task is over: regions that it has not ended are forgotten.
    pub(super) fn forget(&self, thread: &Thread) {
        while self.page().is_some() {
            self.give_back(thread);
        }
    }
}

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
        let call = if outermost { call::enter(thread, task, target.context) } else { call::Open::NONE };
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
