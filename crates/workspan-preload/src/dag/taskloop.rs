//! Loops whose iterations become tasks: all of them begin where the loop does, whoever creates them and when.
//!
//! A loop with a group of its own (all without `nogroup`) ends with that group: its span holds the longest of its tasks. The runtime
//! reports that all tasks are created before it waits for the group, and by then nothing else of the program can happen.

use core::ptr;

use workspan_collect::calls;
use workspan_collect::path;
use workspan_collect::region;
use workspan_collect::shared::{current_account, Shared};
use workspan_collect::strand;
use workspan_collect::tables::ROOT;
use workspan_wire::shm::{Thread, PREFIXED};

use super::alt_spans::AltSpans;
use super::create::report_of;
use super::frame::{Extra, Frame, Kind, Parent};
use super::state::call::Open;
use super::state::group::Group;
use super::state::Start;
use super::{call, log, solo};

/// What a taskloop is like.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// The program says that its tasks run at once.
    pub at_once: bool,
    /// It has a group of its own.
    pub grouped: bool,
}

/// `task`, whose strand is stopped, begins a taskloop.
pub fn enter(thread: &Thread, task: &Frame, site: &region::CallSite, kind: Loop) {
    // Two without groups of their own, where no debug information says so.
    leave_if(thread, task, |_| true);
    let here = strand::context(thread);
    let target = region::target(thread, site);
    path::settle(thread);
    let context = target.map_or(here, |target| target.context);
    let mut charged = here;
    if here == ROOT && context != ROOT {
        let shared = Shared::of(thread);
        let to = shared.context(context).site.get().wrapping_add(1);
        charged = region::close_serial(shared, thread, strand::span(thread), to);
        thread.task.last_region.set(to);
    }
    if log::on(thread) {
        let grouped = kind.grouped && !task.own_group.get().is_null();
        if grouped {
            // Its group has begun before it, and ends within.
            log::wait(thread);
        }
        log::enter(thread, charged, context);
        if grouped {
            log::group(thread);
        }
    }
    region::shift(thread, context);
    let recursive = target.is_none_or(|target| target.recursive || target.context == here);
    let call = if recursive { Open::NONE } else { call::enter(thread, task, context) };
    let position = thread.task.position.get();
    let start = Start {
        span: strand::span(thread),
        alt: AltSpans::of(thread),
        path: path::own(Shared::of(thread), position.path),
        since: position.since,
        forked_in: context,
        context,
    };
    if let Some(extra) = task.extra(thread) {
        extra.taskloop.set(Some((here, start)));
        extra.taskloop_at_once.set(kind.at_once);
        extra.taskloop_grouped.set(kind.grouped);
        extra.taskloop_recursive.set(recursive);
        extra.taskloop_call.set(call);
        extra.taskloop_identity.set(0);
    }
}

/// A task of a taskloop of `creator`: where the loop begins, whoever creates it when. `helper` is the task of the runtime
/// that does, if not `creator` itself.
pub fn create(
    thread: &'static Thread,
    creator: &'static Frame,
    helper: Option<&'static Frame>,
    kind: Kind,
) -> Option<&'static Frame> {
    let shared = Shared::of(thread);
    let (start, report, within) = match helper {
        Some(helper) => {
            // Its own path is still that of the beginning; that it was stolen counts once.
            let position = thread.task.position.get();
            let start = Start { path: position.path & !PREFIXED, since: position.since, ..helper.start.get() };
            let within = helper.within.get();
            if within != 0 {
                calls::keep_open(shared, within);
            }
            (start, helper.report.get(), within)
        }
        None => {
            let start = creator.known_extra()?.taskloop.get()?.1;
            let alt = start.alt.burdened_by(kind.steal(thread));
            (Start { alt, ..start }, report_of(shared, creator), call::creates(shared, creator))
        }
    };
    let start = Start { path: path::own(shared, start.path), ..start };
    let task = Frame::of_parent(thread, kind, start, Parent::of(creator, report, within))?;
    if log::on(thread) {
        let identity = helper.map_or_else(|| identity_of_loop(thread, creator), log::chunk_of);
        log::is_chunk(thread, task, start.context, identity);
    }
    solo::increment(&creator.open);
    Some(task)
}

/// The identity of the tasks of `creator`'s loop in the log.
#[cold]
fn identity_of_loop(thread: &Thread, creator: &Frame) -> u64 {
    let Some(extra) = creator.known_extra() else {
        return 0;
    };
    if extra.taskloop_identity.get() == 0 {
        extra.taskloop_identity.set(log::chunks(thread, strand::context(thread)));
    }
    extra.taskloop_identity.get()
}

/// It has created all of its tasks.
pub fn created(thread: &Thread, task: &Frame) {
    let Some(extra) = task.known_extra() else {
        return;
    };
    let group = task.own_group.get();
    if extra.taskloop_grouped.get() && !group.is_null() {
        extra.taskloop_group.set(group);
    } else {
        leave(thread, task, extra);
    }
}

/// The strand of `task` has gone on behind the group that was `closed`.
pub fn group_closed(thread: &Thread, task: &Frame, closed: *const Group) {
    leave_if(thread, task, |group| ptr::eq(group, closed));
    if let Some(extra) = task.known_extra() {
        // A runtime may wait before it reports that the tasks are created.
        extra.taskloop_grouped.set(false);
    }
}

/// Ends the loop that waits for its group, if that is to be.
fn leave_if(thread: &Thread, task: &Frame, now: impl FnOnce(*const Group) -> bool) {
    if let Some(extra) = task.known_extra() {
        let group = extra.taskloop_group.get();
        if !group.is_null() && now(group) {
            leave(thread, task, extra);
        }
    }
}

fn leave(thread: &Thread, task: &Frame, extra: &Extra) {
    extra.taskloop_group.set(ptr::null());
    let Some((before, start)) = extra.taskloop.take() else {
        return;
    };
    path::release(Shared::of(thread), start.path);
    let account = current_account(thread);
    account.entries.set(account.entries.get() + 1);
    if !extra.taskloop_recursive.get() {
        account.instances.set(account.instances.get() + 1);
        account.span.set(account.span.get() + strand::span(thread) - start.span);
        let alt = AltSpans::of(thread).beyond(start.alt);
        account.uniform_span.set(account.uniform_span.get() + alt.uniform);
        account.burdened_span.set(account.burdened_span.get() + alt.burdened);
    }
    call::leave(thread, task, extra.taskloop_call.take());
    strand::flush(thread);
    if log::on(thread) {
        log::leave(thread);
    }
    region::shift(thread, before);
}
