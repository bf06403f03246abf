//! Which clock there is.

use core::sync::atomic::{AtomicBool, Ordering};

static VIRTUAL: AtomicBool = AtomicBool::new(false);

/// Whether the program tells the time.
pub fn use_virtual(yes: bool) {
    VIRTUAL.store(yes, Ordering::Relaxed);
}

/// True if the program tells the time.
#[inline(always)]
pub fn is_virtual() -> bool {
    VIRTUAL.load(Ordering::Relaxed)
}
