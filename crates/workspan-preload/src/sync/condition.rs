//! `pthread_cond_*`. The C library has them in two versions: the older is for programs of before 2003.

use core::ffi::{c_int, c_void};

use super::locks;
use super::shim::{entry, original};
use super::wait::{self, Ended, For};
use crate::tbb::site::Called;

type Plain = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Wait = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void) -> c_int;
type Timed = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *const c_void) -> c_int;
type Clocked = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, c_int, *const c_void) -> c_int;

/// The calling thread waits by `own` for `condition`, without `mutex` meanwhile. `timed_out`: what that answers if it was in vain, of a
/// wait with a limit.
pub fn wait(
    called: Called,
    condition: *mut c_void,
    mutex: *mut c_void,
    timed_out: Option<c_int>,
    own: impl FnOnce() -> c_int,
) -> c_int {
    let limited = timed_out.is_some();
    let wanted = For { mutex: mutex as u64, limited, ..For::lock(condition as u64) };
    locks::guards(mutex as u64);
    wait::found_wanting(called, mutex as u64);
    // Signals find whoever waits before the mutex is given back.
    let held = locks::given_back(called, mutex as u64);
    let Some(waiting) = wait::begin(called, wanted) else {
        return own();
    };
    let answer = own();
    waiting.end(if Some(answer) == timed_out { Ended::TimedOut } else { Ended::Woken });
    if held {
        locks::hold(called, mutex as u64, 0);
    }
    answer
}

const TIMED_OUT: c_int = 110;

entry!(pthread_cond_wait, "rdx", cond_wait);
unsafe extern "C-unwind" fn cond_wait(condition: *mut c_void, mutex: *mut c_void, called: Called) -> c_int {
    let own = original!(c"pthread_cond_wait", c"GLIBC_2.3.2", as Wait);
    // SAFETY: the caller's own.
    wait(called, condition, mutex, None, || unsafe { own(condition, mutex) })
}

entry!(pthread_cond_timedwait, "rcx", cond_timedwait);
unsafe extern "C-unwind" fn cond_timedwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    until: *const c_void,
    called: Called,
) -> c_int {
    let own = original!(c"pthread_cond_timedwait", c"GLIBC_2.3.2", as Timed);
    // SAFETY: the caller's own.
    wait(called, condition, mutex, Some(TIMED_OUT), || unsafe { own(condition, mutex, until) })
}

entry!(pthread_cond_clockwait, "r8", cond_clockwait);
unsafe extern "C-unwind" fn cond_clockwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    clock: c_int,
    until: *const c_void,
    called: Called,
) -> c_int {
    let own = original!(c"pthread_cond_clockwait" as Clocked);
    // SAFETY: the caller's own.
    wait(called, condition, mutex, Some(TIMED_OUT), || unsafe { own(condition, mutex, clock, until) })
}

entry!(pthread_cond_signal, "rsi", cond_signal);
unsafe extern "C-unwind" fn cond_signal(condition: *mut c_void, called: Called) -> c_int {
    wait::wake(called, condition as u64, 1);
    // SAFETY: the caller's own.
    unsafe { original!(c"pthread_cond_signal", c"GLIBC_2.3.2", as Plain)(condition) }
}

entry!(pthread_cond_broadcast, "rsi", cond_broadcast);
unsafe extern "C-unwind" fn cond_broadcast(condition: *mut c_void, called: Called) -> c_int {
    wait::wake(called, condition as u64, u32::MAX);
    // SAFETY: the caller's own.
    unsafe { original!(c"pthread_cond_broadcast", c"GLIBC_2.3.2", as Plain)(condition) }
}
