//! Tasks that are suspended in the middle (`tbb::task::suspend`), and go on when somebody resumes them: on any thread, on the stack that
//! they had.
//!
//! libtbb leaves the task's stack first, and then calls what the program does with the point of suspension; that is the task's own strand
//! still. When that is done the task leaves the thread, and what it had interrupted goes on to wait. Whoever resumes it may be sooner than that: the
//! task waits for its books to be closed ([`rules::await_saved`]), which is a matter of nanoseconds.
//!
//! A task goes on at S = max(own S, S of who resumed it).
//!
//! **Threads change in the middle of a function here.** What is done behind the suspension is in functions of their own, which find
//! the thread's variables anew.
//!
//! **Not followed:** tasks that are part of their creator's strand, and who suspends itself outside of tasks.

use core::cell::Cell;
use core::ffi::c_void;

use workspan_collect::shared::Shared;
use workspan_collect::waits::Wait;

use super::store::Store;
use super::{state, wait};
use crate::dag::frame::Frame;
use crate::dag::task as rules;
use crate::ompt::events;
use crate::sync::wait::in_task;
use crate::sync::waiters::Left;

/// What the program does with the point of suspension.
pub type Callback = unsafe extern "C-unwind" fn(*mut c_void, *const c_void);

/// What those who resume leave, by the point; more are not followed.
struct Resumed(Store<64>);

// SAFETY: whoever takes a slot of the store has what is in it.
unsafe impl Sync for Resumed {}

static RESUMED: Resumed = Resumed(Store::new());

fn key(point: u64) -> u64 {
    (point >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(40) | 1
}

/// A task that is about to be suspended; on its own stack.
struct Suspended {
    task: &'static Frame,
    callback: Callback,
    argument: *mut c_void,
    point: Cell<u64>,
}

/// Calls `own`, which suspends the calling task and returns when it is resumed.
///
/// # Safety
///
/// What a program passes to libtbb's `suspend`, which is `own`.
pub unsafe fn suspends(
    own: unsafe extern "C-unwind" fn(Callback, *mut c_void),
    callback: Callback,
    argument: *mut c_void,
) {
    let Some(task) = followed() else {
        // SAFETY: the caller's promise.
        return unsafe { own(callback, argument) };
    };
    let suspended = Suspended { task, callback, argument, point: Cell::new(0) };
    // SAFETY: the caller's promise; what is passed lives until the task is resumed.
    unsafe { own(call, (&raw const suspended).cast_mut().cast()) };
    comes_back(task, suspended.point.get());
}

/// The task that the calling thread runs, if it may be suspended.
#[inline(never)]
fn followed() -> Option<&'static Frame> {
    let (thread, task) = state::current()?;
    let may = thread.task.waiting.get() == 0 && !task.is_inline() && task.interrupted().is_some();
    may.then_some(task)
}

/// In the place of the program's function: on another stack, and on the thread that the task was on.
unsafe extern "C-unwind" fn call(suspended: *mut c_void, point: *const c_void) {
    // SAFETY: what `suspends` passed; the task is not resumed before the program's function is called.
    let Suspended { task, callback, argument, point: at } = unsafe { &*suspended.cast::<Suspended>() };
    let (task, callback, argument) = (*task, *callback, *argument);
    at.set(point as u64);
    // From here on the task may be resumed. SAFETY: the program's own.
    unsafe { callback(argument, point) };
    leaves(task);
}

/// `task` leaves the calling thread.
#[inline(never)]
fn leaves(task: &'static Frame) {
    let Some((thread, here)) = state::current() else { return };
    let Some(below) = task.interrupted().filter(|_| core::ptr::eq(here, task)) else { return state::lost(thread) };
    let at = events::now(thread);
    rules::stop(thread, Some(at));
    rules::suspend(thread, task, true);
    rules::resume(thread, below, Some(at));
    if below.waits_briefly().is_some() {
        wait::deepen(thread, below);
    }
    rules::wait(thread, at);
    rules::go(thread, Some(at));
}

/// `task` was resumed, on the calling thread.
#[inline(never)]
fn comes_back(task: &'static Frame, point: u64) {
    let Some((thread, here)) = state::current() else { return };
    if core::ptr::eq(here, task) || !rules::await_saved(thread, task) {
        return state::lost(thread);
    }
    let at = events::now(thread);
    rules::stop(thread, Some(at));
    rules::suspend(thread, here, false);
    task.interrupts(Some(here));
    rules::resume(thread, task, Some(at));
    rules::go(thread, Some(at));
    if let Some(left) = RESUMED.0.take(key(point)) {
        Wait::begin_at(thread, at).end_behind(at, left.at, Some(left.parts()));
    }
}

/// The calling thread is about to resume whoever was suspended at this point.
pub fn resumes(point: u64) {
    in_task(|thread, now| {
        RESUMED.0.put(Shared::of(thread), key(point), Left::by(thread, now, point));
    });
}
