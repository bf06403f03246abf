//! A group of tasks that one strand waits for: `scope`, `broadcast`.
//!
//! Any number of tasks, created by the body or by one another, end in any order on any thread. Each offers its end to
//! the group's candidate; the body, when it has waited, takes the longer of its own span and the candidate.
//!
//! **Concurrency:** see [`super::candidate`]. The runtime's latch orders all of it before [`Group::exit`].
//!
//! **Cost** of a task: one atomic addition, two atomic loads, and only for a new longest one the swap, for a new longest with
//! steals an atomic maximum (of tasks in the order of their creation that is nearly every one); besides what it takes to hold
//! what it knows of its creator ([`batch`]), one atomic subtraction.
//!
//! **Memory** of a task that has been created and has not ended: the word that is its [`TaskLink`], and its share of a
//! batch.

use core::cell::Cell;
use core::sync::atomic::Ordering;

use super::batch::{self, Added, Kind};
pub use super::candidate::{offer, raise};
use super::ends::Ends;
use super::log;
use super::origin::Identity;
use super::path::{self, Tail};
use super::region;
use super::shared::Shared;
use super::strand::{self, count_task};
use super::tables::{ContextId, Target, ROOT};
use super::task::{self, Ended, Suspended};
use super::tool;
use workspan_wire::log::Event;
use workspan_wire::shm::{Thread, NODE, OWNED, PREFIXED};

/// State of a group, where the body's owner keeps it.
#[derive(Debug)]
pub struct Group {
    ends: Ends,
    active: Cell<bool>,
    path: Cell<u32>,
    path_since: Cell<i64>,
    body_span: Cell<i64>,
    body_burdened: Cell<i64>,
}

// SAFETY: the cells are used by the owner of the body only; tasks touch the atomics.
unsafe impl Sync for Group {}
// SAFETY: as above: a group holds no reference to its thread.
unsafe impl Send for Group {}

impl Group {
    /// A group without tasks.
    pub const fn new() -> Group {
        Group {
            ends: Ends::new(),
            active: Cell::new(false),
            path: Cell::new(0),
            path_since: Cell::new(0),
            body_span: Cell::new(0),
            body_burdened: Cell::new(0),
        }
    }

    /// The body begins. Its strand goes on.
    pub fn enter(&self, thread: &Thread) {
        path::settle(thread);
        self.active.set(true);
        let position = thread.task.position.get();
        self.path.set(position.path);
        self.path_since.set(position.since);
        strand::set_path(thread, position.path & !OWNED);
        if log::on(thread) {
            let identity = log::identity(thread);
            self.ends.identity.store(identity, Ordering::Relaxed);
            log::piece(thread, Event::Group, position.context, 0, identity);
            log::go_on(thread);
        }
    }

    /// The body ends at tick `now`; the thread waits.
    pub fn body_done(&self, thread: &Thread, now: u64) {
        let span = strand::stop(thread, now);
        self.body_span.set(span);
        self.body_burdened.set(strand::burdened(thread));
        if log::on(thread) && self.active.get() {
            if tool::on(thread) {
                tool::sync(thread, now);
            }
            log::strand(thread, Event::Wait, strand::context(thread), span);
            log::rest(thread);
        }
        task::enter_idle(thread, now);
    }

    /// All tasks have ended; the continuation begins at tick `now`.
    pub fn exit(&self, thread: &Thread, now: u64) {
        if !self.active.replace(false) {
            return;
        }
        let shared = Shared::of(thread);
        // Nothing is added to the group's tasks any more; and what a batch holds is in the way of folding.
        batch::close_of(thread, &self.ends);
        task::leave_idle(thread, now);
        let work = self.ends.work.load(Ordering::Relaxed);
        thread.task.work.set(thread.task.work.get() + work);
        thread.task.flushed.set(thread.task.flushed.get() + work);
        thread.task.nested.set(thread.task.nested.get() + work);
        let position = thread.task.position.get();
        let body = Tail { span: self.body_span.get(), path: position.path, since: position.since };
        let span = self.ends.candidate.span.load(Ordering::Relaxed);
        let tasks = Tail { span, path: self.ends.candidate.path.load(Ordering::Relaxed) as u32, since: span };
        let longer = path::merge(shared, self.path.get(), self.path_since.get(), body, tasks);
        strand::set_tail(thread, longer.path, longer.since);
        strand::set_span(thread, longer.span);
        strand::set_burdened(thread, self.body_burdened.get().max(self.ends.burdened.load(Ordering::Relaxed)));
        if log::on(thread) {
            log::mark(thread);
        }
        log::go(thread, now);
    }
}

/// A task on its way from its creation to its start: a word, so that it may stand where a job had an address anyway.
///
/// Odd for a task in a [`batch`]; else nobody follows the task, and the word is its owner's address.
#[derive(Clone, Copy, Debug)]
pub struct TaskLink(u64);

impl TaskLink {
    /// A link of a task that is not followed.
    pub fn inactive(owner: *const ()) -> TaskLink {
        TaskLink(owner as u64)
    }

