//! What happens to tasks: begun, suspended, resumed, ended; and their creators' waits.
//!
//! Each event is given the tick, or `None` if the reading was skipped because next to no time has passed
//! ([`workspan_collect::clock`]); then no strand ends, and what has passed is charged at the next reading.

use core::ptr;
use core::sync::atomic::Ordering;

use workspan_collect::clock;
use workspan_collect::group;
use workspan_collect::log::{go as go_at, go_on, mark, rest};
use workspan_collect::path::{self, Tail};
use workspan_collect::platform;
use workspan_collect::shared::{current_account, Shared};
use workspan_collect::strand::{self, count_task};
use workspan_collect::task::{enter_idle, leave_idle};
use workspan_wire::shm::{Latest, Position, Spans, TaskState, Thread, CALL_WANTED, NODE, OWNED, PREFIXED};

use super::alt_spans::AltSpans;
use super::frame::{self, Frame, Stage};
use super::solo::{self, offer};
use super::state::End;
use super::{call, depend, lent, log};

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
    const SPINS: u32 = 1_000;
    const PATIENCE_NANOS: u64 = if cfg!(miri) { 1_000 } else { 2_000_000_000 };
    const NAP_NANOS: u64 = 50_000;
    for _ in 0..SPINS {
        if task.running_on().is_none() {
            return true;
        }
        core::hint::spin_loop();
    }
    let until = platform::monotonic_nanos() + PATIENCE_NANOS;
    while platform::monotonic_nanos() < until {
        // The other thread may need this one's CPU.
        platform::sleep_nanos(NAP_NANOS);
        if task.running_on().is_none() {
            return true;
        }
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
    complete_at(thread, task, end);
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
    let at = |e: &frame::Extra| (e.fulfilled.load(Ordering::Acquire), e.fulfilled_uniform.load(Ordering::Acquire));
    known.map_or((i64::MIN, i64::MIN), at)
}

/// `task`, which has [`end`]ed, is complete. `thread` is whichever says so; its strand is stopped.
pub fn complete(thread: &'static Thread, task: &'static Frame) {
    complete_at(thread, task, task.end());
}

/// The same; it has ended at `end`, which the frame need not know.
#[inline(always)]
fn complete_at(thread: &'static Thread, task: &'static Frame, end: End) {
    let mut end = end;
    task.stage.set(Stage::Ended);
    let shared = Shared::of(thread);
    let kind = task.kind.get();
    let kept = kind.inline || task.depended_on.get();
    if kept {
        end = with_whole_path(shared, task, end);
        task.set_end(end);
    }
    let own = end.alt.burdened_by(kind.steal(thread));
    let report = task.report.get();
    if let Some(parent) = task.parent() {
        if kind.inline {
            inline_complete(thread, task, parent);
        }
        own.raise(&parent.children);
        if parent.children.candidate.span.load(Ordering::Relaxed) < end.span {
            let mut path = end.path;
            if kept || !is_plain(task, &end) {
                end = with_whole_path(shared, task, end);
                path = end.path;
                if kept || !report.is_null() {
                    path = path::own(shared, path);
                } else {
                    // Nobody else will want it.
                    end.path = 0;
                }
            }
            offer(shared, &parent.children.candidate, end.span, path);
        }
    }
    // SAFETY: null, or part of a group or team that waits for this task.
    if let Some(report) = unsafe { report.as_ref() } {
        tell(shared, report, own, thread);
        if report.candidate.span.load(Ordering::Relaxed) < end.span {
            let mut path = end.path;
            if kept || !is_plain(task, &end) || !lent::lends(thread, task) {
                end = with_whole_path(shared, task, end);
                path = path::own(shared, end.path);
            }
            offer(shared, &report.candidate, end.span, path);
        }
    }
    close(thread, task, end);
}

/// Offers an end to `to`, with the steal that waking costs: where nobody waits, nobody is woken.
fn tell(shared: Shared, to: &Latest, end: AltSpans, thread: &Thread) {
    let detached = &shared.header().detached;
    if ptr::eq(to, detached) {
        // Threads that were not reported may be at it, too (`solo`).
        let end = end.relieved_of(thread.steal.get());
        group::raise(&detached.uniform, end.uniform);
        group::raise(&detached.burdened, end.burdened);
    } else {
        end.raise(to);
    }
}

/// `task`, part of `parent`'s chain, is complete: `parent` goes on from there.
#[cold]
fn inline_complete(thread: &'static Thread, task: &Frame, parent: &Frame) {
    if let Some(extra) = parent.extra(thread) {
        let shared = Shared::of(thread);
        let end = task.end();
        let path = path::own(shared, end.path);
        if let Some(earlier) = extra.inline_end.replace(Some(Tail { span: end.span, path, since: end.span })) {
            path::release(shared, earlier.path);
        }
        extra.inline_alt.set(end.alt);
    }
}

/// True if the task ended in its creator's context, on the path that it borrowed: its creator knows the rest.
fn is_plain(task: &Frame, end: &End) -> bool {
    let start = task.start.get();
    let borrowed = end.path == start.path && end.path & OWNED == 0 && !task.kind.get().taskloop;
    borrowed && start.forked_in == start.context
}

