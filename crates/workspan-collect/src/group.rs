//! A group of tasks that one strand waits for: `scope`, `broadcast`.
//!
//! Any number of tasks, created by the body or by one another, end in any order on any thread. Each offers its end to
//! the group's candidate; the body, when it has waited, takes the longer of its own span and the candidate.
//!
//! **Concurrency:** the candidate's span and path change together, by a 128-bit compare and swap, so no lock is needed
//! to keep the pair consistent. A task that is not longer than the candidate it sees gives up at once; so among `n`
//! tasks that end in random order only about `ln n` swap. The runtime's latch orders all of it before [`Group::exit`].
//!
//! **Cost** of a task: one atomic addition, one atomic load, and only for a new longest one the swap.

use core::cell::Cell;
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use super::log;
use super::path::{self, Tail};
use super::platform::exchange_pair;
use super::region;
use super::shared::Shared;
use super::strand::{self, count_task};
use super::tables::{ContextId, ROOT};
use super::task::{self, Ended, Origin, Suspended};
use super::tool;
use workspan_wire::log::Event;
use workspan_wire::shm::{Candidate, Thread, OWNED, PREFIXED};

/// A candidate that anything beats.
const fn no_candidate() -> Candidate {
    Candidate { span: AtomicI64::new(i64::MIN), path: AtomicU64::new(0) }
}

/// Offers a finished chain; the handle is used up. The loser's is released.
pub fn offer(shared: Shared, candidate: &Candidate, span: i64, path: u32) {
    let mut seen = (candidate.span.load(Ordering::Relaxed), candidate.path.load(Ordering::Relaxed));
    // The two loads may belong to different pairs; then the exchange fails and returns a consistent one.
    while span > seen.0 {
        match exchange_pair(candidate, seen, (span, u64::from(path))) {
            Ok(()) => {
                path::release(shared, seen.1 as u32);
                return;
            }
            Err(found) => seen = found,
        }
    }
    path::release(shared, path);
}

/// State of a group, where the body's owner keeps it.
#[derive(Debug)]
pub struct Group {
    candidate: Candidate,
    work: AtomicI64,
    active: Cell<bool>,
    path: Cell<u32>,
    path_since: Cell<i64>,
    body_span: Cell<i64>,
    /// By which the log knows it; 0 if it was not logged.
    identity: AtomicU64,
}

// SAFETY: the cells are used by the owner of the body only; tasks touch the atomics.
unsafe impl Sync for Group {}
// SAFETY: as above: a group holds no reference to its thread.
unsafe impl Send for Group {}

impl Group {
    /// A group without tasks.
    pub const fn new() -> Group {
        Group {
            candidate: no_candidate(),
            work: AtomicI64::new(0),
            active: Cell::new(false),
            path: Cell::new(0),
            path_since: Cell::new(0),
            body_span: Cell::new(0),
            identity: AtomicU64::new(0),
        }
    }

    /// The body begins. Its strand goes on.
    pub fn enter(&self, thread: &Thread) {
        path::settle(thread);
        self.active.set(true);
        let position = thread.position.get();
        self.path.set(position.path);
        self.path_since.set(position.since);
        strand::set_path(thread, position.path & !OWNED);
        if log::on(thread) {
            let identity = log::identity(thread);
            self.identity.store(identity, Ordering::Relaxed);
            log::piece(thread, Event::Group, position.context, 0, identity);
            log::go_on(thread);
        }
    }

    /// The body ends at tick `now`; the thread waits.
    pub fn body_done(&self, thread: &Thread, now: u64) {
        let span = strand::stop(thread, now);
        self.body_span.set(span);
        if log::on(thread) && self.active.get() {
            log::strand(thread, Event::Wait, strand::context(thread), span);
            if tool::on(thread) {
                tool::sync(thread, now);
            }
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
        task::leave_idle(thread, now);
        let work = self.work.load(Ordering::Relaxed);
        thread.work.set(thread.work.get() + work);
        thread.flushed.set(thread.flushed.get() + work);
        thread.nested.set(thread.nested.get() + work);
        let position = thread.position.get();
        let body = Tail { span: self.body_span.get(), path: position.path, since: position.since };
        let span = self.candidate.span.load(Ordering::Relaxed);
        let tasks = Tail { span, path: self.candidate.path.load(Ordering::Relaxed) as u32, since: span };
        let longer = path::merge(shared, self.path.get(), self.path_since.get(), body, tasks);
        strand::set_tail(thread, longer.path, longer.since);
        strand::set_span(thread, longer.span);
        if log::on(thread) {
            log::mark(thread);
        }
        strand::go(thread, now);
    }
}

/// A task on its way from its creation to its start.
#[derive(Clone, Copy, Debug)]
pub struct TaskLink {
    /// Null for a detached task.
    group: *const Group,
    origin: Origin,
    recursive: bool,
    active: bool,
}

// SAFETY: a group outlives its tasks (the runtime's latch), and is `Sync`.
unsafe impl Send for TaskLink {}
// SAFETY: as above; a link is only read.
unsafe impl Sync for TaskLink {}

impl TaskLink {
    /// A link of a task that is not followed.
    pub const INACTIVE: TaskLink = TaskLink {
        group: core::ptr::null(),
        origin: Origin {
            span: 0,
            path: 0,
            path_since: 0,
            forked_in: 0,
            context: 0,
            pending: 0,
            last_region: 0,
            identity: 0,
        },
        recursive: false,
        active: false,
    };

