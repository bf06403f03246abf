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
use workspan_collect::region::{CallSite, Place};
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::task::enter_idle;
use workspan_collect::thread;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::abi::{task as flag, Data, BEGIN, BEGIN_END};
use super::boundary;
use super::first_calls;
use super::first_use;
use super::noted::{self, noted};
use super::site::call_site;
use crate::dag::clock::is_virtual;
use crate::dag::frame::Frame;
use crate::dag::ready::ready;
use crate::dag::team::Team;
use crate::dag::{create, pieces, range, rare, task, team, token};
use crate::{modules, threads};

/// Of no place: what happens there belongs to the context around it.
const NOWHERE: CallSite = CallSite { kind: SiteKind::Parallel, place: Place::Address(0), type_name: || "" };

/// The tick now; `None` if the reading may be skipped.
#[inline(always)]
pub(crate) fn tick(thread: &Thread) -> Option<u64> {
    if rare::any() {
        first_calls::leaves(thread);
        if is_virtual() {
            return Some(thread.virtual_now.get());
        }
    }
    if thread.task.waiting.get() != 0 {
        return Some(clock::wake(thread));
    }
    clock::read_often(thread)
}

/// The tick now.
#[inline(always)]
pub(crate) fn now(thread: &Thread) -> u64 {
    if rare::any() {
        first_calls::leaves(thread);
        if let Some(now) = boundary::leaves(thread) {
            return now;
        }
        if is_virtual() {
            return thread.virtual_now.get();
        }
    }
    if thread.task.waiting.get() != 0 {
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
    if !rare::any() {
        return;
    }
    first_calls::stays(thread);
    if token::enabled() {
        take_turns(thread);
    }
}

/// With virtual cores: the strand of `thread`, in which the program only looks or sleeps by `own`, lets others have their turn.
pub(crate) fn pass_turn<R>(thread: &'static Thread, own: impl FnOnce() -> R) -> R {
    let before = now(thread);
    strand::stop(thread, before);
    let result = events::exclude_events(thread, || {
        token::give(thread);
        let result = own();
        token::take(thread);
        result
    });
    strand::go(thread, if is_virtual() { thread.virtual_now.get() } else { clock::wake(thread) });
    result
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
    let entry = noted();
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
    pieces::forks(thread, task);
    let Some(team) = team::fork(thread, task, at, &site, own) else {
        task::go(thread, Some(at));
        return;
    };
    team.set_called(team::Called { after: after as u64, body: entry.body as u64, sections: entry.sections });
    task.set_forked(thread, team);
    if entry.first {
        team.watches_body();
    }
    if flags & LEAGUE != 0 {
        noted::note_league(team);
    }
    task.save(thread);
    // Whoever forks a team is one of its members.
    thread.is_worker.set(1);
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
        let of_league = || if flags as u32 & flag::INITIAL != 0 { noted::noted_league() } else { None };
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
                if frame.team().is_some_and(Team::has_watched_body) {
                    first_calls::body_is_next();
                }
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
