//! Which clock there is.

use core::sync::atomic::{AtomicBool, Ordering};

use super::rare;

static VIRTUAL: AtomicBool = AtomicBool::new(false);

/// Whether the program advances the clock itself.
pub fn use_virtual(yes: bool) {
    rare::changes(VIRTUAL.swap(yes, Ordering::Relaxed), yes);
}

/// True if the program advances the clock itself.
#[inline(always)]
pub fn is_virtual() -> bool {
    VIRTUAL.load(Ordering::Relaxed)
}
