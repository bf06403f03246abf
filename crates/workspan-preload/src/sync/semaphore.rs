//! `sem_wait` and `sem_post`.

use core::ffi::{c_int, c_void};

use workspan_collect::platform::ErrnoGuard;

use super::shim::{entry, original};
use super::wait::{self, Ended};
use crate::tbb::site::Called;

type Plain = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Timed = unsafe extern "C-unwind" fn(*mut c_void, *const c_void) -> c_int;
type Clocked = unsafe extern "C-unwind" fn(*mut c_void, c_int, *const c_void) -> c_int;

extern "C-unwind" {
    fn pthread_testcancel();
}

/// Takes one if there is one.
///
/// # Safety
///
/// As for `sem_wait`.
unsafe fn take(semaphore: *mut c_void) -> bool {
    // As the function that is called does first.
    // SAFETY: always may be called.
    unsafe { pthread_testcancel() };
    let _errno = ErrnoGuard::new();
    // SAFETY: the caller's own.
    unsafe { original!(c"sem_trywait" as Plain)(semaphore) == 0 }
}

/// The calling thread waits by `own`.
fn waits(called: Called, semaphore: *mut c_void, own: impl FnOnce() -> c_int) -> c_int {
    let Some(waiting) = wait::begin(called, semaphore as u64, 0) else {
        return own();
    };
    let answer = own();
    let _errno = ErrnoGuard::new();
    waiting.end(if answer == 0 { Ended::Woken } else { Ended::TimedOut });
    answer
}

entry!(sem_wait, "rsi", sem_wait_here);
unsafe extern "C-unwind" fn sem_wait_here(semaphore: *mut c_void, called: Called) -> c_int {
    let own = original!(c"sem_wait" as Plain);
    // SAFETY: the caller's own.
    if unsafe { take(semaphore) } {
        return 0;
    }
    // SAFETY: the caller's own.
    waits(called, semaphore, || unsafe { own(semaphore) })
}

entry!(sem_timedwait, "rdx", sem_timedwait_here);
unsafe extern "C-unwind" fn sem_timedwait_here(semaphore: *mut c_void, until: *const c_void, called: Called) -> c_int {
    let own = original!(c"sem_timedwait" as Timed);
    // SAFETY: the caller's own.
    if unsafe { take(semaphore) } {
        return 0;
    }
    // SAFETY: the caller's own.
    waits(called, semaphore, || unsafe { own(semaphore, until) })
}

entry!(sem_clockwait, "rcx", sem_clockwait_here);
unsafe extern "C-unwind" fn sem_clockwait_here(
    semaphore: *mut c_void,
    clock: c_int,
    until: *const c_void,
    called: Called,
) -> c_int {
    let own = original!(c"sem_clockwait" as Clocked);
    // SAFETY: the caller's own.
    if unsafe { take(semaphore) } {
        return 0;
    }
    // SAFETY: the caller's own.
    waits(called, semaphore, || unsafe { own(semaphore, clock, until) })
}

entry!(sem_post, "rsi", sem_post_here);
unsafe extern "C-unwind" fn sem_post_here(semaphore: *mut c_void, called: Called) -> c_int {
    wait::wake(called, semaphore as u64, 1);
    // SAFETY: the caller's own.
    unsafe { original!(c"sem_post" as Plain)(semaphore) }
}
