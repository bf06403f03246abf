//! `pthread_rwlock_*`. Readers have no region of their own: they do not keep each other out.

use core::ffi::{c_int, c_void};

use super::locks;
use super::shim::{entry, original};
use super::wait::{self, Ended};
use crate::tbb::site::Called;

type Plain = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Timed = unsafe extern "C-unwind" fn(*mut c_void, *const c_void) -> c_int;
type Clocked = unsafe extern "C-unwind" fn(*mut c_void, c_int, *const c_void) -> c_int;

/// The calling thread waits to read, by `lock`.
#[cold]
fn read(called: Called, lock: *mut c_void, by: impl FnOnce() -> c_int) -> c_int {
    let Some(waiting) = wait::begin(called, lock as u64, 0) else {
        return by();
    };
    let answer = by();
    waiting.end(if answer == 0 { Ended::AtOnce } else { Ended::TimedOut });
    answer
}

entry!(pthread_rwlock_rdlock, "rsi", rdlock);
unsafe extern "C-unwind" fn rdlock(lock: *mut c_void, called: Called) -> c_int {
    let own = original!(c"pthread_rwlock_rdlock" as Plain);
    // SAFETY: the caller's own.
    if unsafe { original!(c"pthread_rwlock_tryrdlock" as Plain)(lock) } == 0 {
        return 0;
    }
    // SAFETY: the caller's own.
    read(called, lock, || unsafe { own(lock) })
}

entry!(pthread_rwlock_timedrdlock, "rdx", timedrdlock);
unsafe extern "C-unwind" fn timedrdlock(lock: *mut c_void, until: *const c_void, called: Called) -> c_int {
    let own = original!(c"pthread_rwlock_timedrdlock" as Timed);
    // SAFETY: the caller's own.
    if unsafe { original!(c"pthread_rwlock_tryrdlock" as Plain)(lock) } == 0 {
        return 0;
    }
    // SAFETY: the caller's own.
    read(called, lock, || unsafe { own(lock, until) })
}

entry!(pthread_rwlock_clockrdlock, "rcx", clockrdlock);
unsafe extern "C-unwind" fn clockrdlock(
    lock: *mut c_void,
    clock: c_int,
    until: *const c_void,
    called: Called,
) -> c_int {
    let own = original!(c"pthread_rwlock_clockrdlock" as Clocked);
    // SAFETY: the caller's own.
    if unsafe { original!(c"pthread_rwlock_tryrdlock" as Plain)(lock) } == 0 {
        return 0;
    }
    // SAFETY: the caller's own.
    read(called, lock, || unsafe { own(lock, clock, until) })
}

entry!(pthread_rwlock_wrlock, "rsi", wrlock);
unsafe extern "C-unwind" fn wrlock(lock: *mut c_void, called: Called) -> c_int {
    let own = original!(c"pthread_rwlock_wrlock" as Plain);
    // SAFETY: the caller's own.
    if unsafe { original!(c"pthread_rwlock_trywrlock" as Plain)(lock) } == 0 {
        locks::taken(called, lock as u64);
        return 0;
    }
    // SAFETY: the caller's own.
    locks::contended(called, lock as u64, || unsafe { own(lock) })
}

entry!(pthread_rwlock_timedwrlock, "rdx", timedwrlock);
unsafe extern "C-unwind" fn timedwrlock(lock: *mut c_void, until: *const c_void, called: Called) -> c_int {
    let own = original!(c"pthread_rwlock_timedwrlock" as Timed);
    // SAFETY: the caller's own.
    if unsafe { original!(c"pthread_rwlock_trywrlock" as Plain)(lock) } == 0 {
        locks::taken(called, lock as u64);
        return 0;
    }
    // SAFETY: the caller's own.
    locks::contended(called, lock as u64, || unsafe { own(lock, until) })
}

entry!(pthread_rwlock_clockwrlock, "rcx", clockwrlock);
unsafe extern "C-unwind" fn clockwrlock(
    lock: *mut c_void,
    clock: c_int,
    until: *const c_void,
    called: Called,
) -> c_int {
    let own = original!(c"pthread_rwlock_clockwrlock" as Clocked);
    // SAFETY: the caller's own.
    if unsafe { original!(c"pthread_rwlock_trywrlock" as Plain)(lock) } == 0 {
        locks::taken(called, lock as u64);
        return 0;
    }
    // SAFETY: the caller's own.
    locks::contended(called, lock as u64, || unsafe { own(lock, clock, until) })
}

entry!(pthread_rwlock_unlock, "rsi", unlock);
unsafe extern "C-unwind" fn unlock(lock: *mut c_void, called: Called) -> c_int {
    locks::given_back(called, lock as u64);
    // SAFETY: the caller's own.
    unsafe { original!(c"pthread_rwlock_unlock" as Plain)(lock) }
}
