//! Virtual cores: any number of threads, of which one at a time runs code of the program.
//!
//! A thread holds the token while it runs a strand, and gives it away where it would wait. So a team of 64 on two cores
//! runs each strand undisturbed by the others: no sharing of a core, of caches or of memory bandwidth. Every chunk of a
//! static loop for 64 threads is seen, and the times are those of a serial run.
//!
//! A program that waits for another thread without telling the runtime (a spinning flag) would never go on; so whoever has
//! waited for the token for [`PATIENCE`] goes on without it, which is counted.

use core::ffi::{c_long, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use workspan_wire::shm::Thread;

/// Seconds.
const PATIENCE: i64 = 2;
const SYS_FUTEX: c_long = if cfg!(target_arch = "aarch64") { 98 } else { 202 };
const WAIT_PRIVATE: c_long = 128;
const WAKE_PRIVATE: c_long = 129;

static WANTED: AtomicBool = AtomicBool::new(false);
/// 0 free, 1 taken, 2 taken and somebody waits.
static TOKEN: AtomicU32 = AtomicU32::new(0);
static HOLDER: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());
static IMPATIENT: AtomicU64 = AtomicU64::new(0);

extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

/// From now on threads take turns.
pub fn enable() {
    WANTED.store(true, Ordering::Relaxed);
}

/// True if threads take turns.
#[inline]
pub fn enabled() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// Times a thread went on without the token.
pub fn impatient() -> u64 {
    IMPATIENT.load(Ordering::Relaxed)
}

/// True if `thread` has the token.
pub fn held(thread: &Thread) -> bool {
    HOLDER.load(Ordering::Relaxed) == ptr::from_ref(thread).cast_mut()
}

/// `thread` waits for the token, but not for ever.
pub fn take(thread: &Thread) {
    if wait_for_it() {
        HOLDER.store(ptr::from_ref(thread).cast_mut(), Ordering::Relaxed);
    }
}

fn wait_for_it() -> bool {
    if TOKEN.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
        return true;
    }
    while TOKEN.swap(2, Ordering::Acquire) != 0 {
        let patience = [PATIENCE, 0];
        // SAFETY: the address and the time are valid for the call.
        let answer = unsafe {
            syscall(SYS_FUTEX, TOKEN.as_ptr(), WAIT_PRIVATE, 2u64, patience.as_ptr(), ptr::null::<c_void>(), 0u64)
        };
        if answer != 0 && last_error() == TIMED_OUT {
            IMPATIENT.fetch_add(1, Ordering::Relaxed);
            return false;
        }
    }
    true
}

/// `thread`, which has the token, gives it back.
pub fn give(_thread: &Thread) {
    HOLDER.store(ptr::null_mut(), Ordering::Relaxed);
    if TOKEN.swap(0, Ordering::Release) == 2 {
        // SAFETY: the address is valid.
        unsafe { syscall(SYS_FUTEX, TOKEN.as_ptr(), WAKE_PRIVATE, 1u64) };
    }
}

const TIMED_OUT: i32 = 110;

fn last_error() -> i32 {
    extern "C" {
        fn __errno_location() -> *mut i32;
    }
    // SAFETY: always succeeds.
    let errno = unsafe { __errno_location() };
    // SAFETY: it is the address of the calling thread's own errno.
    unsafe { *errno }
}
