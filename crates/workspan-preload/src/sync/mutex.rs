//! `pthread_mutex_*` and `pthread_spin_*`.

use core::ffi::{c_int, c_void};

use super::locks;
use super::shim::{entry, original};
use crate::tbb::site::Called;

type Plain = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Timed = unsafe extern "C-unwind" fn(*mut c_void, *const c_void) -> c_int;
type Clocked = unsafe extern "C-unwind" fn(*mut c_void, c_int, *const c_void) -> c_int;

entry!(pthread_mutex_lock, "rsi", mutex_lock);
unsafe extern "C-unwind" fn mutex_lock(mutex: *mut c_void, called: Called) -> c_int {
    let lock = original!(c"pthread_mutex_lock" as Plain);
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pthread_mutex_trylock" as Plain)(mutex) };
    if locks::is_taken(answer) {
        locks::taken(called, mutex as u64);
        return answer;
    }
    // SAFETY: the caller's own.
    locks::contended(called, mutex as u64, || unsafe { lock(mutex) })
}

entry!(pthread_mutex_trylock, "rsi", mutex_trylock);
unsafe extern "C-unwind" fn mutex_trylock(mutex: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pthread_mutex_trylock" as Plain)(mutex) };
    if locks::is_taken(answer) {
        locks::taken(called, mutex as u64);
    }
    answer
}

entry!(pthread_mutex_timedlock, "rdx", mutex_timedlock);
unsafe extern "C-unwind" fn mutex_timedlock(mutex: *mut c_void, until: *const c_void, called: Called) -> c_int {
    let lock = original!(c"pthread_mutex_timedlock" as Timed);
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pthread_mutex_trylock" as Plain)(mutex) };
    if locks::is_taken(answer) {
        locks::taken(called, mutex as u64);
        return answer;
    }
    // SAFETY: the caller's own.
    locks::contended(called, mutex as u64, || unsafe { lock(mutex, until) })
}

entry!(pthread_mutex_clocklock, "rcx", mutex_clocklock);
unsafe extern "C-unwind" fn mutex_clocklock(
    mutex: *mut c_void,
    clock: c_int,
    until: *const c_void,
    called: Called,
) -> c_int {
    let lock = original!(c"pthread_mutex_clocklock" as Clocked);
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pthread_mutex_trylock" as Plain)(mutex) };
    if locks::is_taken(answer) {
        locks::taken(called, mutex as u64);
        return answer;
    }
    // SAFETY: the caller's own.
    locks::contended(called, mutex as u64, || unsafe { lock(mutex, clock, until) })
}

entry!(pthread_mutex_unlock, "rsi", mutex_unlock);
unsafe extern "C-unwind" fn mutex_unlock(mutex: *mut c_void, called: Called) -> c_int {
    locks::given_back(called, mutex as u64);
    // SAFETY: the caller's own.
    unsafe { original!(c"pthread_mutex_unlock" as Plain)(mutex) }
}

entry!(pthread_spin_lock, "rsi", spin_lock);
unsafe extern "C-unwind" fn spin_lock(spin: *mut c_void, called: Called) -> c_int {
    let lock = original!(c"pthread_spin_lock" as Plain);
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pthread_spin_trylock" as Plain)(spin) };
    if locks::is_taken(answer) {
        locks::taken(called, spin as u64);
        return answer;
    }
    // SAFETY: the caller's own.
    locks::contended(called, spin as u64, || unsafe { lock(spin) })
}

entry!(pthread_spin_trylock, "rsi", spin_trylock);
unsafe extern "C-unwind" fn spin_trylock(spin: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pthread_spin_trylock" as Plain)(spin) };
    if locks::is_taken(answer) {
        locks::taken(called, spin as u64);
    }
    answer
}

entry!(pthread_spin_unlock, "rsi", spin_unlock);
unsafe extern "C-unwind" fn spin_unlock(spin: *mut c_void, called: Called) -> c_int {
    locks::given_back(called, spin as u64);
    // SAFETY: the caller's own.
    unsafe { original!(c"pthread_spin_unlock" as Plain)(spin) }
}
