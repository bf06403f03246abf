//! Where code of the program ends and the runtime's begins, with virtual cores.
//!
//! A team of 64 enters and leaves a region 64 times, though most members find nothing to do: what the runtime takes for that,
//! each time with another thread's memory, was more than the work of short loops. So a strand ends where the program calls the
//! runtime, not where the runtime calls back, and begins where the runtime calls the program: the bodies of regions are
//! replaced by functions that call them ([`super::bodies`]), and entry points say that they were called
//! ([`super::interpose`]). What passes between such a call and the next callback, or between a callback and the body, is in no
//! strand.
//!
//! **Invariant:** only time between two of these marks on one thread is dropped, and at most [`LONGEST_NANOS`] each: where a callback
//! does not come, the program's time counts. With the virtual clock, whose ticks are the program's, nothing is dropped.
//!
//! **Cost:** one load for each reading of a callback where there are no virtual cores.

use core::cell::Cell;

use workspan_collect::clock;
use workspan_collect::platform;
use workspan_collect::strand;
use workspan_collect::thread;
use workspan_collect::ticks::ticks_of;
use workspan_wire::shm::Thread;

use crate::dag::clock::is_virtual;
use crate::dag::token;

/// Longer than the runtime takes.
const LONGEST_NANOS: u64 = 100_000;

std::thread_local! {
    /// True while the calling thread is in the runtime, or about to leave it.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// True if time in the runtime is to be dropped.
#[inline(always)]
pub(super) fn watched() -> bool {
    token::enabled() && !is_virtual()
}

/// The program calls the runtime.
#[inline]
pub(super) fn enters() {
    if watched() {
        enter();
    }
}

#[cold]
fn enter() {
    let Some(thread) = thread::current() else { return };
    if thread.task.waiting.get() != 0 || thread.account.get() == 0 {
        return;
    }
    let at = clock::read(thread);
    // What hooks take as a rule is more than this strand had: it had next to nothing, and not less.
    if (at.wrapping_sub(thread.start.get()) as i64) < 0 {
        thread.start.set(at);
    }
    strand::stop(thread, at);
    strand::go(thread, at);
    INSIDE.set(true);
}

/// A callback is over that the runtime goes on from to the program.
#[inline]
pub(super) fn stays() {
    if watched() {
        INSIDE.set(true);
    }
}

/// The runtime calls back on `thread`: the tick, if time in the runtime was dropped, so that nothing is left of the strand.
#[inline(always)]
pub(super) fn leaves(thread: &Thread) -> Option<u64> {
    if token::enabled() {
        leave(thread)
    } else {
        None
    }
}

#[cold]
fn leave(thread: &Thread) -> Option<u64> {
    if !INSIDE.replace(false) || is_virtual() || thread.task.waiting.get() != 0 {
        return None;
    }
    let passed = platform::ticks().wrapping_sub(thread.start.get()) as i64;
    if passed > ticks_of(thread, LONGEST_NANOS) {
        return None;
    }
    let now = clock::wake(thread);
    thread.start.set(now);
    Some(now)
}

/// The runtime calls the program on the calling thread, or returns to it.
pub(super) fn program_goes_on() {
    if !watched() {
        return;
    }
    let Some(thread) = thread::current() else { return };
    if let Some(now) = leaves(thread) {
        // Of what hooks take as a rule, the half that comes before the next reading.
        thread.start.set(now.wrapping_add(thread.probe.get() as u64 / 2));
    }
}
