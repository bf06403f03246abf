//! What happens to tasks: begun, suspended, resumed, ended; and their creators' waits.
//!
//! Each event is given the tick, or `None` if the reading was skipped because next to no time has passed
//! ([`workspan_collect::clock`]); then no strand ends, and what has passed is charged at the next reading.

use core::ptr;
use core::sync::atomic::Ordering;

use workspan_collect::clock;
use workspan_collect::log::{go as go_at, go_on, mark, rest};
use workspan_collect::path::{self, Tail};
use workspan_collect::shared::{current_account, Shared};
use workspan_collect::strand::{self, count_task};
use workspan_collect::task::{enter_idle, leave_idle};
use workspan_wire::shm::{Position, Spans, TaskState, Thread, NODE, OWNED, PREFIXED};

use super::alt_spans::AltSpans;
use super::frame::{Extra, Frame, Stage};
use super::patience::{patiently, TWO_SECONDS};
use super::state::End;
use super::{call, complete, depend, latest, log};

/// Ends the running strand, if there is one.
#[inline(always)]
pub fn stop(thread: &Thread, tick: Option<u64>) {
    if let Some(now) = tick {
        if thread.task.waiting.get() == 0 {
            strand::stop(thread, now);
        }
    }
}

/// A strand begins, unless the thread waits.
#[inline(always)]
pub fn go(thread: &Thread, tick: Option<u64>) {
    if thread.task.waiting.get() != 0 {
        rest(thread);
        return;
    }
    match tick {
        Some(now) => go_at(thread, now),
        None => go_on(thread),
    }
}

/// The same after a callback that takes longer than those of tasks, to which callbacks are calibrated.
pub fn go_long(thread: &Thread, now: u64) {
    if thread.task.waiting.get() != 0 {
        rest(thread);
    } else {
        workspan_collect::log::go_long(thread, now);
    }
}

/// The same after a callback that came while the thread waited, and has read the clock when it was done.
#[inline(always)]
pub fn go_late(thread: &Thread, now: u64) {
    if thread.task.waiting.get() != 0 {
        rest(thread);
    } else {
        workspan_collect::log::go_late(thread, now);
    }
}

/// `task` begins on `thread`, whose strand is stopped and saved.
#[inline(always)]
pub fn begin(thread: &'static Thread, task: &'static Frame) {
    let shared = Shared::of(thread);
    depend::after_predecessors(thread, task);
    let start = task.start.get();
    task.stage.set(Stage::Begun);
    task.thread.store(ptr::from_ref(thread).cast_mut(), Ordering::Relaxed);
    thread.frame.set(ptr::from_ref(task) as u64);
    let prefix = start.span - start.since;
    let call = call::at_begin(task.kind.get());
    let context = thread.task.position.get().context;
    let mut position = Position { path: start.path, context, since: start.since };
    if (start.forked_in != start.context && prefix != 0) || call != 0 {
        position = Position { path: start.path | PREFIXED, since: start.span, ..position };
    }
    thread.task.set(TaskState {
        position,
        offsets: Spans { actual: start.span, uniform: start.alt.uniform, burdened: start.alt.burdened },
        prefix,
        prefix_context: start.forked_in,
        waiting: thread.task.waiting.get(),
        call,
        ..TaskState::default()
    });
    if context != start.context || thread.account.get() == 0 {
        strand::set_context(shared, thread, start.context);
    }
    if log::on(thread) {
        log::begun(thread, task);
    }
}

/// `task` pauses; the strand is stopped. `leaves`: what it interrupted goes on, otherwise another one takes its place.
#[inline(always)]
pub fn suspend(thread: &Thread, task: &Frame, leaves: bool) {
    flush(thread);
    if log::on(thread) {
        if leaves {
            log::left(thread, task);
        } else {
            log::interrupted(thread, task);
        }
    }
    task.save(thread);
}

/// `task` goes on, in its wait if it was suspended in one (then there is a tick).
#[inline(always)]
pub fn resume(thread: &'static Thread, task: &'static Frame, tick: Option<u64>) {
    let idle_since = thread.idle_since.get();
    let waited = thread.task.waiting.get() != 0;
    task.load(thread);
    if let Some(now) = tick {
        if thread.task.waiting.get() != 0 {
            thread.idle_since.set(if waited { idle_since } else { now });
        } else if waited {
            leave_idle(thread, now);
        }
    }
    if log::on(thread) {
        log::resumed(thread, task);
    }
    join_inline(thread, task);
}

