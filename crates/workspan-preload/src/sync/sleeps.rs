//! Who ends the sleeps of threads that only look in between.
//!
//! Nobody wakes who sleeps, but what it looks for has most often come where another thread had nothing more to
//! do: it ended, or began to wait. So each thread leaves there where it has come to, if anybody sleeps again and again ([`leave`]), and who
//! finds that when it wakes goes on behind it. What it has slept before in that row was no time blocked.
//!
//! **Bias:** who has stopped meanwhile need not be who was waited for. It has come no later than the sleep was over.

use core::sync::atomic::Ordering;

use workspan_collect::shared::Shared;
use workspan_collect::waits::Wait;
use workspan_collect::{looks, thread, timed};
use workspan_wire::shm::Thread;

use super::waiters::{self, Left};
use crate::dag::patience::in_naps;
use crate::dag::solo;
use crate::queues;

/// Naps in which is waited for who has ended a row of sleeps: where a processor is free, one is enough.
const NAPS: u32 = 16;
/// As a part of the time slept, no longer than that, ...
const PATIENCE_SHARE: u64 = 8;
/// ... and at most some turns of busy processors.
const PATIENCE_NANOS: u64 = 50_000_000;

/// `thread`, in the middle of a strand at tick `now`, sleeps no more: who has stopped shortly after its last look may have been what it saw.
/// Returns the tick at which it goes on.
pub fn row_ends(thread: &'static Thread, now: u64) -> u64 {
    if !timed::is_unexplained(thread) {
        return now;
    }
    let wait = Wait::begin_at(thread, now);
    let left = left_soon(thread);
    let now = thread::waking().map_or(now, |(_, now)| now);
    match left {
        Some(left) if looks::slept_shortly_before(thread, left.when) => {
            were_ended(thread);
            wait.end_behind(now, left.at, Some(left.parts()));
        }
        found => {
            timed::slept(thread, wait.end_undecided(now));
            if let Some(left) = found {
                left.release(Shared::of(thread));
            }
        }
    }
    now
}

/// What was left for `thread`, or is shortly: what it has found was there before who did that said so, and a busy machine may switch in between.
fn left_soon(thread: &Thread) -> Option<Left> {
    let mut left = waiters::left_to_watcher(thread, place());
    if left.is_none() && solo::is_multithreaded() {
        let nanos = (timed::unexplained_nanos(thread) / PATIENCE_SHARE).min(PATIENCE_NANOS);
        in_naps(NAPS, nanos, || {
            left = waiters::left_to_watcher(thread, place());
            left.is_some()
        });
    }
    left
}

/// It is known who has ended the sleeps of `thread`, the calling one.
pub fn were_ended(thread: &Thread) {
    looks::sleeps_were_ended(thread);
    timed::was_ended(thread);
}

/// What threads watch that sleep again and again.
pub fn place() -> u64 {
    static PLACE: u64 = 1;
    &raw const PLACE as u64
}

/// The strand of `thread`, at tick `now`, has nothing more to do for now: whoever looks for that in sleeps goes on behind it.
#[inline(always)]
pub fn leave(thread: &Thread, now: u64) {
    if waiters::bucket(place()).waiting.load(Ordering::Relaxed) != 0 {
        leave_to_sleepers(thread, now);
    }
}

#[cold]
fn leave_to_sleepers(thread: &Thread, now: u64) {
    if waiters::concerns(thread, place()) {
        let left = queues::left_by(thread, now, place());
        waiters::leave_to_watchers(thread, place(), &left);
        left.release(Shared::of(thread));
    }
}
