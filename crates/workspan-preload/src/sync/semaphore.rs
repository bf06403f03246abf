//! `sem_wait` and `sem_post`.

use core::ffi::{c_int, c_void};

use workspan_collect::platform::ErrnoGuard;

use super::shim::{entry, original};
use super::wait::{self, Ended, For};
use crate::tbb::site::Called;

type Plain = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type Timed = unsafe extern "C-unwind" fn(*mut c_void, *const c_void) -> c_int;
type Clocked = unsafe extern "C-unwind" fn(*mut c_void, c_int, *const c_void) -> c_int;

extern "C-unwind" {
    fn pthread_testcancel();
}

/// The calling thread takes one from `semaphore`, by `own` if it has to wait.
///
/// # Safety
///
/// As for the C library's function.
#[inline(always)]
unsafe fn take(called: Called, semaphore: *mut c_void, limited: bool, own: impl FnOnce() -> c_int) -> c_int {
    // As the function that is called does first.
    // SAFETY: always may be called.
    unsafe { pthread_testcancel() };
    let errno = ErrnoGuard::new();
    // SAFETY: the caller's own.
    if unsafe { original!(c"sem_trywait" as Plain)(semaphore) } == 0 {
        wait::taken(called, semaphore as u64);
        return 0;
    }
    drop(errno);
    wait_for_one(called, For { limited, ..For::ever(semaphore as u64) }, own)
}

#[cold]
fn wait_for_one(called: Called, wanted: For, own: impl FnOnce() -> c_int) -> c_int {
    let Some(waiting) = wait::begin(called, wanted) else {
        return own();
    };
    let answer = own();
    let _errno = ErrnoGuard::new();
    waiting.end(if answer == 0 { Ended::Woken } else { Ended::TimedOut });
    answer
}

entry!(sem_wait, "rsi", sem_wait_here);
unsafe extern "C-unwind" fn sem_wait_here(semaphore: *mut c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"sem_wait" as Plain)(semaphore) };
    // SAFETY: as above.
    unsafe { take(called, semaphore, false, own) }
}

entry!(sem_timedwait, "rdx", sem_timedwait_here);
unsafe extern "C-unwind" fn sem_timedwait_here(semaphore: *mut c_void, until: *const c_void, called: Called) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"sem_timedwait" as Timed)(semaphore, until) };
    // SAFETY: as above.
    unsafe { take(called, semaphore, true, own) }
}

entry!(sem_clockwait, "rcx", sem_clockwait_here);
unsafe extern "C-unwind" fn sem_clockwait_here(
    semaphore: *mut c_void,
    clock: c_int,
    until: *const c_void,
    called: Called,
) -> c_int {
    // SAFETY: the caller's own.
    let own = || unsafe { original!(c"sem_clockwait" as Clocked)(semaphore, clock, until) };
    // SAFETY: as above.
    unsafe { take(called, semaphore, true, own) }
}

entry!(sem_post, "rsi", sem_post_here);
unsafe extern "C-unwind" fn sem_post_here(semaphore: *mut c_void, called: Called) -> c_int {
    wait::wake(called, semaphore as u64, 1);
    // SAFETY: the caller's own.
    unsafe { original!(c"sem_post" as Plain)(semaphore) }
}
