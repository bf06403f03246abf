//! The callbacks about explicit tasks: created, begun, suspended, resumed, ended, and what they depend on.

#![expect(clippy::not_unsafe_ptr_arg_deref, reason = "called by the runtime, which vouches for its pointers")]

use core::ffi::{c_int, c_void};

use workspan_collect::region;
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::ContextId;
use workspan_collect::thread;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::abi::{dependence, status, task as flag, Data, Dependence};
use super::events::{done, frame_in, frame_or_leaving, now, tick};
use super::first_calls;
use super::noted::{called_from, is_very_first, is_watched, noted};
use super::site::{call_site, place};
use crate::dag::alt_spans::AltSpans;
use crate::dag::depend::Use;
use crate::dag::frame::{Frame, Kind, Stage};
use crate::dag::{complete, create, depend as dependences_of, log, rare, task, taskloop};

/// A task is created.
pub extern "C" fn task_create(
    creator_data: *const Data,
    _frame: *const c_void,
    task_data: *const Data,
    flags: c_int,
    _has_dependences: c_int,
    after: *const c_void,
) {
    let entry = noted();
    let Some(creator) = frame_in(creator_data) else { return };
    let flags = flags as u32;
    let deferred = flags & flag::UNDEFERRED == 0;
    if entry.is_none() && flags & (flag::TASKWAIT | flag::CALIBRATION) == 0 {
        if let Some(thread) = thread::current() {
            if create_chunk(thread, creator, flags, task_data) {
                return;
            }
        }
    }
    let Some(thread) = creator.running_on() else { return };
    let (watched, later) = if rare::any() { watched_creation(thread, creator, task_data) } else { (false, 0) };
    let at = tick(thread);
    let cost = if entry.since == 0 { None } else { entry.later(later).cost(thread.short.get() * 10) };
    task::stop(thread, at);
    let here = strand::context(thread);
    let mut kind = Kind {
        untied: flags & flag::UNTIED != 0,
        final_: flags & flag::FINAL != 0,
        inline: !deferred && (entry.at_once || creator.is_final() || creator.team_size() > 1),
        ..Kind::default()
    };
    let mut context = here;
    if flags & (flag::TASKWAIT | flag::CALIBRATION) != 0 {
        kind.machinery = true;
        kind.inline = false;
    } else if entry.is_none() && creator.in_taskloop() {
        kind = Kind { recursive: true, taskloop: true, inline: true, ..kind };
    } else {
        let after = called_from(creator, after);
        let known = region::known_target(thread, place(entry, after).key());
        if let Some(to) = known.or_else(|| region::target(thread, &call_site(SiteKind::Task, entry, after))) {
            (context, kind.recursive) = (to.context, to.recursive);
        }
    }
    // SAFETY: null or the word that the runtime keeps for us.
    let word = unsafe { task_data.as_ref() };
    let wait = flags & flag::TASKWAIT != 0;
    let report = create::report_of(Shared::of(thread), creator);
    if let (Some(task), Some(word)) = (create::task(thread, creator, context, kind, report, !wait), word) {
        if wait {
            // libomp has one word for all such waits of a thread, and insists that it be empty when the next one
            // begins, which may be in a task that runs during this one.
            creator.set_pseudo(thread, task);
        } else {
            word.set(task as *const Frame as u64);
        }
        if let Some(cost) = cost.filter(|_| !wait) {
            charge_creation(thread, context, cost);
        }
    }
    task::go(thread, at);
    if watched && deferred {
        first_calls::stays(thread);
    }
}

/// Whether the runtime's part of the creation is watched, and the ticks up to here that do not count.
#[cold]
fn watched_creation(thread: &Thread, creator: &Frame, task_data: *const Data) -> (bool, i64) {
    let watched = is_watched(creator);
    if watched && is_very_first() {
        first_calls::made(task_data.cast());
    }
    (watched, first_calls::leaves(thread))
}

