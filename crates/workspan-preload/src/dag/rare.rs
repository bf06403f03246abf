//! Whether anything is on that hooks rarely meet: the virtual clock, virtual cores, or one of a thread's first creations.
//!
//! Each would be a test of its own in every hook of a task. They are counted together, so that one load shows that nothing is on.

use core::sync::atomic::{AtomicU32, Ordering};

static ON: AtomicU32 = AtomicU32::new(0);

/// True if something is on, on any thread. A thread sees what it has turned on itself.
#[inline(always)]
pub fn any() -> bool {
    ON.load(Ordering::Relaxed) != 0
}

/// One of these things was on, or not, and now is on, or not.
pub fn changes(was: bool, is: bool) {
    match (was, is) {
        (false, true) => ON.fetch_add(1, Ordering::Relaxed),
        (true, false) => ON.fetch_sub(1, Ordering::Relaxed),
        _ => return,
    };
}
