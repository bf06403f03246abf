//! Hooks of `join_context`.

use core::marker::PhantomData;

use super::link::Link;
use workspan_collect::join::JoinFrame;
use workspan_collect::thread::{self, current};

/// One fork, on the stack of `join_context`.
#[derive(Debug)]
pub struct Join {
    frame: JoinFrame,
    _local: PhantomData<*const ()>,
}

impl Join {
    /// Before the fork.
    #[inline(always)]
    pub fn new() -> Join {
        Join { frame: JoinFrame::new(), _local: PhantomData }
    }

    /// For the job of the right branch.
    #[inline(always)]
    pub fn link(&self) -> Link {
        Link::join(&self.frame)
    }

    /// Before the right branch is published.
    #[inline(always)]
    pub fn fork(&self) {
        if let Some((thread, now)) = thread::often() {
            self.frame.fork(thread, now);
        }
    }

    /// After the left branch, however it ended.
    #[inline(always)]
    pub fn left_done(&self) {
        if self.frame.active() {
            if let Some((thread, now)) = thread::often() {
                self.frame.left_done(thread, now);
            }
        }
    }

    /// Before the right branch runs inline; ends when the guard is dropped, also by a panic.
    #[inline(always)]
    pub fn right_inline(&self) -> RightInline<'_> {
        if self.frame.active() {
            if let Some(thread) = current() {
                if thread.task.waiting.get() != 0 {
                    self.found();
                }
                self.frame.right_inline(thread);
            }
        }
        RightInline(self)
    }

    #[inline(always)]
    fn right_done(&self) {
        if self.frame.active() {
            if let Some((thread, now)) = thread::often() {
                self.frame.right_done(thread, now);
            }
        }
    }

    #[cold]
    fn found(&self) {
        if let Some((thread, now)) = thread::waking() {
            self.frame.found(thread, now);
        }
    }

    /// Before the thread runs other jobs or sleeps.
    #[cold]
    pub fn wait(&self) {
        if !self.frame.active() {
            return;
        }
        // rayon comes here again and again; a reading now would be of a strand that has ended.
        let Some(thread) = current().filter(|thread| thread.task.waiting.get() == 0) else {
            return;
        };
        // The reading itself may end a batch.
        let left_out = thread.batching.get() != 0;
        if let Some((thread, now)) = thread::running() {
            self.frame.wait(thread, now, left_out);
        }
    }

    /// After the right branch was run by another job or thread.
    #[cold]
    pub fn resume(&self) {
        if self.frame.active() {
            if current().is_some_and(|thread| thread.batching.get() != 0) {
                // Nobody waited, and what has passed in the left branch may not have been charged yet.
                self.wait();
            }
            if let Some((thread, now)) = thread::waking() {
                self.frame.resume(thread, now);
            }
        }
    }

    /// The left branch panicked: `wait` waits for the right one and unwinds.
    #[cold]
    pub fn recover<R>(&self, wait: impl FnOnce() -> R) -> R {
        struct Resume<'a>(&'a Join);
        impl Drop for Resume<'_> {
            fn drop(&mut self) {
                self.0.resume();
            }
        }
        self.wait();
        let _resume = Resume(self);
        wait()
    }
}

/// The right branch, running inline.
#[derive(Debug)]
pub struct RightInline<'a>(&'a Join);

impl RightInline<'_> {
    /// The right branch has returned.
    #[inline(always)]
    pub fn done(self) {
        let join = self.0;
        core::mem::forget(self);
        join.right_done();
    }
}

/// The right branch has panicked.
impl Drop for RightInline<'_> {
    #[cold]
    fn drop(&mut self) {
        self.0.right_done();
    }
}
