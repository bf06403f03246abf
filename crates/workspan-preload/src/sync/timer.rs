//! Waits that end by time.
//!
//! What a thread waits for with a limit may come while nobody wakes it: the time was over just then, or another took the wake-up. So
//! it watches the mutex of its condition, or its semaphore ([`waiters::watch`]). If somebody has changed that since the thread
//! last found it wanting, and it waits no more, it goes on behind them ([`goes_on`]).
//!
//! If nobody has: a thread that waits for another one with a limit, again and again, waits for that one: progress displays and polling loops
//! do. A thread that waits for nothing but time, and then works, was blocked. Which of the two it was shows afterwards: if the next
//! wait ends by another strand and next to nothing was done before it, the time does not count; it does as soon as the thread has worked
//! for a tenth of it. A thread that ends was blocked if it has hardly worked at all, and nobody has changed what it watched: not an
//! idle thread of a pool.

use core::cell::Cell;

use workspan_collect::shared::Shared;
use workspan_collect::ticks::ticks_of;
use workspan_collect::waits::{was_blocked, Wait};
use workspan_wire::shm::{Thread, MAX_THREADS};

use super::waiters::{self, slot};

/// A share of the time waited that, worked, shows that it was time that was waited for.
const SHARE: i64 = 10;
/// Less work shows nothing.
const LEAST_NANOS: u64 = 1_000_000;

/// Of a thread.
struct Timer {
    /// There are undecided waits, of the thread that was born at `born`; and their ticks: none with the virtual clock.
    undecided: Cell<bool>,
    waited: Cell<i64>,
    /// Somebody has changed what it watches meanwhile, though not as it wants.
    touched: Cell<bool>,
    born: Cell<u64>,
    /// Its work when the first of them ended.
    work: Cell<i64>,
}

// SAFETY: each is touched by the thread that has the slot.
unsafe impl Sync for Timer {}

static TIMERS: [Timer; MAX_THREADS] = [const {
    Timer {
        undecided: Cell::new(false),
        waited: Cell::new(0),
        touched: Cell::new(false),
        born: Cell::new(0),
        work: Cell::new(0),
    }
}; MAX_THREADS];

fn of(thread: &Thread) -> &'static Timer {
    let timer = &TIMERS[slot(thread)];
    if timer.born.replace(thread.born.get()) != thread.born.get() {
        timer.undecided.set(false);
    }
    timer
}

/// `thread` has waited for so long, and time was over.
pub fn passed(thread: &Thread, ticks: i64) {
    let timer = of(thread);
    if !timer.undecided.replace(true) {
        timer.waited.set(0);
        timer.touched.set(false);
        timer.work.set(thread.task.work.get());
    }
    timer.waited.set(timer.waited.get() + ticks);
}

/// What `thread` watches at `address` is not as it wants, whoever has changed it.
pub fn found_wanting(thread: &Thread, address: u64) {
    if let Some(left) = waiters::left_to_watcher(thread, address) {
        of(thread).touched.set(true);
        left.release(Shared::of(thread));
    }
}

/// It was another strand that it waited for.
pub fn forget(thread: &Thread) {
    waiters::unwatch(thread);
    of(thread).undecided.set(false);
}

/// `thread`, in the middle of a strand at tick `now`, does not wait for what is guarded by, or counted at `address` any more. Returns the
/// tick at which it goes on.
pub fn goes_on(thread: &'static Thread, now: u64, address: u64) -> u64 {
    let timer = of(thread);
    if !timer.undecided.get() {
        return now;
    }
    let Some(left) = waiters::left_to_watcher(thread, address) else { return now };
    forget(thread);
    Wait::begin_at(thread, now).end_behind(now, left.at, Some(left.parts()));
    now
}

/// The strand of `thread` is at tick `now`; `ends`: nothing will show any more.
pub fn decide(thread: &Thread, now: u64, ends: bool) {
    let timer = of(thread);
    let waited = timer.waited.get();
    if !timer.undecided.get() {
        return;
    }
    let worked = thread.task.work.get() - timer.work.get() + now.wrapping_sub(thread.start.get()) as i64;
    let is_worker = timer.touched.get() || thread.task.work.get() > waited / SHARE;
    if ends && is_worker {
        return forget(thread);
    }
    if ends || worked > (waited / SHARE).max(ticks_of(thread, LEAST_NANOS)) {
        forget(thread);
        if waited > 0 {
            was_blocked(thread, now, waited);
        }
    }
}
