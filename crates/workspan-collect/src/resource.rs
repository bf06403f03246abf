//! A serial resource: tasks take turns on it, each goes on in parallel afterwards.
//!
//! `par_bridge` is the case in point: workers lock a shared iterator, take an item, unlock, process the item. Which
//! worker takes which item is accident; logically the calls of the iterator form one serial chain, and every item is a
//! task that forks off that chain where its call returned. So the resource carries the absolute span of its chain; a
//! turn starts from there, whoever takes it, and an item's end is offered to its worker's [`Turns`].
//!
//! With steals each item is one. Its end then goes to the resource, which the strand that owns it takes over
//! ([`Resource::finish`]): that workers were forked to take turns is no part of an item.
//!
//! The runtime's own lock guards the resource; waiting for the lock is not counted, since the chain already says it.

use core::cell::Cell;
use core::sync::atomic::{AtomicI64, Ordering};

use super::group::raise;
use super::log;
use super::path::{self, Tail};
use super::shared::{current_account, Shared};
use super::strand::{self, count_task};
use super::task;
use workspan_wire::log::Event;
use workspan_wire::shm::{Thread, OWNED};

/// State of the resource. Touched only by the holder of the runtime's lock, but for what `Sync` below names.
#[derive(Debug)]
pub struct Resource {
    started: Cell<bool>,
    span: Cell<i64>,
    path: Cell<u32>,
    path_since: Cell<i64>,
    /// What the owner's absolute span has more with steals.
    burden: Cell<i64>,
    /// Absolute span of the chain with steals.
    burdened: Cell<i64>,
    /// Longest end of an item with steals.
    last: AtomicI64,
    /// What turns ran themselves: the owner's own code, whoever took them.
    own: Cell<i64>,
    /// By which the log knows it.
    identity: Cell<u64>,
    /// Turns so far, where they are logged.
    turns: Cell<i64>,
}

// SAFETY: cells are guarded by the runtime's lock on what it describes, but for `burden`, which the owner writes before it
// shares the resource; the owner reads the rest after the last turn. `last` is an atomic.
unsafe impl Sync for Resource {}
// SAFETY: holds plain values.
unsafe impl Send for Resource {}

impl Resource {
    /// Before the first turn.
    pub const fn new() -> Resource {
        Resource {
            started: Cell::new(false),
            span: Cell::new(0),
            path: Cell::new(0),
            path_since: Cell::new(0),
            burden: Cell::new(0),
            burdened: Cell::new(0),
            last: AtomicI64::new(i64::MIN),
            own: Cell::new(0),
            identity: Cell::new(0),
            turns: Cell::new(0),
        }
    }

    /// The strand of `thread` owns it.
    pub fn owned_by(&self, thread: &Thread) {
        self.burden.set(strand::burdened(thread) - strand::span(thread));
    }

    /// Gives back what the chain holds, and the owner what turns ran. The last turn is over; the owner goes on.
    pub fn finish(&self, thread: &Thread) {
        let last = self.last.load(Ordering::Acquire);
        if last > strand::burdened(thread) {
            strand::set_burdened(thread, last);
        }
        thread.task.nested.set(thread.task.nested.get() - self.own.take());
        path::release(Shared::of(thread), self.path.replace(0));
    }
}

/// The turns that one task takes.
#[derive(Debug)]
pub struct Turns {
    active: Cell<bool>,
    path: Cell<u32>,
    path_since: Cell<i64>,
    span: Cell<i64>,
    burdened: Cell<i64>,
    best: Cell<Tail>,
    work: Cell<i64>,
    nested: Cell<i64>,
    item: Cell<bool>,
}

impl Turns {
    /// Before the first turn.
    pub fn new() -> Turns {
        Turns {
            active: Cell::new(false),
            path: Cell::new(0),
            path_since: Cell::new(0),
            span: Cell::new(0),
            burdened: Cell::new(0),
            best: Cell::new(Tail { span: 0, path: 0, since: 0 }),
            work: Cell::new(0),
            nested: Cell::new(0),
            item: Cell::new(false),
        }
    }

    /// The task's own strand pauses at tick `now`; turns follow.
    pub fn enter(&self, thread: &Thread, now: u64) {
        let span = strand::stop(thread, now);
        path::settle(thread);
        self.active.set(true);
        let position = thread.task.position.get();
        self.path.set(position.path);
        self.path_since.set(position.since);
        self.span.set(span);
        self.burdened.set(strand::burdened(thread));
        let path = position.path & !OWNED;
        strand::set_path(thread, path);
        self.best.set(Tail { span, path, since: position.since });
        self.log(thread, Event::Turns, span);
        log::rest(thread);
        task::enter_idle(thread, now);
    }

    fn log(&self, thread: &Thread, event: Event, span: i64) {
        if log::on(thread) && self.active.get() {
            log::strand(thread, event, strand::context(thread), span);
        }
    }

