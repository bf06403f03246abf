//! Waits with a limit: [`workspan_collect::timed`] decides what those were that ended by time.
//!
//! What a thread waits for with a limit may come while nobody wakes it: the time was over just then, or another took the wake-up. So
//! it watches the mutex of its condition, or its semaphore ([`waiters::watch`]). If somebody has changed that since the thread
//! last found it wanting, and it waits no more, it goes on behind them ([`goes_on`]).

use workspan_collect::shared::Shared;
use workspan_collect::timed;
pub use workspan_collect::timed::passed;
use workspan_collect::waits::Wait;
use workspan_wire::shm::Thread;

use super::{sleeps, waiters};
use crate::dag::frame::Frame;
use crate::dag::lock;

/// What `thread` watches at `address` is not as it wants, whoever has changed it.
pub fn found_wanting(thread: &Thread, address: u64) {
    if let Some(left) = waiters::left_to_watcher(thread, address) {
        timed::touched();
        left.release(Shared::of(thread));
    }
}

/// It was another strand that it waited for.
pub fn forget(thread: &Thread) {
    waiters::unwatch(thread);
    timed::forget();
}

/// `thread`, in the middle of a strand at tick `now`, does not wait for what is guarded by, or counted at `address` any more. Returns the
/// tick at which it goes on.
pub fn goes_on(thread: &'static Thread, now: u64, address: u64) -> u64 {
    if !timed::pending(thread) {
        return now;
    }
    let Some(left) = waiters::left_to_watcher(thread, address) else { return now };
    forget(thread);
    Wait::begin_at(thread, now).end_behind(now, left.at, Some(left.parts()));
    now
}

/// The strand of `thread` is at tick `now`; `ends`: nothing will show any more. Under a lock nothing is decided: no time before it is part of
/// how long it is held. Returns the tick at which it goes on.
pub fn decide(thread: &'static Thread, now: u64, ends: bool) -> u64 {
    if !ends && Frame::on(thread).is_some_and(lock::holds_any) {
        return now;
    }
    let now = sleeps::row_ends(thread, now);
    if timed::decide(thread, now, ends) {
        waiters::unwatch(thread);
    }
    now
}
