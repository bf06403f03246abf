//! Where a strand begins, by the clock.

use core::sync::atomic::{AtomicBool, Ordering};

use workspan_collect::{clock, log, platform, strand};
use workspan_wire::shm::Thread;

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

/// A strand that is logged begins, after a hook at tick `now`: what that has taken since is read, not taken for what hooks
/// take as a rule, since strands are compared with those of other runs.
#[cold]
pub fn go_logged(thread: &Thread, now: u64) {
    if is_virtual() {
        return log::go(thread, now);
    }
    log::rest(thread);
    let mut end = platform::ticks();
    if end.wrapping_sub(now) as i64 > thread.short.get() {
        // An interruption meanwhile is not to be taken for the next strand's.
        end = clock::wake(thread);
    }
    thread.collector.set(thread.collector.get() + end.wrapping_sub(now) as i64);
    strand::go(thread, end);
}