    /// The lock is held: the turn begins at tick `now`, where the chain ended.
    pub fn begin(&self, thread: &Thread, now: u64, resource: &Resource) {
        if !resource.started.replace(true) {
            resource.path.set(path::own(Shared::of(thread), self.path.get()));
            resource.path_since.set(self.path_since.get());
            resource.span.set(self.span.get());
            resource.burdened.set(self.span.get() + resource.burden.get());
        }
        strand::set_tail(thread, resource.path.get() & !OWNED, resource.path_since.get());
        strand::set_span(thread, resource.span.get());
        strand::set_burdened(thread, resource.burdened.get());
        self.work.set(thread.task.work.get());
        self.nested.set(thread.task.nested.get());
        task::leave_idle(thread, now);
        if log::on(thread) {
            if resource.identity.get() == 0 {
                resource.identity.set(log::identity(thread));
            }
            log::piece(thread, Event::Turn, strand::context(thread), resource.turns.get(), resource.identity.get());
            resource.turns.set(resource.turns.get() + 1);
            log::mark(thread);
        }
        log::go(thread, now);
    }

    /// The turn ends at tick `now`; with `item` the strand goes on with it, else the resource is exhausted.
    pub fn end(&self, thread: &Thread, now: u64, resource: &Resource, item: bool) {
        let shared = Shared::of(thread);
        let span = strand::stop(thread, now);
        resource.span.set(span);
        let burdened = strand::burdened(thread);
        resource.burdened.set(burdened);
        let position = thread.task.position.get();
        resource.path_since.set(position.since);
        if position.path & OWNED != 0 {
            path::release(shared, resource.path.replace(position.path));
        }
        strand::set_path(thread, path::own(shared, resource.path.get()));
        self.leave_out(thread, resource);
        self.item.set(item);
        self.log(thread, if item { Event::Item } else { Event::TurnEnd }, span);
        if item {
            self.work.set(thread.task.work.get());
            self.nested.set(thread.task.nested.replace(0));
            strand::set_burdened(thread, burdened + thread.steal.get());
            log::go(thread, now);
        } else {
            raise(&resource.last, burdened);
            self.keep_longest(thread, span);
            log::rest(thread);
            task::enter_idle(thread, now);
        }
    }

    /// The turn is over. It is no part of the task that takes it, which is accident: that is next to empty, as
    /// `workspan_model::Totals::machinery` says. Turns are the owner's own code.
    fn leave_out(&self, thread: &Thread, resource: &Resource) {
        let nested = thread.task.nested.get();
        let own = thread.task.work.get() - self.work.get() - (nested - self.nested.get());
        thread.task.nested.set(nested + own);
        resource.own.set(resource.own.get() + own);
    }

    /// The item is done at tick `now`.
    pub fn item_done(&self, thread: &Thread, now: u64, resource: &Resource) {
        if !self.item.replace(false) {
            return;
        }
        let span = strand::stop(thread, now);
        raise(&resource.last, strand::burdened(thread) + thread.steal.get());
        let work = thread.task.work.get() - self.work.get();
        let account = current_account(thread);
        count_task(account, work - thread.task.nested.get());
        account.items.set(account.items.get() + 1);
        thread.task.nested.set(self.nested.get() + work);
        self.log(thread, Event::ItemEnd, span);
        self.keep_longest(thread, span);
        log::rest(thread);
        task::enter_idle(thread, now);
    }

    /// No more turns; the task's own strand goes on at tick `now`, after the longest of its items.
    pub fn leave(&self, thread: &Thread, now: u64, resource: &Resource) {
        if !self.active.get() {
            return;
        }
        if self.item.get() {
            // The item unwinds.
            self.item_done(thread, now, resource);
        } else if thread.task.waiting.get() == 0 {
            // The iterator itself unwinds.
            let span = strand::stop(thread, now);
            self.leave_out(thread, resource);
            self.log(thread, Event::TurnEnd, span);
            raise(&resource.last, strand::burdened(thread));
            self.keep_longest(thread, span);
        }
        self.active.set(false);
        let best = self.best.get();
        let mut path = self.path.get();
        if best.path & OWNED != 0 {
            path::release(Shared::of(thread), path);
            path = best.path;
        }
        strand::set_tail(thread, path, best.since);
        strand::set_span(thread, best.span);
        strand::set_burdened(thread, self.burdened.get());
        task::leave_idle(thread, now);
        if log::on(thread) {
            log::note(thread, Event::Left, 0);
            log::mark(thread);
        }
        log::go(thread, now);
    }

    fn keep_longest(&self, thread: &Thread, span: i64) {
        let shared = Shared::of(thread);
        let best = self.best.get();
        let position = thread.task.position.get();
        let ended = Tail { span, path: position.path, since: position.since };
        let (longer, shorter) = if span > best.span { (ended, best) } else { (best, ended) };
        path::release(shared, shorter.path);
        self.best.set(longer);
        strand::set_path(thread, longer.path & !OWNED);
    }
}