    /// Creates a task in `context` at tick `now`; the strand goes on. Without `group` the task is detached.
    ///
    /// `owner`: an address, which is even, for whoever starts the task. `copies`: how often the link will be used, no less
    /// and no more.
    pub fn create(
        thread: &Thread,
        now: u64,
        group: Option<&Group>,
        owner: *const (),
        target: Target,
        copies: usize,
    ) -> TaskLink {
        let Target { context, recursive } = target;
        let shared = Shared::of(thread);
        let span = strand::stop(thread, now);
        path::settle(thread);
        let mut charged = strand::context(thread);
        if charged == ROOT {
            let to = shared.context(context).site.get().wrapping_add(1);
            charged = region::close_serial(shared, thread, span, to);
            thread.task.last_region.set(to);
        }
        let position = thread.task.position.get();
        let mut identity = Identity::NONE;
        if log::on(thread) {
            // Copies would share what a tool is shown.
            identity = match copies {
                1 => log::task_identity(thread, tool::Kind::Spawn, context),
                _ => Identity { log: log::identity(thread), tool: 0 },
            };
            log::with(thread, context, copies as i64, identity.log);
            if let Some(group) = group {
                log::note(thread, Event::Of, group.ends.identity.load(Ordering::Relaxed));
            }
            log::strand(thread, Event::Spawn, charged, span);
        }
        let kind = Kind {
            group: group.map_or(core::ptr::null(), |group| &group.ends as *const Ends),
            owner,
            path: position.path & NODE,
            path_since: position.since,
            forked_in: position.context,
            context,
            recursive,
            burden: strand::burdened(thread) - span + thread.steal.get(),
            identity,
        };
        let word = batch::add(thread, &kind, span, copies);
        log::go(thread, now);
        if word == 0 {
            return TaskLink::inactive(owner);
        }
        TaskLink(word)
    }

    fn added(&self) -> Option<Added> {
        if self.0 & 1 == 0 {
            return None;
        }
        // SAFETY: odd, hence made by `create`, which demands that it is used no more often than it has copies.
        Some(unsafe { Added::of(self.0) })
    }

    /// The task's context, if it is followed.
    #[inline]
    pub fn context(&self) -> Option<ContextId> {
        self.added().map(|added| added.kind().context)
    }

    /// The owner's address.
    #[inline]
    pub fn owner(&self) -> *const () {
        match self.added() {
            Some(added) => added.kind().owner,
            None => self.0 as *const (),
        }
    }

    /// The task begins at tick `now` in the place of the one that is `suspended`, and true, if it is followed.
    #[inline]
    pub fn begin(&self, thread: &Thread, now: u64, suspended: &mut Suspended) -> bool {
        let added = self.added();
        if let Some(added) = &added {
            task::begin(thread, now, &added.origin(), suspended);
        }
        added.is_some()
    }

    /// The task has ended, and nobody has seen it.
    pub fn lost(&self) {
        if let Some(added) = self.added() {
            added.end();
        }
    }

    /// The task ends at tick `now`, before the runtime wakes whoever waits.
    pub fn end(&self, thread: &Thread, now: u64, suspended: &Suspended) {
        if let Some(added) = self.added() {
            end(thread, now, suspended, &added);
            added.end();
        }
    }
}

/// The creation of a task in `context` is over at tick `now`: counts what it cost.
pub fn created(thread: &Thread, context: ContextId, now: u64) {
    let cost = now.wrapping_sub(thread.start.get()) as i64;
    let account = Shared::of(thread).account(thread, context);
    account.overhead.set(account.overhead.get() + cost);
    // The strand goes on, but this reading of the clock is not part of it.
    thread.start.set(thread.start.get().wrapping_add(thread.probe.get() as u64));
    if log::on(thread) && cost != 0 {
        log::note(thread, Event::Overhead, cost as u64);
        log::go_on(thread);
    }
}

fn end(thread: &Thread, now: u64, suspended: &Suspended, added: &Added) {
    let shared = Shared::of(thread);
    let kind = added.kind();
    let context = strand::context(thread);
    let (prefix, prefix_context) = (thread.task.prefix.get(), thread.task.prefix_context.get());
    let steal = thread.steal.get();
    let account = strand::account_of(thread, context);
    let ended: Ended = task::end(thread, now, suspended);
    count_task(account, ended.work - ended.nested);
    // Not zero only for a task at the root, which there is when the tables are full.
    account.self_work.set(account.self_work.get() + ended.pending);
    account.entries.set(account.entries.get() + 1);
    if !kind.recursive {
        account.instances.set(account.instances.get() + 1);
        account.work.set(account.work.get() + ended.work);
        account.span.set(account.span.get() + ended.span - added.span());
        let begun = added.span() + kind.burden;
        account.burdened_span.set(account.burdened_span.get() + ended.burdened - begun);
    }
    let candidate = if kind.group.is_null() {
        // Nobody waits, so that no steal ends here.
        raise(&shared.header().detached.burdened, ended.burdened);
        &shared.header().detached.candidate
    } else {
        // SAFETY: not null, and the group outlives its tasks: its owner waits for the latch that the runtime sets
        // after this call.
        let ends = unsafe { &*kind.group };
        ends.work.fetch_add(ended.work, Ordering::Relaxed);
        raise(&ends.burdened, ended.burdened + steal);
        &ends.candidate
    };
    if ended.span <= candidate.span.load(Ordering::Relaxed) {
        path::release(shared, ended.path & !PREFIXED);
        return;
    }
    // Only a chain that may turn out the longest is worth completing.
    let mut path = ended.path & !PREFIXED;
    if ended.path & PREFIXED != 0 {
        path = path::add(shared, path, prefix_context, prefix);
    }
    if ended.span != ended.path_since {
        path = path::add(shared, path, context, ended.span - ended.path_since);
    }
    if !kind.recursive {
        path = path::add_call(shared, path, context, 0, ended.work, ended.span - added.span());
    }
    if path & OWNED == 0 {
        // Still the batch's.
        path = path::own(shared, path);
    }
    offer(shared, candidate, ended.span, path);
}

const _: () = assert!(core::mem::size_of::<TaskLink>() == 8);
