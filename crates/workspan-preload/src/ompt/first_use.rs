//! The first use of the runtime: it reads its environment, looks at the machine and makes its tables. That is nobody's work, and
//! happens once, so it is taken out of the strand that meets it: from the program's call of the entry point to the first callback, or,
//! where another function starts the runtime, from its first call of the collector to the end of its start.
//!
//! **Cost:** one load for each region.

use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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

/// The runtime starts, and nobody had called it for a region.
static STARTS: AtomicBool = AtomicBool::new(false);

/// The runtime looks for the collector, at the beginning of its start.
pub(super) fn starts() {
    if FIRST.load(Ordering::Relaxed) == 0 {
        begin();
        STARTS.store(true, Ordering::Relaxed);
    }
}

/// It has started. What it does when the first region comes is still ahead.
pub(super) fn has_started() {
    if STARTS.swap(false, Ordering::Relaxed) {
        so_far();
        FIRST.store(0, Ordering::Relaxed);
    }
}

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
        drop_time(thread);
    }
}

/// The runtime comes to the collector while it starts, on the calling thread: what has passed until now is dropped before the
/// collector ends the strand for what it does itself.
pub(super) fn so_far() {
    let using = thread::current().filter(|thread| FIRST.load(Ordering::Relaxed) == address(thread));
    if let Some(thread) = using {
        drop_time(thread);
    }
}

/// What has passed since the strand began is in no strand.
#[cold]
fn drop_time(thread: &Thread) {
    let now = clock::wake(thread);
    first_use::count(thread, now.wrapping_sub(thread.start.get()) as i64);
    strand::go(thread, now);
}

fn address(thread: &Thread) -> usize {
    ptr::from_ref(thread) as usize
}
