//! The first use of the runtime: it reads its environment, looks at the machine and makes its tables. That is nobody's work, and
//! happens once, so it is taken out of the strand that meets it: from the program's call of the entry point to the first callback.
//!
//! **Cost:** one load for each region.

use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use workspan_collect::clock;
use workspan_collect::first_use;
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::thread;
use workspan_wire::shm::Thread;

/// The thread that uses it first, while it does; [`OVER`] afterwards.
static FIRST: AtomicUsize = AtomicUsize::new(0);
/// No thread's address.
const OVER: usize = 1;

/// The program calls the runtime for a region.
#[inline(always)]
pub(super) fn begins() {
    if FIRST.load(Ordering::Relaxed) == 0 {
        begin();
    }
}

#[cold]
fn begin() {
    let Some(thread) = thread::current() else { return };
    if Shared::of(thread).is_virtual() || thread.task.waiting.get() != 0 {
        return;
    }
    if FIRST.compare_exchange(0, address(thread), Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        let at = clock::read(thread);
        strand::stop(thread, at);
        strand::go(thread, at);
    }
}

/// The runtime reports the region to `thread`.
#[inline(always)]
pub(super) fn ends(thread: &Thread) {
    if FIRST.load(Ordering::Relaxed) == address(thread) {
        FIRST.store(OVER, Ordering::Relaxed);
        // What has passed since the strand began is in no strand.
        let now = clock::wake(thread);
        first_use::count(thread, now.wrapping_sub(thread.start.get()) as i64);
        strand::go(thread, now);
    }
}

fn address(thread: &Thread) -> usize {
    ptr::from_ref(thread) as usize
}
