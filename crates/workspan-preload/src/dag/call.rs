//! Calls: instances of sites, as far as the critical path has them ([`workspan_collect::calls`]).
//!
//! An instance has all that was created in it. What it ran itself is known when it ends; work of tasks goes up when they
//! close, to the innermost call that their creator had open when it created them, else to the creator; that of a team's
//! members, when they arrive at barriers and from their tasks, to the team, and from there to whoever forked it.
//!
//! **A task** that creates nothing is marked on its path when that is passed on, with all sums. Another one is marked
//! before it passes its path to what it creates ([`CALL_WANTED`]), and known when it closes.

use core::sync::atomic::Ordering;

use workspan_collect::calls::{self, CallId};
use workspan_collect::group::raise;
use workspan_collect::path;
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::{ContextId, ROOT};
use workspan_wire::shm::{Thread, CALL_WANTED};

use super::frame::{Frame, Kind};
use super::solo;
use super::state::call::{Open, Part};
use super::state::team::Team;

/// What the running task has done so far, with teams that it has forked.
pub fn work(thread: &Thread) -> i64 {
    thread.task.work.get() + thread.task.teams_work.get()
}

/// What `Thread::task_call` is as a task of this kind begins.
pub fn at_begin(kind: Kind) -> CallId {
    if kind.is_instance() && !kind.recursive {
        CALL_WANTED
    } else {
        0
    }
}

/// `task`, whose strand is stopped and its path whole, enters an outermost instance of `context`.
pub fn enter(thread: &Thread, task: &Frame, context: ContextId) -> Open {
    let open = open(thread, task, context);
    mark(thread, open.0);
    open
}

fn mark(thread: &Thread, id: CallId) {
    strand::set_path(thread, path::mark(Shared::of(thread), strand::path(thread), id));
}

fn open(thread: &Thread, task: &Frame, context: ContextId) -> Open {
    let shared = Shared::of(thread);
    let id = calls::begin(shared, context, task.open_call.get(), 1);
    if id != 0 {
        task.open_call.set(id);
        calls::add(shared, id, -work(thread));
        shared.call(id).span.store(-strand::span(thread), Ordering::Relaxed);
    }
    Open(id)
}

/// `task`, whose strand is stopped, leaves it. Returns its span.
pub fn leave(thread: &Thread, task: &Frame, Open(id): Open) -> i64 {
    if id == 0 {
        return 0;
    }
    let shared = Shared::of(thread);
    let call = shared.call(id);
    let span = strand::span(thread) + call.span.load(Ordering::Relaxed);
    call.span.store(span, Ordering::Relaxed);
    task.open_call.set(call.around.get());
    calls::add(shared, id, work(thread));
    credit(task, calls::let_go(thread, id));
    span
}

/// `creator` creates a task: what the task amounts to goes to the call that is returned, if there is one.
pub fn creates(shared: Shared, creator: &Frame) -> CallId {
    let id = creator.open_call.get();
    if id != 0 {
        calls::keep_open(shared, id);
    }
    id
}

/// `task`, with all below, is over after `work`, and lasted for `span`; its call, if it has one, was marked on its path.
#[inline(always)]
pub fn closes(thread: &Thread, task: &Frame, call: CallId, work: i64, span: i64) {
    let shared = Shared::of(thread);
    if call != 0 && call != CALL_WANTED {
        calls::make_known(shared, call, work, span);
    }
    let Some(creator) = task.parent() else {
        return;
    };
    match task.within.get() {
        0 => credit(creator, work),
        within => credit(creator, calls::task_over(thread, within, work)),
    }
}

/// Tasks that `task` has created outside of all calls, or in calls that are known, have done `work`.
fn credit(task: &Frame, work: i64) {
    if work == 0 {
        return;
    }
    if !task.kind.get().implicit {
        solo::add(&task.below, work);
    } else if let Some(team) = task.team() {
        solo::add(&team.work, work);
    }
}

/// `task`, a member of `team` whose strand is stopped and its path whole, enters the team's `ordinal`-th worksharing construct:
/// an instance of `context`, unless the member does not know its place. Not `counts`: not an outermost one.
pub fn enter_part(
    thread: &Thread,
    task: &Frame,
    team: &Team,
    ordinal: u32,
    context: Option<ContextId>,
    counts: bool,
) -> Part {
    let shared = Shared::of(thread);
    let whole = team.whole(ordinal).find(shared, ordinal, team.size.load(Ordering::Relaxed).max(1));
    if !counts {
        return Part { open: Open::NONE, whole };
    }
    let open = open(thread, task, context.unwrap_or(ROOT));
    if open.0 != 0 && whole != 0 {
        if let Some(context) = context {
            shared.call(whole).context.store(context, Ordering::Relaxed);
        }
        shared.call(open.0).whole.set(whole);
    }
    mark(thread, if whole != 0 { whole } else { open.0 });
    Part { open, whole }
}

/// `task`, whose strand is stopped, leaves it after `span`.
pub fn leave_part(thread: &Thread, task: &Frame, Part { open, whole }: Part, span: i64) {
    let shared = Shared::of(thread);
    if whole != 0 {
        raise(&shared.call(whole).span, span);
    }
    if open.0 != 0 {
        leave(thread, task, open);
    } else if whole != 0 {
        calls::let_go(thread, whole);
    }
}
