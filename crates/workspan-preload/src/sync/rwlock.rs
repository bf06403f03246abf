//! `pthread_rwlock_*`. Readers have no region of their own: they do not keep each other out.

use core::ffi::{c_int, c_void};

use super::locks;
use super::shim::{entry, original};
use super::wait::{self, Ended, For};
use crate::tbb::site::Called;

type Plain = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Timed = unsafe extern "C-unwind" fn(*mut c_void, *const c_void) -> c_int;
type Clocked = unsafe extern "C-unwind" fn(*mut c_void, c_int, *const c_void) -> c_int;

/// The calling thread takes `lock` to read, by `own` if it has to wait.
///
/// # Safety
///
/// As for the C library's function.
#[inline(always)]
unsafe fn read(called: Called, lock: *mut c_void, own: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller's own.
    if unsafe { original!(c"pthread_rwlock_tryrdlock" as Plain)(lock) } == 0 {
        return 0;
    }
    wait_to_read(called, lock as u64, own)
}

#[cold]
fn wait_to_read(called: Called, address: u64, own: impl FnOnce() -> c_int) -> c_int {
    let Some(waiting) = wait::begin(called, For::lock(address)) else {
        return own();
    };
    let answer = own();
    waiting.end(if answer == 0 { Ended::AtOnce } else { Ended::TimedOut });
    answer
}

/// The same to write.
///
/// # Safety
///
/// As for the C library's function.
#[inline(always)]
unsafe fn write(called: Called, lock: *mut c_void, own: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller's own.
    let attempt = || unsafe { original!(c"pthread_rwlock_trywrlock" as Plain)(lock) };
    locks::take(called, For::lock(lock as u64), attempt, own)
}

entry!(pthread_rwlock_rdlock, "rsi", rdlock);
unsafe extern "C-unwind" fn rdlock(lock: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"pthread_rwlock_rdlock" as Plain)(lock) };
    // SAFETY: as above.
    unsafe { read(called, lock, own) }
}

entry!(pthread_rwlock_timedrdlock, "rdx", timedrdlock);
unsafe extern "C-unwind" fn timedrdlock(lock: *mut c_void, until: *const c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"pthread_rwlock_timedrdlock" as Timed)(lock, until) };
    // SAFETY: as above.
    unsafe { read(called, lock, own) }
}

entry!(pthread_rwlock_clockrdlock, "rcx", clockrdlock);
unsafe extern "C-unwind" fn clockrdlock(
    lock: *mut c_void,
    clock: c_int,
    until: *const c_void,
    called: Called,
) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"pthread_rwlock_clockrdlock" as Clocked)(lock, clock, until) };
    // SAFETY: as above.
    unsafe { read(called, lock, own) }
}

entry!(pthread_rwlock_wrlock, "rsi", wrlock);
unsafe extern "C-unwind" fn wrlock(lock: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"pthread_rwlock_wrlock" as Plain)(lock) };
    // SAFETY: as above.
    unsafe { write(called, lock, own) }
}

entry!(pthread_rwlock_timedwrlock, "rdx", timedwrlock);
unsafe extern "C-unwind" fn timedwrlock(lock: *mut c_void, until: *const c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"pthread_rwlock_timedwrlock" as Timed)(lock, until) };
    // SAFETY: as above.
    unsafe { write(called, lock, own) }
}

entry!(pthread_rwlock_clockwrlock, "rcx", clockwrlock);
unsafe extern "C-unwind" fn clockwrlock(
    lock: *mut c_void,
    clock: c_int,
    until: *const c_void,
    called: Called,
) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"pthread_rwlock_clockwrlock" as Clocked)(lock, clock, until) };
    // SAFETY: as above.
    unsafe { write(called, lock, own) }
}

entry!(pthread_rwlock_unlock, "rsi", unlock);
unsafe extern "C-unwind" fn unlock(lock: *mut c_void, called: Called) -> c_int {
    locks::given_back(called, lock as u64);
    // SAFETY: the caller's own.
    let answer = unsafe { original!(c"pthread_rwlock_unlock" as Plain)(lock) };
    wait::after_lock();
    answer
}
