//! Threads that the program itself creates: each starts from its creator's span, and whoever joins it goes on after its end.
//!
//! `pthread_create` and `pthread_join` are defined here first, and go on to the C library's own. Threads of the OpenMP
//! runtime, which runs tasks on them, are left alone.

use core::ffi::{c_int, c_void};
use core::mem;
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::interposed::{Arguments, Create, Join, Original, Start};
use workspan_collect::platform;
use workspan_collect::thread;
use workspan_collect::waits::{publish_end_at, Born, Wait};
use workspan_wire::shm::Thread;

use crate::cost;
use crate::dag::{solo, token};

/// Load address of the OpenMP runtime.
static RUNTIME: AtomicU64 = AtomicU64::new(0);

/// `address` lies in the OpenMP runtime.
pub fn leave_alone(address: u64) {
    if let Some(module) = platform::module_of(address) {
        RUNTIME.store(module.base, Ordering::Relaxed);
    }
}

/// True if code at `address` is the OpenMP runtime's.
pub fn of_the_runtime(address: u64) -> bool {
    let runtime = RUNTIME.load(Ordering::Relaxed);
    runtime != 0 && platform::module_of(address).is_some_and(|module| module.base == runtime)
}

extern "C" {
    fn pthread_self() -> u64;
}

const EAGAIN: c_int = 11;
const ESRCH: c_int = 3;

/// There are, or are about to be, other threads than the calling one.
pub fn several() {
    if solo::enter_multithreaded() {
        cost::several_threads();
    }
}

/// C11's own way to create a thread, which does not lead through `pthread_create`. Such a thread is not followed from its begin.
///
/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C" fn thrd_create(id: *mut u64, start: *mut c_void, argument: *mut c_void) -> c_int {
    const THRD_ERROR: c_int = 2;
    type Create = unsafe extern "C" fn(*mut u64, *mut c_void, *mut c_void) -> c_int;
    static ORIGINAL: Original = Original::new(c"thrd_create");
    let original = ORIGINAL.get();
    if original.is_null() {
        return THRD_ERROR;
    }
    // SAFETY: the C library defines it with this signature.
    let original: Create = unsafe { mem::transmute::<*mut c_void, Create>(original) };
    several();
    // SAFETY: the caller's own arguments.
    unsafe { original(id, start, argument) }
}

/// The calling thread in the middle of a strand.
fn in_strand() -> Option<(&'static Thread, u64)> {
    thread::running().filter(|(thread, _)| thread.task.waiting.get() == 0)
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C" fn pthread_create(
    id: *mut u64,
    attributes: *const c_void,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    static ORIGINAL: Original = Original::new(c"pthread_create");
    let original = ORIGINAL.get();
    if original.is_null() {
        return EAGAIN;
    }
    // SAFETY: the C library defines it with this signature.
    let original: Create = unsafe { mem::transmute::<*mut c_void, Create>(original) };
    several();
    let strand = if workspan_collect::process::shared().is_none() || of_the_runtime(start as usize as u64) {
        None
    } else {
        in_strand()
    };
    let arguments = Arguments { id, attributes, start, argument };
    match strand {
        // SAFETY: the caller's own arguments, and the C library's function.
        Some((thread, now)) => unsafe { arguments.create_followed(original, || Born::at(thread, now), publish_end) },
        // SAFETY: as above.
        None => unsafe { arguments.create(original) },
    }
}

/// A followed thread has done what it was created for.
fn publish_end() {
    if let Some((thread, now)) = in_strand() {
        // SAFETY: always succeeds.
        publish_end_at(thread, now, unsafe { pthread_self() });
        if token::held(thread) {
            token::give(thread);
        }
    }
    thread::detach();
}

/// # Safety
///
/// As for the C library's.
#[no_mangle]
pub unsafe extern "C-unwind" fn pthread_join(id: u64, result: *mut *mut c_void) -> c_int {
    static ORIGINAL: Original = Original::new(c"pthread_join");
    let original = ORIGINAL.get();
    if original.is_null() {
        return ESRCH;
    }
    // SAFETY: the C library defines it with this signature.
    let original: Join = unsafe { mem::transmute::<*mut c_void, Join>(original) };
    let strand = if workspan_collect::process::shared().is_none() { None } else { in_strand() };
    let wait = strand.map(|(thread, now)| {
        if token::held(thread) {
            token::give(thread);
        }
        Wait::begin_at(thread, now)
    });
    // SAFETY: the caller's own arguments.
    let answer = unsafe { original(id, result) };
    if let Some(wait) = wait {
        let now = thread::waking().map_or(0, |(_, now)| now);
        wait.end_of_thread_at(now, id);
    }
    answer
}
