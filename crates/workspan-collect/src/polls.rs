//! Threads that wait by looking again and again: in a loop, by `sched_yield`, by short sleeps.
//!
//! Such time is a wait for another strand. Nobody sees which strand ends it, so all that is known is how long it took: it is part of the
//! span, as time blocked is, and no work ([`count`]).
//!
//! * **Loops** that only look are found by samples: every [`PERIOD`] of a thread's processor time the kernel notes where it is
//!   ([`super::sampled`]), and at the end of a long strand the instructions there say whether it only looked ([`super::spins`]).
//! * **Yields** and **sleeps** are seen one by one, where an adapter sees them (`looks`).
//!
//! **Who ended it.** A thread that has looked to its very end, and is joined by one that hardly has to wait for it, was ended by that one: who
//! joins goes on by its own path ([`was_ended_by`]). Where that took longer than all its work, its end is not what the program ends with, either
//! ([`looked_to_end`]). A progress display is such a thread.
//!
//! **Error** of loops: one period for each strand, and as many as the root of their number.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};

use super::sampled::{self, PERIOD};
use super::shared::current_account;
use super::strand;
use super::ticks::ticks_of;
use workspan_wire::shm::Thread;

/// Samples of a strand, fewer of which show nothing.
const LEAST: u64 = 3;
/// Nanoseconds from the last look of a thread to its end, or to where it wakes another.
const LATE_NANOS: u64 = 100_000;
/// The same as a share of how long it has looked.
const LATE_SHARE: i64 = 64;
/// A wait of which no more than this share is missing has been one to its end.
const NEAR: i64 = 4;

/// The wait that a thread was in last.
#[derive(Clone, Copy, Debug)]
struct Tail {
    /// Ticks that it has looked.
    waited: i64,
    /// Of these, from how long before the end it did not look.
    last: i64,
    /// When that was.
    end: u64,
    /// What of the time until then was none of the thread's own.
    away: i64,
}

std::thread_local! {
    static TAIL: Cell<Tail> = const { Cell::new(Tail { waited: 0, last: 0, end: 0, away: 0 }) };
}

/// Ticks so far that were none of the own time of `thread`: it lacked a processor, or the collector took them, as for a look at the clocks,
/// behind which a busy machine likes to switch.
pub(crate) fn away(thread: &Thread) -> i64 {
    thread.preempted.get() + thread.collector.get()
}

/// The strand of the calling thread, at tick `now`, has only looked for so long before.
pub fn looked(thread: &Thread, ticks: i64, now: u64) {
    slept(thread, ticks, 0, now);
}

/// The same; it last slept for `last` ticks, and then looked.
pub fn slept(thread: &Thread, ticks: i64, last: i64, now: u64) {
    TAIL.set(Tail { waited: ticks, last, end: now, away: away(thread) });
}

/// The calling thread has not looked.
pub fn forget() {
    TAIL.set(Tail { waited: 0, ..TAIL.get() });
}

/// The strand of `thread`, whose start is moved by the caller, has waited for `ticks` by looks: in span, not in work.
pub fn count(thread: &Thread, ticks: i64) {
    let account = current_account(thread);
    account.polled.set(account.polled.get() + ticks);
    strand::count_blocked(thread, ticks);
    strand::lengthen(thread, ticks);
}

/// Of a strand of the calling thread that has run for `on_cpu` ticks and is over at tick `now`: those that it was in loops that look.
pub fn of_strand(thread: &Thread, on_cpu: i64, now: u64) -> i64 {
    let period = ticks_of(thread, PERIOD).max(1);
    if on_cpu < period * LEAST as i64 || !sampled::is_on() {
        return 0;
    }
    let most = (on_cpu / period + 1) as u64;
    let seen = sampled::newest(most);
    if seen.polls < LEAST {
        return 0;
    }
    // Of samples that were overwritten, or not looked at, as many as of the others.
    let all = |samples: u64| (i128::from(samples) * i128::from(seen.taken) / i128::from(seen.all.max(1))) as i64;
    let whole = seen.polls == seen.all && seen.taken + 2 >= most;
    let polled = if whole { on_cpu } else { (all(seen.polls) * period).min(on_cpu) };
    let tail = if seen.last == seen.all { polled } else { all(seen.last) * period };
    if seen.last >= LEAST {
        looked(thread, tail, now);
    }
    polled
}

/// The look of `thread`, the calling one, at the clocks that began at tick `now` is over only at tick `end`, which may be late on a busy
/// machine: whoever has looked to the former has looked to the latter.
pub fn look_ends(thread: &Thread, now: u64, end: u64) {
    let tail = TAIL.get();
    if tail.end == now {
        TAIL.set(Tail { end, away: away(thread), ..tail });
    }
}

/// Under addresses, how long who leaves its span there has looked to its end.
static TAILS: [[AtomicU64; 3]; 64] = [const { [const { AtomicU64::new(0) }; 3] }; 64];

fn slot(address: u64) -> &'static [AtomicU64; 3] {
    &TAILS[(address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize]
}

/// The calling thread leaves what it has come to at tick `now` under `address`.
pub fn leave(thread: &Thread, now: u64, address: u64) {
    let [at, long, sleep] = slot(address);
    let waited = tail(thread, now);
    if waited > 0 {
        sleep.store(TAIL.get().last as u64, Ordering::Relaxed);
        long.store(waited as u64, Ordering::Relaxed);
        at.store(address, Ordering::Release);
    } else if at.load(Ordering::Relaxed) == address {
        at.store(0, Ordering::Relaxed);
    }
}

/// Of what the calling thread, whose strand has stopped at tick `now`, and which ends now, was blocked before: how much nobody has to wait
/// for. All of it where it did little but look, as a display that was late once between two looks.
pub fn unneeded(thread: &Thread, now: u64) -> i64 {
    match looked_to_end(thread, now) {
        true => i64::MAX,
        false => tail(thread, now),
    }
}

/// True if who left its span at `address` had looked to its end.
pub fn left_by_looker(address: u64) -> bool {
    address != 0 && slot(address)[0].load(Ordering::Acquire) == address
}

/// The calling thread, whose strand has stopped at tick `now`, has looked to its end, for longer than it ever worked.
pub fn looked_to_end(thread: &Thread, now: u64) -> bool {
    tail(thread, now) > thread.task.work.get()
}

/// How long the calling thread has looked to tick `now`; 0 if it has worked since. That a processor or a look at the clocks was late is no work.
fn tail(thread: &Thread, now: u64) -> i64 {
    let Tail { waited, end, away: before, .. } = TAIL.get();
    let since = now.wrapping_sub(end) as i64 - (away(thread) - before);
    if since < waited / LATE_SHARE + ticks_of(thread, LATE_NANOS) {
        waited
    } else {
        0
    }
}

/// Who left its span at `address` has looked to its end, and has seen what that one did who comes there: who has waited for only that
/// number of ticks, or whose span is less only by that. Who sleeps between looks sees it no
/// sooner than it wakes, which the kernel may have late.
pub fn was_ended_by(address: u64, waited: i64, less: i64) -> bool {
    let [at, long, sleep] = slot(address);
    let known = |ticks: &AtomicU64| ticks.load(Ordering::Relaxed) as i64;
    at.load(Ordering::Acquire) == address
        && waited.min(less) < (known(long) / NEAR).max(known(sleep) + known(sleep) / NEAR)
}