/// `task`, whose strand is stopped, goes on after the task that was part of its own chain, if there was one.
#[inline(always)]
pub fn join_inline(thread: &'static Thread, task: &Frame) {
    if let Some(extra) = task.known_extra() {
        if let Some(tail) = extra.inline_end.take() {
            join(thread, tail, extra.inline_alt.get());
            if log::on(thread) {
                log::after_inline(thread, tail.span);
            }
        }
    }
}

/// An untied task is about to go on here, or has ended: waits for the books on its former part to be closed. They are,
/// unless its code could not be replaced (`ompt::parts`); then it is a matter of nanoseconds as a rule, and after two
/// seconds it gives up rather than hang: the other thread is stopped, or never got the event. False, which is counted, if so: what the task
/// rests on is still that thread's to write, and nobody may read it.
#[cold]
#[must_use]
pub fn await_saved(thread: &Thread, task: &Frame) -> bool {
    if patiently(TWO_SECONDS, || task.running_on().is_none()) {
        return true;
    }
    Shared::of(thread).header().unfollowed.fetch_add(1, Ordering::Relaxed);
    false
}

#[inline(always)]
fn flush(thread: &Thread) {
    if thread.task.work.get() != thread.task.flushed.get() {
        strand::flush(thread);
    }
}

/// `task`'s code has ended on `thread`; the strand is stopped. Its state is put away. It is complete when somebody says so.
pub fn end(thread: &'static Thread, task: &'static Frame) {
    let end = put_away(thread, task, false);
    detach(task, end);
    task.thread.store(ptr::null_mut(), Ordering::Release);
}

/// The same, and it is complete.
#[inline]
pub fn end_complete(thread: &'static Thread, task: &'static Frame) {
    let end = put_away(thread, task, true);
    task.thread.store(ptr::null_mut(), Ordering::Release);
    complete::with_end(thread, task, end);
}

/// Where `task` has ended.
#[inline(always)]
fn put_away(thread: &'static Thread, task: &'static Frame, complete: bool) -> End {
    flush(thread);
    if log::on(thread) {
        if complete {
            log::ended(thread, task, strand::span(thread).max(fulfilled_at(task).0));
        } else {
            log::left(thread, task);
        }
    }
    if !task.kind.get().machinery {
        if clock::is_unread(thread) {
            clock::count_unread(thread);
        } else {
            count_task(current_account(thread), thread.task.work.get() - thread.task.nested.get());
        }
    }
    let end = End {
        span: strand::span(thread),
        alt: AltSpans::of(thread),
        prefix: thread.task.prefix.get(),
        prefix_context: thread.task.prefix_context.get(),
        call: thread.task.call.get(),
        work: call::work(thread),
        ..End::at(thread.task.position.get())
    };
    if task.known_extra().is_some() {
        after_event(task, end)
    } else {
        end
    }
}

/// The code of `task`, which is suspended, has ended.
pub fn end_suspended(thread: &'static Thread, task: &'static Frame) {
    let saved = task.saved();
    let position = saved.position;
    if !task.kind.get().machinery {
        count_task(Shared::of(thread).account(thread, position.context), saved.work - saved.nested);
    }
    let end = End {
        span: saved.work + saved.offsets.actual,
        alt: AltSpans { uniform: saved.work + saved.offsets.uniform, burdened: saved.work + saved.offsets.burdened },
        prefix: saved.prefix,
        prefix_context: saved.prefix_context,
        call: saved.call,
        work: saved.work + saved.teams_work,
        ..End::at(position)
    };
    detach(task, after_event(task, end));
}

/// The code of `task` has ended there.
fn detach(task: &Frame, end: End) {
    task.set_end(end);
    task.stage.set(Stage::Detached);
}

/// Where `task` ends: its event may be fulfilled later than its code ends. The time between counts with the task.
#[cold]
fn after_event(task: &Frame, end: End) -> End {
    let (fulfilled, fulfilled_uniform) = fulfilled_at(task);
    let uniform = end.alt.uniform.max(fulfilled_uniform);
    let waited = fulfilled.saturating_sub(end.span).max(0);
    let alt = AltSpans { uniform, ..end.alt }.burdened_by(waited);
    End { span: end.span.max(fulfilled), alt, ..end }
}

/// Where `task`'s event has been fulfilled.
fn fulfilled_at(task: &Frame) -> (i64, i64) {
    let known = task.known_extra();
    let at = |e: &Extra| (e.fulfilled.load(Ordering::Acquire), e.fulfilled_uniform.load(Ordering::Acquire));
    known.map_or((i64::MIN, i64::MIN), at)
}

