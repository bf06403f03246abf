//! The first tasks that a thread creates: what the runtime takes longer for them than for others is nobody's work.
//!
//! It makes queues, gets memory from the kernel for what it keeps with each task, and meets its own code for the first time: some
//! tens of microseconds, which would stand on the path of everything that follows, and do not come again. So of a thread's first
//! creations ([`FIRST_ONES`](super::noted::FIRST_ONES)) the runtime's part is seen from the program's call to the callback, and from there to its return,
//! which comes back here ([`super::interpose`]). Where it is longer than the fastest one so far by [`SLACK_NANOS`] or more, it counts as long as that one.
//!
//! **Bias:** each of these parts may be too short by what it differs from the fastest, which is tens of nanoseconds.
//!
//! **Cost:** one load for each callback of a task.

use core::ffi::c_void;
use core::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use workspan_collect::clock;
use workspan_collect::first_use;
use workspan_collect::platform;
use workspan_collect::strand;
use workspan_collect::thread;
use workspan_collect::ticks::ticks_of;
use workspan_wire::shm::Thread;

use super::boundary;
use super::noted::{inside, is_watched, note_later, set_inside, watch, watch_no_more, watches, Inside};
use crate::dag::clock::is_virtual;
use crate::dag::frame::Frame;
use crate::dag::token;

/// What a part takes as a rule, before any was seen.
const USUAL_NANOS: u64 = 150;
/// By how much a part may be longer than the fastest.
const SLACK_NANOS: u64 = 250;

/// The fastest in ticks, each of which is 0 before any was seen: up to the callback, behind it, and where none comes.
static BEFORE: AtomicI64 = AtomicI64::new(0);
static BEHIND: AtomicI64 = AtomicI64::new(0);
static WHOLE: AtomicI64 = AtomicI64::new(0);

/// One of the thread's first calls, which is to go on to `after`. True if the runtime is to return here.
#[cold]
pub(super) fn enters(after: u64) -> bool {
    if is_virtual() || inside() != Inside::No {
        return false;
    }
    let Some(thread) = thread::hot() else { return false };
    let Some(task) = Frame::on(thread) else { return false };
    let returns_here = if token::enabled() {
        boundary::enters(after);
        true
    } else {
        enter(thread)
    };
    // Where the runtime returns to the program, nobody would end the watch, and later places would be this one.
    if returns_here {
        watch(task, after);
    }
    returns_here
}

/// The strand of `thread`, if there is one, ends where the program calls the runtime.
fn enter(thread: &Thread) -> bool {
    if thread.task.waiting.get() != 0 || thread.account.get() == 0 {
        return false;
    }
    let at = clock::read(thread);
    strand::stop(thread, at);
    set_inside(Inside::Called);
    clock::wake(thread);
    // From here on the runtime is at it.
    let now = platform::ticks();
    note_later(now.wrapping_sub(at) as i64);
    thread.start.set(now);
    true
}

/// The runtime calls back on `thread`. Returns the ticks that do not count.
#[inline(always)]
pub(super) fn leaves(thread: &Thread) -> i64 {
    match inside() {
        Inside::Called => leave(thread, &BEFORE),
        Inside::CalledBack => leave(thread, &BEHIND),
        _ => 0,
    }
}

/// A callback on `thread` is over, and the runtime is about to return, or to call more.
#[inline(always)]
pub(super) fn stays(thread: &Thread) {
    if watches() {
        stay(thread);
    }
}

#[cold]
fn stay(thread: &Thread) {
    if thread.task.waiting.get() == 0 && Frame::on(thread).is_some_and(is_watched) {
        set_inside(if token::enabled() { Inside::Always } else { Inside::CalledBack });
    }
}

/// The runtime has returned.
pub(super) fn returns() {
    if inside() == Inside::Always {
        // All that passed since was the runtime's, however long it took.
        boundary::program_goes_on();
    }
    watch_no_more();
    let usual = match inside() {
        Inside::Called => &WHOLE,
        Inside::CalledBack => &BEHIND,
        Inside::Always | Inside::No => return,
    };
    if let Some(thread) = thread::hot() {
        note_later(leave(thread, usual));
    }
}

/// Regions whose bodies are still to be watched.
static REGIONS: AtomicU32 = AtomicU32::new(4);

/// True if the body of the region that the program enters is to note where it begins and ends.
pub(super) fn watches_body() -> bool {
    // The runtime may not have started, so this asks the thread, not `dag::clock`.
    if REGIONS.load(Ordering::Relaxed) == 0 || thread::hot().is_none() || token::enabled() {
        return false;
    }
    // Two threads may come here at once, and count for one.
    REGIONS.store(REGIONS.load(Ordering::Relaxed).saturating_sub(1), Ordering::Relaxed);
    true
}

/// The runtime is about to call such a body on the calling thread.
pub(super) fn body_is_next() {
    if !token::enabled() {
        set_inside(Inside::CalledBack);
    }
}

/// It has.
pub(super) fn body_begins() {
    if inside() == Inside::CalledBack {
        if let Some(thread) = thread::hot() {
            leave(thread, &BEHIND);
        }
    }
}

/// The body of a region that is watched has returned to the runtime.
pub(super) fn body_ends(thread: &Thread) {
    if inside() == Inside::No && !token::enabled() {
        enter(thread);
    }
}

#[cold]
fn leave(thread: &Thread, usual: &AtomicI64) -> i64 {
    set_inside(Inside::No);
    if thread.task.waiting.get() != 0 {
        return 0;
    }
    let passed = clock::wake(thread).wrapping_sub(thread.start.get()) as i64;
    let kept = kept(thread, passed, usual);
    first_use::count(thread, passed - kept);
    let start = platform::ticks().wrapping_sub(kept as u64);
    let later = start.wrapping_sub(thread.start.replace(start));
    later as i64
}

/// What the runtime keeps of the thread's first task lies at `at`, and what it keeps of the next ones as a rule below: these pages are
/// made ready, of as many as it queues.
#[cold]
pub(super) fn made(at: *const c_void) {
    const BYTES: u64 = 96 << 10;
    platform::populate((at as u64).saturating_sub(BYTES), BYTES);
}

/// What counts of a part that took `passed` ticks.
fn kept(thread: &Thread, passed: i64, usual: &AtomicI64) -> i64 {
    let known = match usual.load(Ordering::Relaxed) {
        0 => ticks_of(thread, USUAL_NANOS),
        known => known,
    };
    if (1..known).contains(&passed) {
        usual.store(passed, Ordering::Relaxed);
    }
    if passed > known + ticks_of(thread, SLACK_NANOS) {
        known
    } else {
        passed
    }
}
