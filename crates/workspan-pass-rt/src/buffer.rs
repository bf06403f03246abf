//! Changing a thread's buffer: where it is full, where there is none yet, and where the thread ends.
//!
//! While a buffer is changed [`Thread::limit`] is 0: a signal's handler that comes between gets a place whose contents nobody
//! reads.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;

use workspan_trace::control::Kind;
use workspan_trace::shm::{CHUNK_BYTES, SLACK};

use crate::platform::thread;
use crate::thread::{limit, Thread, PAUSED};
use crate::{c, record, ring, shared};

/// Bytes of a buffer whose contents nobody reads.
const SCRATCH: usize = 1 << 16;

/// Where events go that come while a buffer is changed.
struct Sink(UnsafeCell<[u8; 2 * SLACK]>);
// SAFETY: it is written by anyone and read by nobody.
unsafe impl Sync for Sink {}
static SINK: Sink = Sink(UnsafeCell::new([0; 2 * SLACK]));

/// Hands out the place for the next event; the caller moves [`Thread::next`] on.
///
/// # Safety
/// Called by the assembly of `__workspan_flush` and by `place`.
pub unsafe extern "C" fn flush() -> *mut u8 {
    let thread = thread();
    if thread.busy.replace(true) {
        return SINK.0.get().cast();
    }
    thread.limit.set(null_mut());
    let errno = c::errno();
    let place = change(thread);
    c::set_errno(errno);
    thread.busy.set(false);
    place
}

fn change(thread: &Thread) -> *mut u8 {
    if thread.silent.get() || !shared::recording() {
        return scratch(thread);
    }
    if thread.context.get() == 0 && PAUSED.load(Relaxed) > 0 {
        // A library's, which is starting it by a function that nobody sees.
        thread.silent.set(true);
        thread.paused.set(true);
        return scratch(thread);
    }
    if thread.context.get() == 0 {
        // Not made by `pthread_create`.
        thread.context.set(ring::new_context() + 1);
        return match ring::change(thread) {
            Some(first) => {
                thread.next.set(first);
                record::put(thread, first, Kind::Begin, &[record::now(), 0])
            }
            None => scratch(thread),
        };
    }
    match ring::change(thread) {
        Some(first) => first,
        None => scratch(thread),
    }
}

fn scratch(thread: &Thread) -> *mut u8 {
    thread.silent.set(true);
    if thread.scratch.get().is_null() {
        // SAFETY: new memory.
        let new = unsafe { c::mmap(null_mut(), SCRATCH, c::PROT_READ_WRITE, c::MAP_PRIVATE_ANONYMOUS, -1, 0) };
        if new as isize == -1 {
            return SINK.0.get().cast();
        }
        thread.scratch.set(new.cast());
    }
    limit(thread, thread.scratch.get(), SCRATCH);
    thread.scratch.get()
}

/// The thread records no more; what it has recorded is handed over.
pub fn end(thread: &Thread) {
    thread.busy.set(true);
    thread.limit.set(null_mut());
    let errno = c::errno();
    if !thread.silent.replace(true) {
        ring::publish(thread);
    }
    let scratch = thread.scratch.replace(null_mut());
    if !scratch.is_null() {
        // SAFETY: made by `scratch`; the limit of 0 keeps events away from it.
        unsafe { c::munmap(scratch.cast::<c_void>(), SCRATCH) };
    }
    c::set_errno(errno);
    // Events that still come go to another buffer whose contents nobody reads.
    thread.next.set(null_mut());
    thread.busy.set(false);
}

const _: () = assert!(SCRATCH > 2 * SLACK && CHUNK_BYTES > 2 * SLACK);
