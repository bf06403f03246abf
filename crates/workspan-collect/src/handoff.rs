//! A strand that moves to another thread and comes back: work handed to a pool from outside, `install` across pools.
//!
//! It forks nothing: the same serial strand goes on elsewhere, in the same context, while its thread waits.
//!
//! **Memory ordering:** as for [`super::join`]: the frame is published with the job and read back after the latch.

use core::cell::Cell;
use core::mem::MaybeUninit;

use super::counters::Values;
use super::events;
use super::log;
use super::origin::Identity;
use super::shared::Shared;
use super::strand;
use super::tables::ROOT;
use super::task::{self, Ended, Origin};
use super::tool;
use workspan_wire::log::Event;
use workspan_wire::shm::{Account, Thread, OWNED};

/// State of a hand-over, on the stack of the function that waits.
#[derive(Debug)]
pub struct Handoff {
    origin: Cell<Option<Origin>>,
    path: Cell<u32>,
    ended: Cell<MaybeUninit<Ended>>,
    /// Events of serial code that are not yet charged: they travel with the strand.
    events: Cell<Values>,
    /// Those of serial code that the other thread has under way itself.
    its_own: Cell<Values>,
}

// SAFETY: written by the owner before the job is published, then by the job, then read by the owner after the latch.
unsafe impl Sync for Handoff {}

impl Handoff {
    /// Before the hand-over.
    pub fn new() -> Handoff {
        Handoff {
            origin: Cell::new(None),
            path: Cell::new(0),
            ended: Cell::new(MaybeUninit::uninit()),
            events: Cell::default(),
            its_own: Cell::default(),
        }
    }

    /// True between `leave` and `resume`.
    pub fn active(&self) -> bool {
        self.origin.get().is_some()
    }

    /// The strand stops here at tick `now`.
    pub fn leave(&self, thread: &Thread, now: u64) {
        let span = strand::stop(thread, now);
        super::path::settle(thread);
        strand::flush(thread);
        let position = thread.task.position.get();
        // Serial work not yet charged travels with the strand.
        let pending = thread.task.work.get() - thread.task.flushed.get();
        thread.task.flushed.set(thread.task.work.get());
        if events::flag(thread) != 0 {
            events::nobody(thread);
            self.events.set(events::take(unclosed(thread)));
        }
        self.path.set(position.path);
        strand::set_path(thread, position.path & !OWNED);
        let mut identity = Identity::NONE;
        if log::on(thread) {
            let tool = if tool::on(thread) { thread.tool_task.get() | task::CONTINUED } else { 0 };
            identity = Identity { log: log::identity(thread), tool };
            if tool::on(thread) {
                tool::put_strand(thread);
            }
            log::with(thread, 0, 0, identity.log);
            log::strand(thread, Event::Handoff, position.context, span);
            log::rest(thread);
        }
        self.origin.set(Some(Origin {
            span,
            burdened: strand::burdened(thread),
            path: position.path & !OWNED,
            path_since: position.since,
            forked_in: position.context,
            context: position.context,
            pending,
            last_region: thread.task.last_region.get(),
            identity,
        }));
        task::enter_idle(thread, now);
    }

    /// Where it goes on. Called on the other thread; `None` if nobody follows it.
    pub fn origin(&self) -> Option<Origin> {
        self.origin.get()
    }

    /// It has begun there. Called on the other thread.
    pub fn begun(&self, thread: &Thread) {
        if events::flag(thread) != 0 {
            self.its_own.set(events::take(unclosed(thread)));
            events::give(unclosed(thread), self.events.take());
        }
    }

    /// It stops there. Called on the other thread, before the latch is set.
    pub fn done(&self, thread: &Thread, ended: Ended) {
        if events::flag(thread) != 0 {
            self.events.set(events::take(unclosed(thread)));
            events::give(unclosed(thread), self.its_own.take());
        }
        self.end(ended);
    }

    fn end(&self, ended: Ended) {
        self.ended.set(MaybeUninit::new(ended));
    }

    /// The other thread had no place in the tables.
    pub fn lost(&self) {
        if let Some(origin) = self.origin.get() {
            self.end(Ended {
                span: origin.span,
                burdened: origin.burdened,
                work: 0,
                nested: 0,
                path: origin.path,
                path_since: origin.path_since,
                pending: origin.pending,
                last_region: origin.last_region,
            });
        }
    }

    /// It is back here at tick `now`.
    pub fn resume(&self, thread: &Thread, now: u64) {
        if self.origin.take().is_none() {
            return;
        }
        // SAFETY: `active`, so the job has run and called `done` or `lost` before the latch.
        let ended = unsafe { self.ended.get().assume_init() };
        task::leave_idle(thread, now);
        thread.task.work.set(thread.task.work.get() + ended.work);
        thread.task.nested.set(thread.task.nested.get() + ended.nested);
        let pending = if strand::context(thread) == ROOT { ended.pending } else { 0 };
        thread.task.flushed.set(thread.task.work.get() - pending);
        thread.task.last_region.set(ended.last_region);
        let mut path = self.path.get();
        if ended.path & OWNED != 0 {
            super::path::release(Shared::of(thread), path);
            path = ended.path;
        }
        strand::set_tail(thread, path, ended.path_since);
        strand::set_span(thread, ended.span);
        strand::set_burdened(thread, ended.burdened);
        if log::on(thread) {
            log::mark(thread);
            if tool::on(thread) {
                tool::come_back(thread, thread.tool_task.get());
            }
        }
        if events::flag(thread) != 0 {
            events::give(unclosed(thread), self.events.take());
        }
        log::go(thread, now);
    }
}

/// Where events of serial code wait to be charged.
fn unclosed(thread: &Thread) -> &'static Account {
    Shared::of(thread).account(thread, ROOT)
}
