//! Who ends the sleeps of threads that only look in between.
//!
//! Nobody wakes who sleeps, but what it looks for has most often come where another thread had nothing more to
//! do: it ended, or began to wait. So each thread leaves there where it has come to, if anybody sleeps again and again ([`leave`]), and who
//! finds that when it wakes goes on behind it. What it has slept before in that row was no time blocked.
//!
//! **Bias:** who has stopped meanwhile need not be who was waited for. It has come no later than the sleep was over.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};

use workspan_collect::shared::Shared;
use workspan_collect::waits::Wait;
use workspan_collect::{looks, platform, thread, timed};
use workspan_wire::shm::Thread;

use super::waiters::{self, Left};
use crate::dag::patience::in_naps;
use crate::dag::solo;
use crate::queues;

/// Naps in which is waited for who has ended a row of sleeps: where a processor is free, one is enough. ...
const NAPS: u32 = 16;
/// ... As a part of the time slept, no longer than that. ...
const PATIENCE_SHARE: u64 = 8;
/// ... While somebody is about to leave something, it is waited for longer: for some turns of busy processors.
const PATIENCE_NANOS: u64 = 50_000_000;

/// Threads that may be about to leave something. Looks at the kernel's clocks lie before that, behind which a busy machine likes to switch.
static LEAVING: AtomicU32 = AtomicU32::new(0);

std::thread_local! {
    /// The calling thread is one of these.
    static IS_LEAVING: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread may be about to leave something, until this goes.
#[derive(Debug)]
pub struct Leaving(());

/// The calling thread is about to end, or to wait. `None`: nobody would look for that.
#[inline(always)]
pub fn may_leave() -> Option<Leaving> {
    (waiters::bucket(place()).waiting.load(Ordering::Relaxed) != 0 && !IS_LEAVING.get()).then(|| {
        IS_LEAVING.set(true);
        LEAVING.fetch_add(1, Ordering::AcqRel);
        Leaving(())
    })
}

impl Drop for Leaving {
    fn drop(&mut self) {
        LEAVING.fetch_sub(1, Ordering::AcqRel);
        IS_LEAVING.set(false);
    }
}

/// Does `work`, in which nobody is to wait for the calling thread.
fn without_leaving<R>(work: impl FnOnce() -> R) -> R {
    let own = u32::from(IS_LEAVING.get());
    LEAVING.fetch_sub(own, Ordering::AcqRel);
    let result = work();
    LEAVING.fetch_add(own, Ordering::AcqRel);
    result
}

/// `thread`, in the middle of a strand at tick `now`, sleeps no more: who has stopped shortly after its last look may have been what it saw.
/// Returns the tick at which it goes on.
pub fn row_ends(thread: &'static Thread, now: u64) -> u64 {
    if !timed::is_unexplained(thread) {
        return now;
    }
    let wait = Wait::begin_at(thread, now);
    let before = thread.collector.get();
    let left = left_soon(thread);
    let woken = thread::waking().map_or(now, |(_, woken)| woken);
    // All of that was the collector's, looks at the clocks among it.
    thread.collector.set(before + woken.wrapping_sub(now) as i64);
    match left {
        // What has come since then was under way.
        Some(left) if looks::slept_shortly_before(thread, left.when.min(now)) => {
            were_ended(thread);
            wait.end_behind(woken, left.at, Some(left.parts()));
        }
        found => {
            timed::slept(thread, wait.end_undecided(woken));
            if let Some(left) = found {
                left.release(Shared::of(thread));
            }
        }
    }
    woken
}

/// What was left for `thread`, or is shortly: what it has found was there before who did that said so, and a busy machine may switch in between.
fn left_soon(thread: &Thread) -> Option<Left> {
    let mut left = waiters::left_to_watcher(thread, place());
    if left.is_none() && solo::is_multithreaded() {
        let until = platform::monotonic_nanos() + timed::unexplained_nanos(thread) / PATIENCE_SHARE;
        let mut naps = 0;
        without_leaving(|| {
            in_naps(PATIENCE_NANOS, || {
                naps += 1;
                let is_enough = naps >= NAPS || platform::monotonic_nanos() >= until;
                // Whoever leaves something does so before it says that it is done.
                let is_over = is_enough && LEAVING.load(Ordering::Acquire) == 0;
                left = waiters::left_to_watcher(thread, place());
                left.is_some() || is_over
            })
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
