//! Virtual cores: any number of threads, of which one at a time runs code of the program.
//!
//! A thread holds the token while it runs a strand, and gives it away where it would wait. So a team of 64 on two cores
//! runs each strand undisturbed by the others: no sharing of a core, of caches or of memory bandwidth. Every chunk of a
//! static loop for 64 threads is seen, and the times are those of a serial run.
//!
//! A program that waits for another thread without a call of the runtime (a spinning flag) would never go on; so whoever has
//! waited for [`PATIENCE_NANOS`] takes its turn all the same ([`super::turn`]), which is counted. Whoever lost it like that spins on without, so
//! each further time the patience is half as long: a program that waits in this way soon runs as if there were no token, and ends. A thread
//! that ends gives the token back, however it ends.

use core::ffi::{c_long, c_void};
use core::mem::size_of;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};

use workspan_collect::shared::Shared;
use workspan_collect::thread;
use workspan_wire::shm::{Thread, ThreadArea, THREADS};

use super::rare;
use super::turn::{Sleep, Taken, Turn};

/// The first time.
const PATIENCE_NANOS: i64 = 2_000_000_000;
/// At least.
const LEAST_NANOS: i64 = 1_000_000;

/// The next time.
static NANOS: AtomicI64 = AtomicI64::new(PATIENCE_NANOS);
static WANTED: AtomicBool = AtomicBool::new(false);
static TURN: Turn = Turn::of(AtomicU32::new(0));

extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

/// From now on threads take turns.
pub fn enable() {
    rare::changes(WANTED.swap(true, Ordering::Relaxed), true);
    thread::at_end(give);
}

/// True if threads take turns.
#[inline]
pub fn enabled() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// True if `thread`, which runs here, has the token.
pub fn held(thread: &Thread) -> bool {
    TURN.is_of(number(thread))
}

/// `thread`, which runs here, waits for the token, but not for ever.
pub fn take(thread: &Thread) {
    if let Taken::From(_) = TURN.take(number(thread), &Futex) {
        Shared::of(thread).header().impatient.fetch_add(1, Ordering::Relaxed);
        let nanos = NANOS.load(Ordering::Relaxed);
        NANOS.store((nanos / 2).max(LEAST_NANOS), Ordering::Relaxed);
    }
}

/// `thread`, which runs here, gives the token back if it has it.
pub fn give(thread: &Thread) {
    TURN.give(number(thread), &Futex);
}

/// That of its slot, from 1.
fn number(thread: &Thread) -> u32 {
    let area = ptr::from_ref(thread) as usize - thread.base.get() as usize - THREADS;
    (area / size_of::<ThreadArea>()) as u32 + 1
}

struct Futex;

impl Sleep for Futex {
    fn sleep(&self, word: &AtomicU32, seen: u32) -> bool {
        const WAIT_PRIVATE: c_long = 128;
        const TIMED_OUT: i32 = 110;
        const SECOND: i64 = 1_000_000_000;
        let nanos = NANOS.load(Ordering::Relaxed);
        let patience = [nanos / SECOND, nanos % SECOND];
        let (seen, until) = (u64::from(seen), patience.as_ptr());
        // SAFETY: the address and the time are valid for the call.
        let answer =
            unsafe { syscall(SYS_FUTEX, word.as_ptr(), WAIT_PRIVATE, seen, until, ptr::null::<c_void>(), 0u64) };
        answer == 0 || last_error() != TIMED_OUT
    }

    fn wake(&self, word: &AtomicU32) {
        const WAKE_PRIVATE: c_long = 129;
        // SAFETY: the address is valid.
        unsafe { syscall(SYS_FUTEX, word.as_ptr(), WAKE_PRIVATE, 1u64) };
    }
}

const SYS_FUTEX: c_long = if cfg!(target_arch = "aarch64") { 98 } else { 202 };

fn last_error() -> i32 {
    extern "C" {
        fn __errno_location() -> *mut i32;
    }
    // SAFETY: always succeeds.
    let errno = unsafe { __errno_location() };
    // SAFETY: it is the address of the calling thread's own errno.
    unsafe { *errno }
}
