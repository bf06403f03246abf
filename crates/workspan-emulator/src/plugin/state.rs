//! What all parts of the plugin share: the memory, and whether this process is traced.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::ring::Ring;

/// The shared memory; null before the plugin is installed.
pub(super) static RING: AtomicPtr<Ring> = AtomicPtr::new(std::ptr::null_mut());
/// Set in a process that the program made: it is not traced.
pub(super) static ASLEEP: AtomicBool = AtomicBool::new(false);

/// The shared memory.
pub(super) fn ring() -> &'static Ring {
    // SAFETY: it is set once, before any callback is registered, and never freed.
    unsafe { &*RING.load(Ordering::Acquire) }
}

/// True in a process that is not traced.
pub(super) fn asleep() -> bool {
    ASLEEP.load(Ordering::Relaxed)
}
