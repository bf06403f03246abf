//! The callbacks: what the OpenMP runtime reports, in terms of [`crate::dag`].
//!
//! The runtime keeps a word for us with every task and every parallel region; they hold the [`Frame`] and the [`Team`]. A
//! running task's frame knows its thread, so no thread-local variable is read on the hot path. A word that is 0, or a
//! null pointer, means that the runtime did not report the beginning: such events are ignored.

#![expect(clippy::not_unsafe_ptr_arg_deref, reason = "called by the runtime, which vouches for its pointers")]

use core::ffi::{c_int, c_uint, c_void};

use workspan_collect::clock;
use workspan_collect::events;
use workspan_collect::process;
use workspan_collect::region::{self, CallSite, Place};
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::task::enter_idle;
use workspan_collect::thread;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::abi::{dependence, status, task as flag, Data, Dependence, BEGIN, BEGIN_END};
use super::boundary;
use super::first_use;
use super::site::{self, call_site};
use crate::dag::alt_spans::AltSpans;
use crate::dag::clock::is_virtual;
use crate::dag::depend::Use;
use crate::dag::frame::{Frame, Kind, Stage};
use crate::dag::ready::ready;
use crate::dag::team::Team;
use crate::dag::{create, depend as dependences_of, log, pieces, range, task, taskloop, team, token};
use crate::{modules, threads};

/// Of no place: what happens there belongs to the context around it.
const NOWHERE: CallSite = CallSite { kind: SiteKind::Parallel, place: Place::Address(0), type_name: || "" };

/// The tick now; `None` if the reading may be skipped.
#[inline(always)]
pub(crate) fn tick(thread: &Thread) -> Option<u64> {
    if is_virtual() {
        return Some(thread.virtual_now.get());
    }
    if thread.task.waiting.get() != 0 {
        return Some(clock::wake(thread));
    }
    clock::read_often(thread)
}

/// The tick now.
#[inline(always)]
pub(crate) fn now(thread: &Thread) -> u64 {
    if let Some(now) = boundary::leaves(thread) {
        now
    } else if is_virtual() {
        thread.virtual_now.get()
    } else if thread.task.waiting.get() != 0 {
        clock::wake(thread)
    } else {
        clock::read(thread)
    }
}

/// The frame in a task's word.
#[inline(always)]
pub(super) fn frame_in(data: *const Data) -> Option<&'static Frame> {
    // SAFETY: null or a word that the runtime keeps for us.
    let word = unsafe { data.as_ref() }?.get();
    // SAFETY: 0 or a frame that we put there, which the task holds.
    unsafe { (word as *const Frame).as_ref() }
}

/// The frame in the word of a task that may be a member of a team at its last barrier ([`leave_team`]).
pub(super) fn frame_or_leaving(data: *const Data) -> Option<&'static Frame> {
    frame_in(data).or_else(|| Frame::on(thread::current()?).filter(|frame| frame.is_leaving()))
}

/// A member arrives at its team's last barrier: its word is emptied.
///
/// From here on libomp keeps a copy of the word in a place that it also uses for `taskwait` with dependences, in tasks that
/// the thread runs while it waits at the barrier, and insists that it be empty then. The thread knows the frame, too.
pub(super) fn leave_team(task: &Frame, task_data: *const Data) {
    // SAFETY: null or the word that the runtime keeps for us.
    if let Some(word) = unsafe { task_data.as_ref() } {
        task.leaves();
        word.set(0);
    }
}

/// The team in a region's word.
pub(super) fn team_in(data: *const Data) -> Option<&'static Team> {
    // SAFETY: null or a word that the runtime keeps for us.
    let word = unsafe { data.as_ref() }?.get();
    // SAFETY: 0 or a team that we put there, which is not over: its word is emptied when it is.
    unsafe { (word as *const Team).as_ref() }
}

/// The event is over: a thread that runs has the token, one that waits has not.
#[inline(always)]
pub(super) fn done(thread: &'static Thread) {
    if token::enabled() {
        take_turns(thread);
    }
}

#[cold]
fn take_turns(thread: &'static Thread) {
    let runs = thread.task.waiting.get() == 0;
    if runs && !token::held(thread) {
        let before = now(thread);
        strand::stop(thread, before);
        events::exclude_events(thread, || token::take(thread));
        let now = if is_virtual() { thread.virtual_now.get() } else { clock::wake(thread) };
        strand::go(thread, now);
    } else if !runs && token::held(thread) {
        token::give(thread);
    }
}