/// The same end with all of the path up to there, which the task owns from now on.
fn with_whole_path(shared: Shared, task: &Frame, end: End) -> End {
    let mut path = end.path;
    let mut leaf = false;
    if path & PREFIXED != 0 {
        path &= !PREFIXED;
        if end.prefix != 0 {
            path = path::add(shared, path, end.prefix_context, end.prefix);
        }
        // It has created nothing, so that it is over.
        leaf = end.call == CALL_WANTED;
    }
    if leaf {
        let span = end.span - task.start.get().span;
        path = path::add_call(shared, path, end.context, end.span - end.since, end.work, span);
    } else if end.span != end.since {
        path = path::add(shared, path, end.context, end.span - end.since);
    }
    if path & OWNED == 0 {
        path = path::own(shared, path);
    }
    End { path, since: end.span, ..end }
}

/// `task` has ended at `end`: one reason less for it to be open. If it was the last, it closes, and so may its creators.
#[inline(always)]
fn close(thread: &'static Thread, task: &'static Frame, end: End) {
    let alone = task.open.load(Ordering::Acquire) == 1;
    if !alone {
        // Whoever closes it will want to know.
        task.set_end(end);
    }
    if alone || solo::decrement(&task.open) {
        if let Some(parent) = closes(thread, task, end) {
            close_one(thread, parent);
        }
    }
}

/// A child of `task` has closed, or its code is over: one reason less for it to be open.
#[inline(always)]
fn close_one(thread: &'static Thread, task: &'static Frame) {
    if solo::decrement(&task.open) {
        close_all(thread, task);
    }
}

/// `task` has ended, and all below: it closes, and so may its creators.
#[inline(never)]
fn close_all(thread: &'static Thread, task: &'static Frame) {
    let mut task = task;
    while let Some(parent) = closes(thread, task, task.end()) {
        if !solo::decrement(&parent.open) {
            return;
        }
        task = parent;
    }
}

/// `task`, which has ended at `ended`, closes. Returns its creator.
#[inline(always)]
fn closes(thread: &'static Thread, task: &'static Frame, ended: End) -> Option<&'static Frame> {
    let shared = Shared::of(thread);
    let parent = task.parent();
    let kind = task.kind.get();
    let start = task.start.get();
    let (end, end_alt) = (ended.span, ended.alt);
    let work = ended.work + task.below.load(Ordering::Acquire);
    // Descendants may have ended later.
    let (children, children_path) = frame::seen(&task.children);
    let (late, late_path) = frame::seen(&task.late);
    let last = end.max(children).max(late);
    // As who waits for it sees it.
    let below = AltSpans::seen(&task.children).max(AltSpans::seen(&task.late));
    if kind.is_instance() {
        let account = strand::account_of(thread, start.context);
        account.entries.set(account.entries.get() + 1);
        if !kind.recursive {
            let last_alt = end_alt.max(below.relieved_of(thread.steal.get()));
            account.instances.set(account.instances.get() + 1);
            account.work.set(account.work.get() + work);
            account.span.set(account.span.get() + last - start.span);
            let alt = last_alt.beyond(start.alt);
            account.uniform_span.set(account.uniform_span.get() + alt.uniform);
            account.burdened_span.set(account.burdened_span.get() + alt.burdened);
        }
    }
    let own = end_alt.burdened_by(kind.steal(thread));
    if last > end || below.max(own) != own {
        // SAFETY: as in `complete`.
        let report = unsafe { task.report.get().as_ref() };
        let to = match (report, parent) {
            (Some(report), _) if !kind.direct => Some(report),
            (_, Some(parent)) => Some(&parent.late),
            (_, None) => None,
        };
        if let Some(to) = to {
            tell(shared, to, below, thread);
            if last > end && to.candidate.span.load(Ordering::Relaxed) < last {
                let path = if late >= children {
                    path::own(shared, late_path)
                } else {
                    whole_child_path(shared, task, children, children_path)
                };
                offer(shared, &to.candidate, last, path);
            }
        }
    }
    call::closes(thread, task, ended.call, work, last - start.span);
    depend::forget(thread, task);
    task.release_ended(thread, ended.path);
    parent
}

/// A handle of its own for a path from `task`'s candidates: a child's that ends at `span`, possibly borrowed from `task`.
pub(super) fn whole_child_path(shared: Shared, task: &Frame, span: i64, path: u32) -> u32 {
    if path & OWNED != 0 {
        return path::own(shared, path);
    }
    let base = task.base.get();
    path::add(shared, base.path & NODE, base.context, span - base.since)
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
    let (span, path) = frame::seen(&task.children);
    if span <= strand::span(thread) {
        return;
    }
    let shared = Shared::of(thread);
    if path & OWNED != 0 {
        path::settle(thread);
        let (span, path) = frame::taken(&task.children);
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
    close_one(thread, member);
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
    close_one(thread, task);
}
