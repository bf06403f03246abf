//! Signals that a thread waits for, and another one sends it: `sigwait`, `sigsuspend` or `pause`, and `pthread_kill` or `kill`.
//!
//! Which thread a signal to the whole process ends the wait of is the kernel's choice: it is known while one thread waits.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use workspan_collect::platform::ErrnoGuard;

use super::shim::{entry, original};
use super::wait::{self, Ended, For};
use crate::tbb::site::Called;

type Wait = unsafe extern "C-unwind" fn(*const c_void, *mut c_int) -> c_int;
type Info = unsafe extern "C-unwind" fn(*const c_void, *mut c_void) -> c_int;
type Timed = unsafe extern "C-unwind" fn(*const c_void, *mut c_void, *const c_void) -> c_int;
type Kill = unsafe extern "C-unwind" fn(u64, c_int) -> c_int;
type KillProcess = unsafe extern "C-unwind" fn(c_int, c_int) -> c_int;
type Suspend = unsafe extern "C-unwind" fn(*const c_void) -> c_int;
type Pause = unsafe extern "C-unwind" fn() -> c_int;

extern "C" {
    fn pthread_self() -> u64;
    fn getpid() -> c_int;
}

/// Threads that wait for signals, and where the last one to begin does. One that is cancelled stays counted: who sends signals to the process
/// is not followed any more.
static WAITING: AtomicU32 = AtomicU32::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);

/// Signals to a thread are known by its id, which is no address of anything else that is waited at.
fn waits(called: Called, ended: fn(c_int) -> Ended, own: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: always succeeds.
    let address = unsafe { pthread_self() } | 1;
    let Some(waiting) = wait::begin(called, For::ever(address)) else {
        return own();
    };
    LAST.store(address, Ordering::SeqCst);
    WAITING.fetch_add(1, Ordering::SeqCst);
    let answer = own();
    let _errno = ErrnoGuard::new();
    WAITING.fetch_sub(1, Ordering::SeqCst);
    waiting.end(ended(answer));
    answer
}

entry!(sigwait, "rdx", sigwait_here);
unsafe extern "C-unwind" fn sigwait_here(set: *const c_void, signal: *mut c_int, called: Called) -> c_int {
    let own = original!(c"sigwait" as Wait);
    // SAFETY: the caller's own.
    waits(called, |_| Ended::Woken, || unsafe { own(set, signal) })
}

entry!(sigwaitinfo, "rdx", sigwaitinfo_here);
unsafe extern "C-unwind" fn sigwaitinfo_here(set: *const c_void, info: *mut c_void, called: Called) -> c_int {
    let own = original!(c"sigwaitinfo" as Info);
    // SAFETY: the caller's own.
    waits(called, |_| Ended::Woken, || unsafe { own(set, info) })
}

entry!(sigtimedwait, "rcx", sigtimedwait_here);
unsafe extern "C-unwind" fn sigtimedwait_here(
    set: *const c_void,
    info: *mut c_void,
    until: *const c_void,
    called: Called,
) -> c_int {
    let own = original!(c"sigtimedwait" as Timed);
    let ended = |answer| if answer < 0 { Ended::TimedOut } else { Ended::Woken };
    // SAFETY: the caller's own.
    waits(called, ended, || unsafe { own(set, info, until) })
}

entry!(pthread_kill, "rdx", kill_thread);
unsafe extern "C-unwind" fn kill_thread(thread: u64, signal: c_int, called: Called) -> c_int {
    if signal != 0 {
        wait::wake(called, thread | 1, 1);
    }
    // SAFETY: the caller's own.
    unsafe { original!(c"pthread_kill" as Kill)(thread, signal) }
}

entry!(kill, "rdx", kill_process);
unsafe extern "C-unwind" fn kill_process(process: c_int, signal: c_int, called: Called) -> c_int {
    // SAFETY: always succeeds.
    let is_own = process == 0 || process == unsafe { getpid() };
    if signal != 0 && is_own && WAITING.load(Ordering::SeqCst) == 1 {
        wait::wake(called, LAST.load(Ordering::SeqCst), 1);
    }
    // SAFETY: the caller's own.
    unsafe { original!(c"kill" as KillProcess)(process, signal) }
}

entry!(sigsuspend, "rsi", sigsuspend_here);
unsafe extern "C-unwind" fn sigsuspend_here(mask: *const c_void, called: Called) -> c_int {
    let own = original!(c"sigsuspend" as Suspend);
    // SAFETY: the caller's own.
    waits(called, |_| Ended::Woken, || unsafe { own(mask) })
}

entry!(pause, "rdi", pause_here);
unsafe extern "C-unwind" fn pause_here(called: Called) -> c_int {
    let own = original!(c"pause" as Pause);
    // SAFETY: the caller's own.
    waits(called, |_| Ended::Woken, || unsafe { own() })
}
