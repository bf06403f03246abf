//! Marked regions that a task has open: a stack of pages from the pool.

use core::cell::Cell;
use core::ptr;

use workspan_collect::region::Region;
use workspan_wire::shm::Thread;

use super::call::Open;
use crate::dag::pool;

/// Regions on a page.
const PAGE: usize = 4;

/// A marked region that is open.
#[derive(Clone, Copy, Debug)]
pub(in crate::dag) struct Mark {
    pub(in crate::dag) region: Region,
    pub(in crate::dag) call: Open,
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
    pub(in crate::dag) const fn new() -> Marks {
        Marks { top: Cell::new(ptr::null()), beyond: Cell::new(0) }
    }

    fn page(&self) -> Option<&Page> {
        // SAFETY: null, or a page from `push`, which is this stack's until `pop` or `forget` gives it back.
        unsafe { self.top.get().as_ref() }
    }

    pub(in crate::dag) fn push(&self, thread: &Thread, region: Option<Mark>) {
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

    pub(in crate::dag) fn pop(&self, thread: &Thread) -> Option<Mark> {
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
    pub(in crate::dag) fn forget(&self, thread: &Thread) {
        while self.page().is_some() {
            self.give_back(thread);
        }
    }
}