/// Creations in `context` have taken `cost` ticks.
#[cold]
fn charge_creation(thread: &Thread, context: ContextId, cost: i64) {
    let account = Shared::of(thread).account(thread, context);
    account.overhead.set(account.overhead.get() + cost);
    if log::on(thread) {
        log::overhead(thread, cost);
    }
}

/// A task of a taskloop: a chunk, or a helper that creates some in turn (on behalf of the task that met the loop, which
/// may run elsewhere, or have gone on). False if it is none.
#[cold]
fn create_chunk(thread: &'static Thread, creator: &'static Frame, flags: u32, task_data: *const Data) -> bool {
    let here = creator.running_on().is_some_and(|on| core::ptr::eq(on, thread));
    let helper = if here { None } else { Frame::on(thread).filter(|frame| frame.in_taskloop()) };
    if (here && !creator.in_taskloop()) || (!here && helper.is_none()) || creator.runs_taskloop_at_once() {
        return false;
    }
    let at = tick(thread);
    task::stop(thread, at);
    if let Some(helper) = helper {
        helper.is_machinery();
    }
    let kind = Kind {
        recursive: true,
        taskloop: true,
        final_: flags & flag::FINAL != 0,
        untied: flags & flag::UNTIED != 0,
        ..Kind::default()
    };
    // SAFETY: null or the word that the runtime keeps for us.
    let word = unsafe { task_data.as_ref() };
    let task = taskloop::create(thread, creator, helper, kind);
    task::go(thread, at);
    if let (Some(task), Some(word)) = (task, word) {
        word.set(task as *const Frame as u64);
        return true;
    }
    false
}

/// A task's dependences.
pub extern "C" fn dependences(task_data: *const Data, list: *const Dependence, count: c_int) {
    let pseudo = || current_task().and_then(|(_, creator)| creator.pseudo());
    let Some(task) = frame_in(task_data).or_else(pseudo) else { return };
    let Some(creator) = task.parent() else { return };
    let Some(thread) = creator.running_on() else { return };
    let Ok(count) = usize::try_from(count) else { return };
    if list.is_null() {
        return;
    }
    // SAFETY: the runtime passes that many.
    let list = unsafe { core::slice::from_raw_parts(list, count) };
    for one in list {
        if one.kind == dependence::ALL_MEMORY.0 || one.kind == dependence::ALL_MEMORY.1 {
            dependences_of::depend_on_all(thread, creator, task);
            continue;
        }
        let how = match one.kind {
            dependence::IN => Use::Read,
            dependence::EXCLUSIVE => Use::Exclusive,
            dependence::SET => Use::Set,
            kind if kind == dependence::DOACROSS.0 || kind == dependence::DOACROSS.1 => continue,
            _ => Use::Write,
        };
        dependences_of::depend(thread, creator, task, one.variable, how);
    }
}

/// A thread changes from one task to another.
pub extern "C" fn task_schedule(prior_data: *const Data, how: c_int, next_data: *const Data) {
    if how == status::TASKWAIT_COMPLETE {
        return waited_for();
    }
    let Some(prior) = frame_or_leaving(prior_data) else { return };
    match how {
        status::EARLY_FULFILL => return fulfilled_early(prior),
        status::LATE_FULFILL => return fulfilled_late(prior),
        _ => {}
    }
    let ended = how == status::COMPLETE || how == status::CANCEL;
    if (ended || how == status::DETACH) && prior.is_untied() && code_ended(prior, ended) {
        return;
    }
    let Some((thread, prior)) = running(prior) else { return };
    let next = match frame_in(next_data) {
        Some(next) => next,
        // Back to whatever was under way.
        None => match prior.interrupted().filter(|it| ended || how == status::DETACH || it.is_leaving()) {
            Some(next) => next,
            None => return,
        },
    };
    if core::ptr::eq(prior, next) {
        return;
    }
    let begins = next.stage() == Stage::Created;
    if !begins && next.is_untied() && !task::await_saved(thread, next) {
        // By the books what runs here goes on.
        return;
    }
    let at = if !begins && next.waits() { Some(now(thread)) } else { tick(thread) };
    task::stop(thread, at);
    let interrupted = if ended { prior.interrupted() } else { Some(prior) };
    let back = prior.interrupted().is_some_and(|below| core::ptr::eq(below, next));
    if ended {
        task::end_complete(thread, prior);
    } else if how == status::DETACH {
        task::end(thread, prior);
    } else {
        task::suspend(thread, prior, back);
    }
    if begins {
        if let Some(at) = at {
            task::wait_over(thread, at);
        }
        next.interrupts(interrupted);
        task::begin(thread, next);
    } else {
        if !back {
            // An untied task goes on in another place.
            next.interrupts(interrupted);
        }
        task::resume(thread, next, at);
    }
    task::go(thread, at);
    done(thread);
}

