//! A task that a thread runs in between: one it has stolen, taken from its own queue while it waits, or been handed.
//!
//! A waiting thread's own strand is stopped and its state is that of the suspended task. [`begin`] puts that state
//! aside and starts from the task's [`Origin`]; [`end`] brings it back and returns what the task amounts to. Whoever
//! waits for the task finds the result in the frame that the origin came from.

use super::events;
use super::log;
use super::shared::Shared;
use super::strand;
use super::tables::{ContextId, ROOT};
use super::tool;
use workspan_wire::log::Event;
use workspan_wire::shm::{Position, Thread};

/// Where a task starts.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// Absolute span at the fork.
    pub span: i64,
    /// The same with steals: the task's own included, if it can be stolen.
    pub burdened: i64,
    /// Path at the fork: owned by the task, or borrowed from a strand that waits for it.
    pub path: u32,
    /// Absolute span up to which `path` accounts.
    pub path_since: i64,
    /// Context of the span from `path_since` to `span`.
    pub forked_in: ContextId,
    /// Context of the task.
    pub context: ContextId,
    /// For serial code that moves to another thread: work not yet charged.
    pub pending: i64,
    /// For serial code: site + 1 of the last region.
    pub last_region: u32,
    /// By which the log knows it; 0 if its creation was not logged.
    pub identity: u64,
}

/// What a task amounts to.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Absolute span at its end.
    pub span: i64,
    /// The same with steals, but for what it costs to tell who waits.
    pub burdened: i64,
    /// Its work, nested tasks included.
    pub work: i64,
    /// Of it: nested tasks.
    pub nested: i64,
    /// Its path, and the context of the span that the path does not account for yet.
    pub path: u32,
    /// Absolute span up to which `path` accounts.
    pub path_since: i64,
    /// For serial code: work not yet charged.
    pub pending: i64,
    /// For serial code: site + 1 of the last region.
    pub last_region: u32,
}

/// State of a suspended task.
#[derive(Debug)]
pub struct Suspended {
    work: i64,
    span_offset: i64,
    burdened_offset: i64,
    nested: i64,
    position: Position,
    location: u64,
    account: u64,
    flushed: i64,
    prefix_context: ContextId,
    prefix: i64,
    waiting: u32,
    last_region: u32,
    log_work: i64,
    log_offset: i64,
    tool_task: u64,
    /// A tool is told neither of its begin nor of its end.
    continued: bool,
}

/// Bit of an identity that a tool knows: the task goes on, rather than begins.
pub(super) const CONTINUED: u64 = 1;

/// Begins a task at tick `now` on a thread whose strand is stopped.
pub fn begin(thread: &Thread, now: u64, origin: &Origin) -> Suspended {
    strand::flush(thread);
    let waiting = thread.waiting.get();
    if waiting != 0 {
        leave_idle(thread, now);
    }
    let suspended = Suspended {
        work: thread.work.get(),
        span_offset: thread.span_offset.get(),
        burdened_offset: thread.burdened_offset.get(),
        nested: thread.nested.get(),
        position: thread.position.get(),
        location: thread.location.get(),
        account: thread.account.get(),
        flushed: thread.flushed.get(),
        prefix_context: thread.prefix_context.get(),
        prefix: thread.prefix.get(),
        waiting,
        last_region: thread.last_region.get(),
        log_work: thread.log_work.get(),
        log_offset: thread.log_offset.get(),
        tool_task: thread.tool_task.get(),
        continued: origin.identity & CONTINUED != 0 && tool::on(thread),
    };
    thread.work.set(0);
    thread.span_offset.set(origin.span);
    thread.burdened_offset.set(origin.burdened);
    thread.nested.set(0);
    thread.flushed.set(-origin.pending);
    thread.location.set(0);
    thread.waiting.set(0);
    thread.last_region.set(origin.last_region);
    super::path::start(thread, origin);
    strand::set_context(Shared::of(thread), thread, origin.context);
    if log::on(thread) {
        log::mark(thread);
        log::piece(thread, Event::Begin, origin.context, origin.span, origin.identity);
        if tool::on(thread) {
            match origin.identity & CONTINUED {
                0 => tool::begin(thread, origin.identity, now),
                _ => thread.tool_task.replace(origin.identity & !CONTINUED),
            };
        }
    }
    log::go(thread, now);
    suspended
}

/// Ends the task at tick `now`.
pub fn end(thread: &Thread, now: u64, suspended: Suspended) -> Ended {
    let span = strand::stop(thread, now);
    strand::flush(thread);
    let position = thread.position.get();
    if log::on(thread) {
        log::strand(thread, Event::End, position.context, span);
        if tool::on(thread) && !suspended.continued {
            tool::end(thread, suspended.tool_task, now);
        }
        log::rest(thread);
    }
    let pending = if position.context == ROOT { thread.work.get() - thread.flushed.get() } else { 0 };
    let ended = Ended {
        span,
        burdened: strand::burdened(thread),
        work: thread.work.get(),
        nested: thread.nested.get(),
        path: position.path,
        path_since: position.since,
        pending,
        last_region: thread.last_region.get(),
    };
    thread.work.set(suspended.work);
    thread.span_offset.set(suspended.span_offset);
    thread.burdened_offset.set(suspended.burdened_offset);
    thread.nested.set(suspended.nested);
    thread.position.set(suspended.position);
    thread.location.set(suspended.location);
    thread.account.set(suspended.account);
    thread.flushed.set(suspended.flushed);
    thread.prefix_context.set(suspended.prefix_context);
    thread.prefix.set(suspended.prefix);
    thread.last_region.set(suspended.last_region);
    thread.log_work.set(suspended.log_work);
    thread.log_offset.set(suspended.log_offset);
    thread.tool_task.set(suspended.tool_task);
    thread.waiting.set(suspended.waiting);
    thread.idle_since.set(now);
    // Whatever goes on here begins at a reading of its own.
    log::rest(thread);
    ended
}

/// Marks that the thread, whose strand ended at tick `since`, has nothing to run.
pub fn enter_idle(thread: &Thread, since: u64) {
    thread.waiting.set(1);
    events::turn(thread);
    thread.away.set(0);
    thread.idle_since.set(since);
}

/// The opposite of [`enter_idle`], at tick `now`.
pub fn leave_idle(thread: &Thread, now: u64) {
    thread.waiting.set(0);
    let waited = now.wrapping_sub(thread.idle_since.get()) as i64;
    thread.waited.set(thread.waited.get() + waited);
    if thread.is_worker.get() != 0 {
        thread.idle.set(thread.idle.get() + waited);
    }
}
