//! Waits that end by time.
//!
//! A thread that waits for another one with a limit, again and again, waits for that one: progress displays and polling loops
//! do. A thread that waits for nothing but time, and then works, was blocked. Which of the two it was shows afterwards: if the next
//! wait ends by another strand and next to nothing was done before it, the time does not count; it does as soon as the thread has worked
//! for a tenth of it, or ends.

use core::cell::Cell;

use workspan_collect::ticks::ticks_of;
use workspan_collect::waits::was_blocked;
use workspan_wire::shm::{Thread, MAX_THREADS};

use super::waiters::slot;

/// A share of the time waited that, worked, shows that it was time that was waited for.
const SHARE: i64 = 10;
/// Less work shows nothing.
const LEAST_NANOS: u64 = 1_000_000;

/// Of a thread.
struct Timer {
    /// Ticks of undecided waits; of the thread that was born at `born`.
    waited: Cell<i64>,
    born: Cell<u64>,
    /// Its work when the first of them ended.
    work: Cell<i64>,
}

// SAFETY: each is touched by the thread that has the slot.
unsafe impl Sync for Timer {}

static TIMERS: [Timer; MAX_THREADS] =
    [const { Timer { waited: Cell::new(0), born: Cell::new(0), work: Cell::new(0) } }; MAX_THREADS];

fn of(thread: &Thread) -> &'static Timer {
    let timer = &TIMERS[slot(thread)];
    if timer.born.replace(thread.born.get()) != thread.born.get() {
        timer.waited.set(0);
    }
    timer
}

/// `thread` has waited for so long, and time was over.
pub fn passed(thread: &Thread, ticks: i64) {
    let timer = of(thread);
    if timer.waited.get() == 0 {
        timer.work.set(thread.task.work.get());
    }
    timer.waited.set(timer.waited.get() + ticks);
}

/// It was another strand that it waited for.
pub fn forget(thread: &Thread) {
    of(thread).waited.set(0);
}

/// The strand of `thread` is at tick `now`; `ends`: nothing will show any more.
pub fn decide(thread: &Thread, now: u64, ends: bool) {
    let timer = of(thread);
    let waited = timer.waited.get();
    if waited == 0 {
        return;
    }
    let worked = thread.task.work.get() - timer.work.get() + now.wrapping_sub(thread.start.get()) as i64;
    if ends || worked > (waited / SHARE).max(ticks_of(thread, LEAST_NANOS)) {
        timer.waited.set(0);
        was_blocked(thread, now, waited);
    }
}
