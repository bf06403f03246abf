//! Whether anything goes on that hooks hardly ever meet: the virtual clock, virtual cores, one of a thread's first creations.
//!
//! Each of them would be a test of its own in every hook of a task. So they are counted together, and one load says that there is none.

use core::sync::atomic::{AtomicU32, Ordering};

static GOING_ON: AtomicU32 = AtomicU32::new(0);

/// True if something goes on, on whichever thread. What the calling thread itself has begun is seen.
#[inline(always)]
pub fn any() -> bool {
    GOING_ON.load(Ordering::Relaxed) != 0
}

/// Something of these goes on now, or did so and no longer does, if that is a change.
pub fn goes_on(before: bool, now: bool) {
    match (before, now) {
        (false, true) => GOING_ON.fetch_add(1, Ordering::Relaxed),
        (true, false) => GOING_ON.fetch_sub(1, Ordering::Relaxed),
        _ => return,
    };
}
