//! `mtx_*` and `cnd_*`, which do not lead through the functions of pthreads.

use core::ffi::{c_int, c_void};

use super::shim::{entry, original};
use super::wait::{self, For};
use super::{condition, locks};
use crate::tbb::site::Called;

type Plain = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Wait = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void) -> c_int;
type Timed = unsafe extern "C-unwind" fn(*mut c_void, *const c_void) -> c_int;
type TimedWait = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *const c_void) -> c_int;

const TIMED_OUT: c_int = 4;

/// The calling thread takes `mutex`, by `own` if it has to wait.
///
/// # Safety
///
/// As for the C library's function.
#[inline(always)]
unsafe fn take(called: Called, mutex: *mut c_void, own: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller's own.
    let attempt = || unsafe { original!(c"mtx_trylock" as Plain)(mutex) };
    locks::take(called, For::lock(mutex as u64), attempt, own)
}

entry!(mtx_lock, "rsi", lock);
unsafe extern "C-unwind" fn lock(mutex: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"mtx_lock" as Plain)(mutex) };
    // SAFETY: as above.
    unsafe { take(called, mutex, own) }
}

entry!(mtx_trylock, "rsi", trylock);
unsafe extern "C-unwind" fn trylock(mutex: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"mtx_trylock" as Plain)(mutex) };
    locks::attempted(called, mutex as u64, answer)
}

entry!(mtx_timedlock, "rdx", timedlock);
unsafe extern "C-unwind" fn timedlock(mutex: *mut c_void, until: *const c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"mtx_timedlock" as Timed)(mutex, until) };
    // SAFETY: as above.
    unsafe { take(called, mutex, own) }
}

entry!(mtx_unlock, "rsi", unlock);
unsafe extern "C-unwind" fn unlock(mutex: *mut c_void, called: Called) -> c_int {
    locks::given_back(called, mutex as u64);
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"mtx_unlock" as Plain)(mutex) };
    wait::after_lock();
    answer
}

entry!(cnd_wait, "rdx", wait_for);
unsafe extern "C-unwind" fn wait_for(condition: *mut c_void, mutex: *mut c_void, called: Called) -> c_int {
    let own = original!(c"cnd_wait" as Wait);
    // SAFETY: the caller's own.
    condition::wait(called, condition, mutex, None, || unsafe { own(condition, mutex) })
}

entry!(cnd_timedwait, "rcx", timed_wait_for);
unsafe extern "C-unwind" fn timed_wait_for(
    condition: *mut c_void,
    mutex: *mut c_void,
    until: *const c_void,
    called: Called,
) -> c_int {
    let own = original!(c"cnd_timedwait" as TimedWait);
    // SAFETY: the caller's own.
    condition::wait(called, condition, mutex, Some(TIMED_OUT), || unsafe { own(condition, mutex, until) })
}

entry!(cnd_signal, "rsi", signal);
unsafe extern "C-unwind" fn signal(condition: *mut c_void, called: Called) -> c_int {
    wait::wake(called, condition as u64, 1);
    // SAFETY: the caller's own.
    unsafe { original!(c"cnd_signal" as Plain)(condition) }
}

entry!(cnd_broadcast, "rsi", broadcast);
unsafe extern "C-unwind" fn broadcast(condition: *mut c_void, called: Called) -> c_int {
    wait::wake(called, condition as u64, u32::MAX);
    // SAFETY: the caller's own.
    unsafe { original!(c"cnd_broadcast" as Plain)(condition) }
}