/// The program ends on the calling thread: notes where, with only the order that it demands.
pub fn note_uniform_end() {
    let Some((thread, now)) = thread::running() else { return };
    if thread.task.waiting.get() == 0 && range::is_one() {
        task::stop(thread, Some(now));
        range::program_ends(thread);
        task::go(thread, Some(now));
    }
}

/// A thread begins.
pub extern "C" fn thread_begin(kind: c_int, _data: *const Data) {
    const WORKER: c_int = 2;
    if kind == WORKER {
        thread::become_worker();
        if let Some(thread) = thread::current() {
            ready(thread);
        }
    }
}

/// A thread ends.
pub extern "C" fn thread_end(_data: *const Data) {
    if let Some(thread) = thread::current() {
        if token::held(thread) {
            token::give(thread);
        }
    }
}

/// A parallel region begins.
pub extern "C" fn parallel_begin(
    task_data: *const Data,
    _frame: *const c_void,
    region_data: *const Data,
    requested: c_uint,
    flags: c_int,
    after: *const c_void,
) {
    const LEAGUE: c_int = 0x4000_0000;
    if requested != 1 {
        threads::several();
    }
    let entry = site::noted();
    if process::shared().is_none() {
        return process::count_forked();
    }
    let Some(task) = frame_in(task_data) else { return };
    let Some(thread) = task.running_on() else { return };
    first_use::ends(thread);
    let at = now(thread);
    task::stop(thread, Some(at));
    let kind = if flags & LEAGUE != 0 { SiteKind::Teams } else { SiteKind::Parallel };
    // The team of libomp's hidden helpers, which run target tasks.
    let own = entry.is_none() && modules::of_the_runtime(after as u64);
    let site = if own { NOWHERE } else { call_site(kind, entry, after) };
    let Some(team) = team::fork(thread, task, at, &site, own) else {
        task::go(thread, Some(at));
        return;
    };
    task.set_forked(thread, team);
    if flags & LEAGUE != 0 {
        site::note_league(team);
    }
    task.save(thread);
    enter_idle(thread, at);
    // SAFETY: not null for a region that begins; the runtime keeps it for us.
    if let Some(word) = unsafe { region_data.as_ref() } {
        word.set(team as *const Team as u64);
    }
    done(thread);
}

/// A parallel region ends.
pub extern "C" fn parallel_end(
    _region_data: *const Data,
    task_data: *const Data,
    _flags: c_int,
    _after: *const c_void,
) {
    // The region's word may be another region's by now: libomp passes it from a team that it has let go. So the task that
    // forked knows the region; of gcc's teams, the one around it is named.
    let Some(task) = frame_in(task_data) else { return };
    let task = task.forked().and_then(team::take_covered).unwrap_or(task);
    let Some(team) = task.take_forked() else { return };
    let Some(thread) = thread::current() else { return };
    let at = now(thread);
    task::wait_over(thread, at);
    task.load(thread);
    team::finish(thread, task, at, team);
    task::go_long(thread, at);
    done(thread);
}

/// An implicit or initial task begins or ends.
pub extern "C" fn implicit_task(
    endpoint: c_int,
    region_data: *const Data,
    task_data: *const Data,
    size: c_uint,
    index: c_uint,
    flags: c_int,
) {
    // SAFETY: null or the word that the runtime keeps for us.
    let Some(word) = (unsafe { task_data.as_ref() }) else { return };
    if endpoint == BEGIN || endpoint == BEGIN_END {
        // In gcc's teams a task that waits for a region of one member shares the runtime's word with that member, and the region is
        // said to be the one around it.
        let covered = frame_in(task_data);
        let inner = covered.and_then(Frame::forked);
        if covered.is_some() && inner.is_none() {
            return;
        }
        let Some(thread) = thread::current() else { return };
        // A league of one team has no region that its initial task knows.
        let of_league = || if flags as u32 & flag::INITIAL != 0 { site::noted_league() } else { None };
        let frame = match inner.or_else(|| team_in(region_data)).or_else(of_league) {
            Some(team) => begin_member(thread, team, size, index),
            None if flags as u32 & flag::INITIAL != 0 => create::initial(thread),
            None => None,
        };
        if let Some(frame) = frame {
            word.set(frame as *const Frame as u64);
            if let (Some(team), Some(covered)) = (inner, covered) {
                team::cover(team, covered);
            }
            done(thread);
            if frame.is_member() {
                boundary::stays();
            }
        }
    } else if let Some(frame) = frame_or_leaving(task_data) {
        if let Some(team) = frame.forked() {
            // The only member of gcc's teams, again: the runtime's word is that of the task that forked it already.
            let member = thread::current().and_then(Frame::on).filter(|member| member.is_member_of(team));
            return member.into_iter().for_each(end_running);
        }
        // Behind its last barrier the team may be gone.
        let team = if frame.is_member() && !frame.is_leaving() { frame.team() } else { None };
        word.set(team.and_then(team::uncover).map_or(0, |covered| core::ptr::from_ref(covered) as u64));
        end_running(frame);
    }
}