    /// Creates a task in `context` at tick `now`; the strand goes on. Without `group` the task is detached.
    ///
    /// `recursive`: the task's site is already active around it. `copies`: how often the link will be used.
    pub fn create(
        thread: &Thread,
        now: u64,
        group: Option<&Group>,
        context: ContextId,
        recursive: bool,
        copies: usize,
    ) -> TaskLink {
        let shared = Shared::of(thread);
        let span = strand::stop(thread, now);
        path::settle(thread);
        let mut charged = strand::context(thread);
        if charged == ROOT {
            let to = shared.context(context).site.get().wrapping_add(1);
            charged = region::close_serial(shared, thread, span, to);
            thread.last_region.set(to);
        }
        let position = thread.position.get();
        // Not borrowed: the task may outlive the join, within the scope, that it was spawned in.
        let mut path = 0;
        for _ in 0..copies {
            path = path::own(shared, position.path);
        }
        let mut identity = 0;
        if log::on(thread) {
            // Copies would share what a tool is shown.
            identity = match copies {
                1 => log::task_identity(thread, tool::Kind::Spawn, context),
                _ => log::identity(thread),
            };
            log::with(thread, context, copies as i64, identity);
            if let Some(group) = group {
                log::note(thread, Event::Of, group.identity.load(Ordering::Relaxed));
            }
            log::strand(thread, Event::Spawn, charged, span);
        }
        let origin = Origin {
            span,
            path,
            path_since: position.since,
            forked_in: position.context,
            context,
            pending: 0,
            last_region: 0,
            identity,
        };
        log::go(thread, now);
        let group = match group {
            Some(group) => group as *const Group,
            None => core::ptr::null(),
        };
        TaskLink { group, origin, recursive, active: true }
    }

    /// False if nobody follows the task.
    pub fn active(&self) -> bool {
        self.active
    }

    /// The task's context.
    pub fn context(&self) -> ContextId {
        self.origin.context
    }

    /// Its creation is over at tick `now`: counts what it cost.
    pub fn created(&self, thread: &Thread, now: u64) {
        let cost = now.wrapping_sub(thread.start.get()) as i64;
        let account = Shared::of(thread).account(thread, self.origin.context);
        account.overhead.set(account.overhead.get() + cost);
        // The strand goes on, but this reading of the clock is not part of it.
        thread.start.set(thread.start.get().wrapping_add(thread.probe.get() as u64));
        if log::on(thread) && cost != 0 {
            log::note(thread, Event::Overhead, cost as u64);
            log::go_on(thread);
        }
    }

    /// The task begins at tick `now`.
    pub fn begin(&self, thread: &Thread, now: u64) -> Suspended {
        task::begin(thread, now, &self.origin)
    }

    /// The task ends at tick `now`, before the runtime tells whoever waits.
    pub fn end(&self, thread: &Thread, now: u64, suspended: Suspended) {
        let shared = Shared::of(thread);
        let context = strand::context(thread);
        let (prefix, prefix_context) = (thread.prefix.get(), thread.prefix_context.get());
        let ended: Ended = task::end(thread, now, suspended);
        let account = shared.account(thread, context);
        count_task(account, ended.work - ended.nested);
        // Not zero only for a task at the root, which there is when the tables are full.
        account.self_work.set(account.self_work.get() + ended.pending);
        account.entries.set(account.entries.get() + 1);
        if !self.recursive {
            account.instances.set(account.instances.get() + 1);
            account.work.set(account.work.get() + ended.work);
            account.span.set(account.span.get() + ended.span - self.origin.span);
        }
        let candidate = if self.group.is_null() {
            &shared.header().detached.candidate
        } else {
            // SAFETY: not null, and the group outlives its tasks: its owner waits for the latch that the runtime sets
            // after this call.
            let group = unsafe { &*self.group };
            group.work.fetch_add(ended.work, Ordering::Relaxed);
            &group.candidate
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
        if !self.recursive {
            path = path::add_call(shared, path, context, ended.work, ended.span - self.origin.span);
        }
        offer(shared, candidate, ended.span, path);
    }
}
