//! Which clock there is.

use core::sync::atomic::{AtomicBool, Ordering};

static VIRTUAL: AtomicBool = AtomicBool::new(false);

/// Whether the program advances the clock itself.
pub fn use_virtual(yes: bool) {
    VIRTUAL.store(yes, Ordering::Relaxed);
}

/// True if the program advances the clock itself.
#[inline(always)]
pub fn is_virtual() -> bool {
    VIRTUAL.load(Ordering::Relaxed)
}
