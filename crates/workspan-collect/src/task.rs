//! A task that a thread runs in between: one it has stolen, taken from its own queue while it waits, or been handed.
//!
//! A waiting thread's own strand is stopped and its state is that of the suspended task. [`begin`] puts that state
//! aside and starts from the task's [`Origin`]; [`end`] brings it back and returns what the task amounts to. Whoever
//! waits for the task finds the result in the frame that the origin came from.

use super::log;
pub use super::origin::Origin;
use super::path;
use super::segment;
use super::shared::Shared;
use super::strand;
use super::tables::ROOT;
use super::tool;
pub use super::waiting::{enter_idle, leave_idle};
use workspan_wire::log::Event;
use workspan_wire::shm::{Spans, TaskState, Thread};

/// What a task amounts to.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Absolute span at its end.
    pub span: i64,
    /// The same with steals, but for what it costs to wake who waits.
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

/// State of a suspended task. Large: it is written where it is kept, and read there.
#[derive(Debug, Default)]
pub struct Suspended {
    state: TaskState,
    /// That of its context.
    account: u64,
    /// A tool sees neither begin nor end of the task in between.
    continued: bool,
    /// Where strands are logged.
    logged: Logged,
}

/// Of a suspended task, what the log knows.
#[derive(Debug, Default)]
struct Logged {
    work: i64,
    offset: i64,
    begin: u64,
    tool_task: u64,
    strand_number: u64,
}

impl Logged {
    fn of(thread: &Thread) -> Logged {
        Logged {
            work: thread.log_work.get(),
            offset: thread.log_offset.get(),
            begin: thread.log_begin.get(),
            tool_task: thread.tool_task.get(),
            strand_number: thread.strand_number.get(),
        }
    }

    fn restore(&self, thread: &Thread) {
        thread.log_work.set(self.work);
        thread.log_offset.set(self.offset);
        thread.log_begin.set(self.begin);
        thread.tool_task.set(self.tool_task);
        thread.strand_number.set(self.strand_number);
    }
}

/// Bit of an identity that a tool knows: the task goes on, rather than begins.
pub(super) const CONTINUED: u64 = 1;

/// Begins a task at tick `now` on a thread whose strand is stopped, in the place of the one that is `suspended`.
pub fn begin(thread: &Thread, now: u64, origin: &Origin, suspended: &mut Suspended) {
    strand::flush(thread);
    segment::pause(thread);
    let state = thread.task.get();
    if state.waiting != 0 {
        leave_idle(thread, now);
    }
    suspended.state = state;
    suspended.account = thread.account.get();
    suspended.continued = origin.identity.tool & CONTINUED != 0 && tool::on(thread);
    if log::on(thread) {
        suspended.logged = Logged::of(thread);
    }
    thread.task.set(TaskState {
        position: state.position,
        offsets: Spans { actual: origin.span, uniform: origin.span, burdened: origin.burdened },
        flushed: -origin.pending,
        last_region: origin.last_region,
        ..TaskState::default()
    });
    path::start(thread, origin);
    strand::set_context(Shared::of(thread), thread, origin.context);
    if log::on(thread) {
        log::mark(thread);
        log::piece(thread, Event::Begin, origin.context, origin.span, origin.identity.log);
        if tool::on(thread) {
            if suspended.continued {
                tool::come_back(thread, origin.identity.tool & !CONTINUED);
            } else {
                tool::begin_strand(thread);
                tool::begin(thread, origin.identity.tool, now);
            }
        }
    }
    log::go(thread, now);
}

/// Ends the task at tick `now`.
pub fn end(thread: &Thread, now: u64, suspended: &Suspended) -> Ended {
    let span = strand::stop(thread, now);
    strand::flush(thread);
    let position = thread.task.position.get();
    if log::on(thread) {
        if tool::on(thread) {
            match suspended.continued {
                true => tool::put_strand(thread),
                false => tool::end(thread, suspended.logged.tool_task, now),
            }
        }
        log::strand(thread, Event::End, position.context, span);
        log::rest(thread);
    }
    let pending = if position.context == ROOT { thread.task.work.get() - thread.task.flushed.get() } else { 0 };
    let ended = Ended {
        span,
        burdened: strand::burdened(thread),
        work: thread.task.work.get(),
        nested: thread.task.nested.get(),
        path: position.path,
        path_since: position.since,
        pending,
        last_region: thread.task.last_region.get(),
    };
    segment::pause(thread);
    thread.task.set(suspended.state);
    thread.account.set(suspended.account);
    segment::resume(thread);
    thread.idle_since.set(now);
    if log::on(thread) {
        suspended.logged.restore(thread);
    }
    // Whatever goes on here begins at a reading of its own.
    log::rest(thread);
    ended
}