/// The code of an untied task has ended, its last part's books are closed, and something else runs here already; now it is
/// complete, or detached. False if it runs here by the books, as do those of which the runtime reports no part.
fn code_ended(untied: &'static Frame, complete: bool) -> bool {
    let Some(thread) = thread::current() else { return false };
    if Frame::on(thread).is_some_and(|here| core::ptr::eq(here, untied)) || untied.stage() != Stage::Begun {
        return false;
    }
    if !task::await_saved(thread, untied) {
        // It never ends, by the books.
        return true;
    }
    task::end_suspended(thread, untied);
    if complete {
        let at = tick(thread);
        task::stop(thread, at);
        complete::complete(thread, untied);
        if let Some(here) = Frame::on(thread) {
            task::join_inline(thread, here);
        }
        task::go(thread, at);
    }
    true
}

/// The untied task that runs on the calling thread.
pub(super) fn untied_task() -> Option<&'static Frame> {
    current_task().map(|(_, task)| task).filter(|task| task.is_untied())
}

/// The code of a part of `untied` has returned. If the task still runs here by the books, it was the last one: what it
/// interrupted goes on, and the task is complete when some thread says so.
pub(super) fn part_over(untied: &'static Frame) {
    let Some((thread, task)) = current_task() else { return };
    if !core::ptr::eq(task, untied) {
        return;
    }
    let Some(below) = task.interrupted() else { return };
    let at = if below.waits() { Some(now(thread)) } else { tick(thread) };
    task::stop(thread, at);
    task::suspend(thread, task, true);
    task::resume(thread, below, at);
    task::go(thread, at);
    done(thread);
}

/// Where `prior` runs. The runtime reports parts of untied tasks late: then what runs is another task.
fn running(prior: &'static Frame) -> Option<(&'static Thread, &'static Frame)> {
    match prior.running_on() {
        Some(thread) if !prior.is_untied() => Some((thread, prior)),
        _ => {
            let thread = thread::current()?;
            Some((thread, Frame::on(thread)?))
        }
    }
}

/// `taskwait` with dependences: its pseudo-task ends.
fn waited_for() {
    let Some((thread, creator)) = current_task() else { return };
    let Some(pseudo) = creator.take_pseudo() else { return };
    let at = now(thread);
    task::wait_over(thread, at);
    task::stop(thread, Some(at));
    task::after(thread, pseudo);
    task::discard(thread, pseudo);
    task::go(thread, Some(at));
    done(thread);
}

/// A task's event is fulfilled by the running strand, before the task ends.
fn fulfilled_early(detached: &'static Frame) {
    if let Some(thread) = thread::current() {
        let at = now(thread);
        task::stop(thread, Some(at));
        detached.fulfil(thread, strand::span(thread), AltSpans::of(thread).uniform);
        task::go(thread, Some(at));
    }
}

/// The same after its end: the task is complete now.
fn fulfilled_late(detached: &'static Frame) {
    if let Some(thread) = thread::current() {
        let at = now(thread);
        task::stop(thread, Some(at));
        if detached.stage() == Stage::Detached {
            task::fulfilled(thread, detached);
            complete::complete(thread, detached);
        }
        task::go(thread, Some(at));
    }
}

/// The task that runs on the calling thread.
pub(super) fn current_task() -> Option<(&'static Thread, &'static Frame)> {
    let thread = thread::current()?;
    Some((thread, Frame::on(thread)?))
}
