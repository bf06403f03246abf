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
use workspan_collect::{looks, timed};
use workspan_wire::shm::Thread;

use super::waiters;
use crate::queues;

/// `thread`, in the middle of a strand at tick `now`, sleeps no more: who has stopped shortly after its last look may have been what it saw.
pub fn row_ends(thread: &'static Thread, now: u64) {
    if !timed::is_unexplained(thread) {
        return;
    }
    let Some(left) = waiters::left_to_watcher(thread, place()) else { return };
    if looks::slept_shortly_before(thread, left.when) {
        were_ended(thread);
        Wait::begin_at(thread, now).end_behind(now, left.at, Some(left.parts()));
    } else {
        left.release(Shared::of(thread));
    }
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