/// The strand, stopped, goes on after `tail`, whose path is used up, and after these spans.
pub fn join(thread: &'static Thread, tail: Tail, alt: AltSpans) {
    let shared = Shared::of(thread);
    alt.join(thread);
    if tail.span <= strand::span(thread) {
        path::release(shared, tail.path);
        return;
    }
    path::release(shared, thread.task.position.get().path);
    strand::set_tail(thread, tail.path, tail.since);
    strand::set_span(thread, tail.span);
}

/// All children of `task` have ended; its strand, stopped, goes on after the latest.
pub fn wait_children(thread: &'static Thread, task: &'static Frame) {
    let logged = log::on(thread);
    if logged {
        log::sync(thread);
    }
    join_children(thread, task);
    if logged {
        mark(thread);
    }
}

#[inline(always)]
fn join_children(thread: &'static Thread, task: &'static Frame) {
    AltSpans::seen(&task.children).join(thread);
    let (span, path) = latest::seen(&task.children);
    if span <= strand::span(thread) {
        return;
    }
    let shared = Shared::of(thread);
    if path & OWNED != 0 {
        path::settle(thread);
        let (span, path) = latest::taken(&task.children);
        join(thread, Tail { span, path, since: span }, AltSpans::NEVER);
        return;
    }
    // The child did not touch the path that it borrowed: in this context, or nearly so.
    path::settle(thread);
    let base = task.base.get();
    let position = thread.task.position.get();
    if position.context == base.context && position.path & NODE == base.path & NODE && position.since == base.since {
        strand::set_span(thread, span);
        return;
    }
    let path = path::add(shared, base.path & NODE, base.context, span - base.since);
    join(thread, Tail { span, path, since: span }, AltSpans::NEVER);
}

/// The thread, whose strand is stopped, waits from tick `now` on.
pub fn wait(thread: &Thread, now: u64) {
    if thread.task.waiting.get() == 0 {
        enter_idle(thread, now);
    }
}

/// The wait is over at tick `now`; the strand has not begun yet.
pub fn wait_over(thread: &Thread, now: u64) {
    if thread.task.waiting.get() != 0 {
        leave_idle(thread, now);
    }
}

/// The event of `task`, whose code has ended, is fulfilled by the strand on `thread`, which is stopped.
pub fn fulfilled(thread: &'static Thread, task: &'static Frame) {
    let end = task.end();
    let at = strand::span(thread);
    let uniform = end.alt.uniform.max(AltSpans::of(thread).uniform);
    let alt = AltSpans { uniform, ..end.alt }.burdened_by((at - end.span).max(0));
    if log::on(thread) {
        log::fulfilled(thread, task, end.context, (at - end.span).max(0));
    }
    if at <= end.span {
        task.set_end(End { alt, ..end });
        return;
    }
    let shared = Shared::of(thread);
    path::release(shared, end.path);
    let context = strand::context(thread);
    path::extend(shared, thread, at, context);
    let path = path::own(shared, strand::path(thread));
    // If the path would have been marked with its call, it no longer goes through it.
    task.set_end(End { span: at, alt, path, context, since: at, prefix: 0, ..end });
}

/// The strand on `thread`, stopped, goes on after the predecessors of `pseudo`, a task that stands for a wait.
pub fn after(thread: &'static Thread, pseudo: &'static Frame) {
    let logged = log::on(thread);
    if logged {
        log::sync_some(thread);
    }
    depend::after_predecessors(thread, pseudo);
    let start = pseudo.start.get();
    if start.path & OWNED != 0 && start.span > strand::span(thread) {
        path::settle(thread);
        let path = path::own(Shared::of(thread), start.path);
        join(thread, Tail { span: start.span, path, since: start.since }, AltSpans::NEVER);
    }
    start.alt.join(thread);
    if logged {
        mark(thread);
    }
}

/// A member of a team, whose strand is stopped, has ended.
pub fn end_member(thread: &'static Thread, member: &'static Frame) {
    let shared = Shared::of(thread);
    flush(thread);
    if log::on(thread) {
        log::member_ended(thread, member);
    }
    let TaskState { position, waiting, .. } = thread.task.get();
    path::release(shared, position.path & !PREFIXED);
    let position = Position { path: 0, since: 0, ..position };
    thread.task.set(TaskState { position, waiting, ..TaskState::default() });
    member.thread.store(ptr::null_mut(), Ordering::Release);
    member.stage.set(Stage::Ended);
    member.set_end(End::default());
    complete::close_one(thread, member);
}

/// Frees a frame that was never to run.
pub fn discard(thread: &'static Thread, task: &'static Frame) {
    task.stage.set(Stage::Ended);
    let now = task.start.get();
    task.set_end(End {
        span: now.span,
        alt: now.alt,
        path: now.path,
        context: now.context,
        since: now.since,
        ..End::default()
    });
    complete::close_one(thread, task);
}
