//! What a thread knows of its buffer.
//!
//! Instrumented code reads and advances [`Thread::next`] and compares it with [`Thread::limit`]; both are 0 in a new thread,
//! so that its first event takes a buffer ([`crate::buffer`]).

use core::cell::Cell;
use core::ffi::c_void;
use core::sync::atomic::AtomicU32;

use workspan_trace::shm::SLACK;

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
    /// Set while it looks up where a function is defined next.
    pub looks_up: Cell<bool>,
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
    /// Loops around an iteration that waits for others: their number, for each such loop that the thread is in, 8 bits each.
    pub doacross: Cell<u64>,
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

/// Sets the limit of a buffer that begins at `first`.
pub fn limit(thread: &Thread, first: *mut u8, bytes: usize) {
    thread.limit.set(first.wrapping_add(bytes - SLACK));
}

const _: () = assert!(size_of::<Thread>() <= 256);
