//! Threads that look again and again whether something has come: by `sched_yield`, or by short sleeps. See [`workspan_collect::looks`].

use core::ffi::{c_int, c_uint, c_void};

use workspan_collect::{looks, thread};
use workspan_wire::shm::Thread;

use super::shim::{entry, original};
use super::wait;
use crate::dag::token;
use crate::ompt::events;
use crate::tbb::site::Called;

type Yield = unsafe extern "C-unwind" fn() -> c_int;
type Micros = unsafe extern "C-unwind" fn(c_uint) -> c_int;
type Sleep = unsafe extern "C-unwind" fn(*const c_void, *mut c_void) -> c_int;
type Clocked = unsafe extern "C-unwind" fn(c_int, c_int, *const c_void, *mut c_void) -> c_int;

/// The calling thread in the middle of a strand of the program, with the real clock.
#[inline(always)]
fn in_strand(called: Called) -> Option<(&'static Thread, u64)> {
    thread::hot()?;
    wait::in_strand(called, |thread, now| (thread, now))
}

#[inline(always)]
fn sleeps(called: Called, own: impl FnOnce() -> c_int) -> c_int {
    match in_strand(called) {
        Some((thread, now)) => {
            if token::held(thread) {
                token::give(thread);
            }
            looks::sleeps(thread, now, own)
        }
        None => own(),
    }
}

entry!(sched_yield, "rdi", sched_yield_here);
unsafe extern "C-unwind" fn sched_yield_here(called: Called) -> c_int {
    // SAFETY: always may be called.
    let own = || unsafe { original!(c"sched_yield" as Yield)() };
    match in_strand(called) {
        Some((thread, _)) if token::held(thread) => events::pass_turn(thread, own),
        Some((thread, now)) => looks::yields(thread, now, own),
        None => own(),
    }
}

entry!(usleep, "rsi", usleep_here);
unsafe extern "C-unwind" fn usleep_here(micros: c_uint, called: Called) -> c_int {
    // SAFETY: the caller's own.
    sleeps(called, || unsafe { original!(c"usleep" as Micros)(micros) })
}

entry!(nanosleep, "rdx", nanosleep_here);
unsafe extern "C-unwind" fn nanosleep_here(time: *const c_void, left: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    sleeps(called, || unsafe { original!(c"nanosleep" as Sleep)(time, left) })
}

entry!(clock_nanosleep, "r8", clock_nanosleep_here);
unsafe extern "C-unwind" fn clock_nanosleep_here(
    clock: c_int,
    flags: c_int,
    time: *const c_void,
    left: *mut c_void,
    called: Called,
) -> c_int {
    // SAFETY: the caller's own.
    sleeps(called, || unsafe { original!(c"clock_nanosleep" as Clocked)(clock, flags, time, left) })
}
