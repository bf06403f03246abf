//! A task is complete: whoever waits for it hears of its end. When all below it have ended, too, it closes, and its frame is given back.

use core::ptr;
use core::sync::atomic::Ordering;

use workspan_collect::group;
use workspan_collect::path::{self, Tail};
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_wire::shm::{Latest, Thread, CALL_WANTED, NODE, OWNED, PREFIXED};

use super::alt_spans::AltSpans;
use super::frame::{Frame, Stage};
use super::solo::{self, offer};
use super::state::End;
use super::{call, depend, latest, lent};

/// `task`, which has [ended](super::task::end), is complete. `thread` is whichever says so; its strand is stopped.
pub fn complete(thread: &'static Thread, task: &'static Frame) {
    with_end(thread, task, task.end());
}

/// The same; it has ended at `end`, which the frame need not know.
#[inline(always)]
pub(super) fn with_end(thread: &'static Thread, task: &'static Frame, end: End) {
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
pub(super) fn close_one(thread: &'static Thread, task: &'static Frame) {
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
    let (children, children_path) = latest::seen(&task.children);
    let (late, late_path) = latest::seen(&task.late);
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