fn end_running(frame: &'static Frame) {
    if let Some(thread) = frame.running_on() {
        end_implicit(thread, frame);
        done(thread);
    }
}

fn begin_member(thread: &'static Thread, team: &'static Team, size: c_uint, index: c_uint) -> Option<&'static Frame> {
    let at = now(thread);
    if thread.task.waiting.get() == 0 {
        // The first member of a nested or first region: its own strand was put away when the region began.
        task::stop(thread, Some(at));
    }
    let frame = team::member(thread, team, size, index)?;
    task::wait_over(thread, at);
    task::begin(thread, frame);
    if team.is_the_runtimes() {
        // It does nothing but wait for tasks.
        task::wait(thread, at);
        return Some(frame);
    }
    Shared::of(thread).workers_at_least(size);
    task::go_long(thread, at);
    Some(frame)
}

fn end_implicit(thread: &'static Thread, frame: &'static Frame) {
    let at = now(thread);
    if frame.is_initial() {
        // The thread's own strand goes on to its end.
        return;
    }
    task::stop(thread, Some(at));
    // A member that waits has arrived at its last barrier, and the region may be over; one that runs ends within it.
    if thread.task.waiting.get() == 0 {
        pieces::leave_inlined(thread, frame);
        if let Some(team) = frame.team() {
            team::arrive(thread, frame, team);
        }
    }
    task::end_member(thread, frame);
    task::wait(thread, at);
}

/// A task is created.
pub extern "C" fn task_create(
    creator_data: *const Data,
    _frame: *const c_void,
    task_data: *const Data,
    flags: c_int,
    _has_dependences: c_int,
    after: *const c_void,
) {
    let entry = site::noted();
    let Some(creator) = frame_in(creator_data) else { return };
    let flags = flags as u32;
    if entry.is_none() && flags & (flag::TASKWAIT | flag::CALIBRATION) == 0 {
        if let Some(thread) = thread::current() {
            if create_chunk(thread, creator, flags, task_data) {
                return;
            }
        }
    }
    let Some(thread) = creator.running_on() else { return };
    let at = tick(thread);
    task::stop(thread, at);
    let here = strand::context(thread);
    let mut kind = Kind {
        untied: flags & flag::UNTIED != 0,
        final_: flags & flag::FINAL != 0,
        inline: flags & flag::UNDEFERRED != 0 && (entry.at_once || creator.is_final() || creator.team_size() > 1),
        ..Kind::default()
    };
    let mut context = here;
    if flags & (flag::TASKWAIT | flag::CALIBRATION) != 0 {
        kind.machinery = true;
        kind.inline = false;
    } else if entry.is_none() && creator.in_taskloop() {
        kind = Kind { recursive: true, taskloop: true, inline: true, ..kind };
    } else if let Some(target) = region::target(thread, &call_site(SiteKind::Task, entry, after)) {
        (context, kind.recursive) = (target.context, target.recursive);
    }
    // SAFETY: null or the word that the runtime keeps for us.
    let word = unsafe { task_data.as_ref() };
    let wait = flags & flag::TASKWAIT != 0;
    if let (Some(task), Some(word)) = (create::task(thread, creator, context, kind, !wait), word) {
        if wait {
            // libomp has one word for all such waits of a thread, and insists that it be empty when the next one
            // begins, which may be in a task that runs during this one.
            creator.set_pseudo(thread, task);
        } else {
            word.set(task as *const Frame as u64);
        }
        if let Some(cost) = entry.cost(thread.short.get() * 10).filter(|_| !wait) {
            let account = Shared::of(thread).account(thread, context);
            account.overhead.set(account.overhead.get() + cost);
            if log::on(thread) {
                log::overhead(thread, cost);
            }
        }
    }
    task::go(thread, at);
}

/// A task of a taskloop: a chunk, or a helper that creates some in turn (on behalf of the task that met the loop, which
/// may run elsewhere, or have gone on). False if it is none.
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
        task::end(thread, prior, true);
        task::complete(thread, prior);
    } else if how == status::DETACH {
        task::end(thread, prior, false);
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
        task::complete(thread, untied);
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
            task::complete(thread, detached);
        }
        task::go(thread, Some(at));
    }
}

/// The task that runs on the calling thread.
pub(super) fn current_task() -> Option<(&'static Thread, &'static Frame)> {
    let thread = thread::current()?;
    Some((thread, Frame::on(thread)?))
}
