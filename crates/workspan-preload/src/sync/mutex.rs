//! `pthread_mutex_*` and `pthread_spin_*`.

use core::ffi::{c_int, c_void};

use super::locks;
use super::shim::{entry, original};
use super::wait::{self, For};
use crate::tbb::site::Called;

type Plain = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Timed = unsafe extern "C-unwind" fn(*mut c_void, *const c_void) -> c_int;
type Clocked = unsafe extern "C-unwind" fn(*mut c_void, c_int, *const c_void) -> c_int;

/// The calling thread takes `mutex`, by `own` if it has to wait.
///
/// # Safety
///
/// As for the C library's function.
#[inline(always)]
unsafe fn take(called: Called, mutex: *mut c_void, own: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller's own.
    let attempt = || unsafe { original!(c"pthread_mutex_trylock" as Plain)(mutex) };
    locks::take(called, For::lock(mutex as u64), attempt, own)
}

entry!(pthread_mutex_lock, "rsi", mutex_lock);
unsafe extern "C-unwind" fn mutex_lock(mutex: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"pthread_mutex_lock" as Plain)(mutex) };
    // SAFETY: as above.
    unsafe { take(called, mutex, own) }
}

entry!(pthread_mutex_trylock, "rsi", mutex_trylock);
unsafe extern "C-unwind" fn mutex_trylock(mutex: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pthread_mutex_trylock" as Plain)(mutex) };
    locks::attempted(called, mutex as u64, answer)
}

entry!(pthread_mutex_timedlock, "rdx", mutex_timedlock);
unsafe extern "C-unwind" fn mutex_timedlock(mutex: *mut c_void, until: *const c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"pthread_mutex_timedlock" as Timed)(mutex, until) };
    // SAFETY: as above.
    unsafe { take(called, mutex, own) }
}

entry!(pthread_mutex_clocklock, "rcx", mutex_clocklock);
unsafe extern "C-unwind" fn mutex_clocklock(
    mutex: *mut c_void,
    clock: c_int,
    until: *const c_void,
    called: Called,
) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"pthread_mutex_clocklock" as Clocked)(mutex, clock, until) };
    // SAFETY: as above.
    unsafe { take(called, mutex, own) }
}

entry!(pthread_mutex_unlock, "rsi", mutex_unlock);
unsafe extern "C-unwind" fn mutex_unlock(mutex: *mut c_void, called: Called) -> c_int {
    locks::given_back(called, mutex as u64);
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pthread_mutex_unlock" as Plain)(mutex) };
    wait::after_lock();
    answer
}

entry!(pthread_spin_lock, "rsi", spin_lock);
unsafe extern "C-unwind" fn spin_lock(spin: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let attempt = || unsafe { original!(c"pthread_spin_trylock" as Plain)(spin) };
    // SAFETY: the caller's own.
    locks::take(called, For::ever(spin as u64), attempt, || unsafe { original!(c"pthread_spin_lock" as Plain)(spin) })
}

entry!(pthread_spin_trylock, "rsi", spin_trylock);
unsafe extern "C-unwind" fn spin_trylock(spin: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pthread_spin_trylock" as Plain)(spin) };
    locks::attempted(called, spin as u64, answer)
}

entry!(pthread_spin_unlock, "rsi", spin_unlock);
unsafe extern "C-unwind" fn spin_unlock(spin: *mut c_void, called: Called) -> c_int {
    locks::given_back(called, spin as u64);
    // SAFETY: the caller's own.
    unsafe { original!(c"pthread_spin_unlock" as Plain)(spin) }
}
