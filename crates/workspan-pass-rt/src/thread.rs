//! What a thread knows of its buffer.
//!
//! Instrumented code reads and advances [`Thread::next`] and compares it with [`Thread::limit`]; both are 0 in a new thread,
//! so that its first event comes here. While a buffer is changed the limit is 0: a signal's handler that comes between
//! gets a place whose contents nobody reads.

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use workspan_trace::shm::{CHUNK_BYTES, SLACK};

use crate::platform::thread;
use crate::{c, event, ring, start};

/// Bytes of a buffer whose contents nobody reads.
const SCRATCH: usize = 1 << 16;

/// Thread-local storage; all zero at first. The pass knows the first two fields.
#[derive(Debug)]
#[repr(C)]
pub struct Thread {
    /// Where the next event goes.
    pub next: Cell<*mut u8>,
    /// From here on another buffer is needed.
    pub limit: Cell<*mut u8>,
    /// Buffer + 1; 0: none.
    pub chunk: Cell<u32>,
    /// Context + 1; 0: none yet.
    pub context: Cell<u32>,
    /// Buffers so far.
    pub sequence: Cell<u32>,
    /// Its events go nowhere: it has ended, or nobody records.
    pub silent: Cell<bool>,
    /// Set while the run-time changes the above, or calls what it defines itself.
    pub busy: Cell<bool>,
    /// A buffer whose contents nobody reads.
    pub scratch: Cell<*mut u8>,
    /// Context + 1 of the task that runs; 0: the thread's own context, or one that has ended.
    pub current: Cell<u32>,
    /// Parallel regions that the thread has forked and not joined.
    pub depth: Cell<u32>,
    /// Their first context + 1 and, above 32 bits, how many they have.
    pub regions: [Cell<u64>; REGIONS],
    /// Ticks when the latest wait began.
    pub waits_since: Cell<u64>,
    /// Where the function of the C library was called from that was called last.
    pub caller: Cell<usize>,
    /// In a reduction of the OpenMP runtime, whose barriers are no barriers of the program.
    pub reduces: Cell<bool>,
    /// In a library whose locks, threads and allocations are its own business.
    pub paused: Cell<bool>,
    /// A task that ran on it has asked which thread it is.
    pub asked: Cell<bool>,
    /// How deep it is in a scheduler, whose atomic operations are its own business.
    pub schedules: Cell<u32>,
    /// The innermost task of oneTBB that it runs.
    pub running: Cell<*const c_void>,
    /// Context of oneTBB, and gather, of an algorithm that the thread prepares outside of all tasks.
    pub prepared: Cell<(usize, u32)>,
}

/// Threads that are in a library whose threads are its own business.
pub static PAUSED: AtomicU32 = AtomicU32::new(0);

/// Parallel regions that one thread may have forked, one within another.
pub const REGIONS: usize = 16;

impl Thread {
    /// Context + 1 that its events belong to.
    pub fn context_now(&self) -> u32 {
        match self.current.get() {
            0 => self.context.get(),
            current => current,
        }
    }
}

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
    if thread.silent.get() || !start::recording() {
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
                event::begin_within(thread, first, 0)
            }
            None => scratch(thread),
        };
    }
    match ring::change(thread) {
        Some(first) => first,
        None => scratch(thread),
    }
}

/// Sets the limit of a buffer that begins at `first`.
pub fn limit(thread: &Thread, first: *mut u8, bytes: usize) {
    thread.limit.set(first.wrapping_add(bytes - SLACK));
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

const _: () = assert!(SCRATCH > 2 * SLACK && CHUNK_BYTES > 2 * SLACK && size_of::<Thread>() <= 256);
