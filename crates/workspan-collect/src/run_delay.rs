//! How long the calling thread was ready and had to wait for a processor: the kernel's run-queue delay, read as rarely as will do.
//!
//! It comes from a file, which takes ten times as long to read as the clocks, and most of the life of a short thread. Only a strand that
//! gave up its processor outside of the hooks for waits needs it: what of its time off the processor was blocked, and what preempted. So:
//!
//! * a thread that the program creates begins with what must have been its delay: the time since its creation that it has not run, less
//!   what is not sure of it;
//! * a thread reads the file at the first strand that needs it. If it has waited in hooks since the reading before, delays of those waits are
//!   in the difference, too: each time that it gave up its processor counts as an equal part of it;
//! * from then on, or once it has lived for [`YOUNG`], the thread may need it again: it keeps its last reading younger than a long strand, and
//!   its conclusions are exact but for what fits in there.
//!
//! **Bias:** of a young thread's first conclusion only, and never more than the time off the processor that it is about.

use core::cell::Cell;

use super::platform;
use super::ticks::{nanos_of, ticks_of};
use workspan_wire::shm::Thread;

/// When the last reading was, and what it has missed since.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    /// The slot that it was for, by its address; 0: there was none. Calibration has a slot of its own.
    slot: u64,
    /// Its tick.
    at: u64,
    /// How often the thread had given up its processor then.
    voluntary: u64,
    /// A later one was due, and skipped.
    skipped: bool,
}

/// Nanoseconds by which what must have been a new thread's delay may be too much: the kernel had not finished making it, or its first
/// pages were not there. Too much would make a wait of that which is none.
const UNSURE: u64 = 100_000;

/// Nanoseconds of a thread's life in which a reading would be much of it.
const YOUNG: u64 = 10_000_000;

std::thread_local! {
    static LAST: Cell<Reading> = const { Cell::new(Reading { slot: 0, at: 0, voluntary: 0, skipped: false }) };
    /// Tick at which the calling thread was created; 0: not known.
    static CREATED: Cell<u64> = const { Cell::new(0) };
    /// Tick of the calling thread's first look.
    static BEGAN: Cell<u64> = const { Cell::new(0) };
    /// A strand of the calling thread has needed it.
    static NEEDED: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread, not attached yet, was created at tick `at`.
pub(super) fn created(at: u64) {
    CREATED.set(at);
}

/// What was known before a look, for conclusions after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    delay: u64,
    voluntary: u64,
    reading: Reading,
}

impl Before {
    /// What the calling thread knows.
    pub(super) fn of(thread: &Thread) -> Before {
        let anchor = &thread.anchor;
        Before { delay: anchor.run_delay.get(), voluntary: anchor.voluntary.get(), reading: LAST.get() }
    }

    /// After a look: of `off` ticks off the processor, those that the thread was ready. A part is not worth an estimate where all of
    /// them are few: all delay since what was known is theirs then, as of readings that are that near to each other.
    pub(super) fn delay(&self, thread: &Thread, off: i64) -> i64 {
        let delay = ticks_of(thread, thread.anchor.run_delay.get().saturating_sub(self.delay));
        if !self.reading.skipped || off < thread.long.get() {
            return delay;
        }
        let voluntary = thread.anchor.voluntary.get();
        share(delay, voluntary.wrapping_sub(self.voluntary), voluntary.wrapping_sub(self.reading.voluntary))
    }
}

/// The part of `delay` that `own` of `all` switches have.
fn share(delay: i64, own: u64, all: u64) -> i64 {
    if own >= all {
        return delay;
    }
    (i128::from(delay) * i128::from(own) / i128::from(all)) as i64
}

/// The calling thread, whose count of voluntary switches is in its anchor, has been switched out since the last look; `gave_up`: a strand
/// has given up its processor. True if the kernel was asked.
pub(super) fn look(thread: &Thread, gave_up: bool) -> bool {
    let last = LAST.get();
    let now = platform::ticks();
    if last.slot != address(thread) {
        return begin(thread, now);
    }
    let is_young = || (now.wrapping_sub(BEGAN.get()) as i64) < ticks_of(thread, YOUNG);
    if gave_up {
        NEEDED.set(true);
    } else if (now.wrapping_sub(last.at) as i64) < thread.long.get() {
        return false;
    } else if !NEEDED.get() && is_young() {
        LAST.set(Reading { skipped: true, ..last });
        return false;
    }
    read(thread, now);
    true
}

/// The calling thread has been switched out since it was asked: what it knows is from before that.
pub(super) fn again(thread: &Thread) {
    read(thread, platform::ticks());
}

fn begin(thread: &Thread, now: u64) -> bool {
    BEGAN.set(now);
    let created = CREATED.get();
    if created == 0 {
        read(thread, now);
        return true;
    }
    let cpu = platform::thread_cpu_nanos();
    let delay = nanos_of(thread, now.wrapping_sub(created)).saturating_sub(cpu);
    thread.anchor.run_delay.set(delay.saturating_sub(UNSURE));
    known(thread, now);
    false
}

fn read(thread: &Thread, now: u64) {
    known(thread, now);
    let before = thread.anchor.run_delay.get();
    thread.anchor.run_delay.set(platform::run_delay_nanos().unwrap_or(before));
}

/// It is known as of tick `now`.
fn known(thread: &Thread, now: u64) {
    LAST.set(Reading { slot: address(thread), at: now, voluntary: thread.anchor.voluntary.get(), skipped: false });
}

fn address(thread: &Thread) -> u64 {
    thread as *const Thread as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_has_its_part_of_the_delay() {
        // 400 ticks of delay in 10 switches, of which the strand has one.
        assert_eq!(share(400, 1, 10), 40);
        // No others.
        assert_eq!(share(400, 3, 3), 400);
        assert_eq!(share(400, 0, 0), 400);
        assert_eq!(share(0, 1, 10), 0);
        assert_eq!(share(i64::MAX / 2, 1 << 60, 1 << 61), i64::MAX / 4);
    }
}
