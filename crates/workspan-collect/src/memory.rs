//! The shared memory of this process.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::shared::Shared;

static BASE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// The shared memory, if the collector is awake.
pub fn shared() -> Option<Shared> {
    let base = NonNull::new(BASE.load(Ordering::Acquire))?;
    // SAFETY: `BASE` is null or the address of a mapping of the right size that is never unmapped.
    Some(unsafe { Shared::new(base) })
}

/// Wakes the collector up: from now on [`shared`] has this memory.
pub(super) fn wake(shared: Shared) {
    BASE.store(shared.address() as *mut u8, Ordering::Release);
}

/// Puts the collector to sleep. Returns the memory's address.
pub(super) fn sleep() -> Option<NonNull<u8>> {
    NonNull::new(BASE.swap(ptr::null_mut(), Ordering::AcqRel))
}
