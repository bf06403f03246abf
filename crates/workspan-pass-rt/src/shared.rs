//! The shared memory of this process, once it is claimed: all that a hook asks before it does anything.

use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Relaxed, Release},
};

use workspan_trace::shm::Header;

/// The shared memory; null if nobody records.
static MEMORY: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static SINCE: AtomicU64 = AtomicU64::new(0);

/// True if this process is recorded.
#[inline]
pub fn recording() -> bool {
    !MEMORY.load(Relaxed).is_null()
}

/// The shared memory.
#[inline]
pub fn memory() -> *mut u8 {
    MEMORY.load(Relaxed)
}

/// Its header.
#[inline]
pub fn header() -> Option<&'static Header> {
    // SAFETY: mapped for good, and laid out so.
    unsafe { memory().cast::<Header>().as_ref() }
}

/// Cycle counter at the start.
#[inline]
pub fn since() -> u64 {
    SINCE.load(Relaxed)
}

/// This process is recorded, into `memory`, since tick `since`.
pub fn begin(memory: *mut u8, since: u64) {
    SINCE.store(since, Relaxed);
    MEMORY.store(memory, Release);
}

/// It is not recorded any more.
pub fn forget() {
    MEMORY.store(null_mut(), Release);
}
