//! What the calling thread does, as far as entry points need to know.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::shared::Shared;
use workspan_collect::{platform, process, thread};
use workspan_wire::shm::Thread;

use crate::dag::create;
use crate::dag::frame::Frame;
use crate::threads;

std::thread_local! {
    static HERE: Here = const { Here { allocated: Cell::new(false), since: Cell::new(0), left: Cell::new(0) } };
}

/// The first thread that was met; 0 before.
static FIRST: AtomicU64 = AtomicU64::new(0);

/// One creation in `SAMPLE` is measured.
const SAMPLE: u32 = 64;

struct Here {
    /// The last entry point was the one that allocates tasks.
    allocated: Cell<bool>,
    /// When it was called; 0 if this one is not sampled.
    since: Cell<u64>,
    /// Creations until the next sample.
    left: Cell<u32>,
}

/// The calling thread and what runs on it. `None`: nobody follows it.
#[inline]
pub fn current() -> Option<(&'static Thread, &'static Frame)> {
    let thread = thread::current()?;
    match Frame::on(thread) {
        Some(frame) => Some((thread, frame)),
        // Its own strand.
        None => Some((thread, first(thread)?)),
    }
}

#[cold]
fn first(thread: &'static Thread) -> Option<&'static Frame> {
    if Shared::of(thread).is_idle_only() {
        return None;
    }
    let known = FIRST.compare_exchange(0, thread as *const Thread as u64, Ordering::Relaxed, Ordering::Relaxed);
    if known.is_err_and(|first| first != thread as *const Thread as u64) {
        // Whoever created the thread may not have come by here.
        threads::several();
    }
    create::initial(thread)
}

/// Something is not where it should be on `thread`: what runs there counts for what ran before.
#[cold]
pub fn lost(thread: &Thread) {
    Shared::of(thread).header().unfollowed.fetch_add(1, Ordering::Relaxed);
}

/// A task is about to be allocated.
#[inline]
pub fn allocates() {
    let _ = HERE.try_with(|here| {
        here.allocated.set(true);
        let left = here.left.get();
        here.since.set(if left == 0 { platform::ticks() } else { 0 });
        here.left.set(if left == 0 { SAMPLE - 1 } else { left - 1 });
    });
}

/// Another entry point is called. Returns when the task was allocated, if that is measured.
#[inline]
pub fn goes_on() -> u64 {
    HERE.try_with(|here| {
        here.allocated.set(false);
        here.since.replace(0)
    })
    .unwrap_or(0)
}

/// Ticks that all creations have taken for which this one, which began at `since`, stands. `None` if the thread was, by the
/// looks of it, interrupted.
pub fn cost(thread: &Thread, since: u64) -> Option<i64> {
    if since == 0 {
        return None;
    }
    let ticks = platform::ticks().wrapping_sub(since) as i64;
    (ticks < thread.short.get() * 10).then(|| ticks * i64::from(SAMPLE))
}

/// The number of threads as for which an algorithm is to split its range, if a task of it has just been allocated: then it
/// is the algorithm that requests it, not the program.
pub fn threads_to_split_for() -> Option<i32> {
    let asks = HERE.try_with(|here| here.allocated.get()).unwrap_or(false);
    if !asks {
        return None;
    }
    process::logical_cores().and_then(|cores| i32::try_from(cores).ok())
}
