//! When serial code runs: the runner samples the program, and has to know of which row a sample is.
//!
//! A thread has a *home*: the context of its own serial code. While the thread is at home and does not wait, a segment is open;
//! leaving home ends it ([`workspan_wire::segment`]).
//!
//! **Invariant:** a thread without a home (nobody samples, or the clock is virtual) has no open segment.
//!
//! **Cost:** one comparison at each change of the context. At an end of serial code the cycle counter is read and at most two
//! entries of 24 bytes are written; nobody else writes them, and they are read when the program has ended.

use core::sync::atomic::Ordering;

use super::platform;
use super::shared::Shared;
use super::tables::{ContextId, ROOT};
use workspan_wire::segment::{Segment, LONG_SHIFT, PENDING, RING};
use workspan_wire::shm::{Thread, NO_HOME};

/// What lasts no longer is no longer than the hooks around it, if its row is not known either.
const SHORTEST: u64 = 2_000;
/// Of more segments of one row than these, the first ones are of the row that follows.
const MOST_UNDECIDED: u64 = 64;

/// A thread that has been readied is at home outside of all regions, if anybody wants to know.
pub fn start(shared: Shared, thread: &Thread) {
    let wanted = shared.header().config.segments.load(Ordering::Relaxed) != 0 && !shared.is_virtual();
    thread.home.set(if wanted { ROOT } else { NO_HOME });
    thread.segment_since.set(0);
}

/// The own code of the thread is that of `context` from now on.
pub fn settle(thread: &Thread, context: ContextId) {
    if thread.home.get() != NO_HOME {
        pause(thread);
        thread.home.set(context);
        moved(thread, context);
    }
}

/// The thread's context is `context` now.
#[inline(always)]
pub fn moved(thread: &Thread, context: ContextId) {
    if context == thread.home.get() {
        resume(thread);
    } else {
        pause(thread);
    }
}

/// The thread goes on, perhaps at home.
#[inline]
pub fn resume(thread: &Thread) {
    let is_home = thread.home.get() == thread.task.position.get().context;
    if is_home && thread.segment_since.get() == 0 && thread.task.waiting.get() == 0 {
        thread.segment_since.set(platform::ticks());
    }
}

/// The thread leaves home, or has nothing to do.
#[inline]
pub fn pause(thread: &Thread) {
    let since = thread.segment_since.get();
    if since == 0 {
        return;
    }
    let now = platform::ticks();
    thread.segment_since.set(0);
    let home = thread.home.get();
    if home != ROOT {
        write(thread, since, now, home);
    } else if now.wrapping_sub(since) > SHORTEST {
        write(thread, since, now, PENDING | thread.task.last_region.get());
    }
}

/// What has run at home since the segment began was charged to `row`. The next one begins.
pub fn charged(thread: &Thread, row: ContextId) {
    let since = thread.segment_since.get();
    if since != 0 {
        let now = platform::ticks();
        write(thread, since, now, row);
        thread.segment_since.set(now);
    } else if thread.home.get() == ROOT {
        decide(thread, row);
    }
}

/// Segments that ended where the thread began to wait, and of which the row was not known, are of `row`.
fn decide(thread: &Thread, row: ContextId) {
    let own = Shared::of(thread).segments(thread);
    for (ring, written) in [(&own.recent, own.recent_written.get()), (&own.long, own.long_written.get())] {
        let latest = (0..written.min(MOST_UNDECIDED)).map(|back| &ring[((written - 1 - back) % RING as u64) as usize]);
        latest
            .take_while(|segment| segment.row.get() & PENDING != 0 && segment.tid.get() == thread.tid.get())
            .for_each(|segment| segment.row.set(row));
    }
}

fn write(thread: &Thread, since: u64, now: u64, row: u32) {
    let shared = Shared::of(thread);
    let own = shared.segments(thread);
    put(&own.recent, &own.recent_written, thread, (since, now), row);
    let so_far = now.wrapping_sub(shared.header().started.ticks.load(Ordering::Relaxed));
    if now.wrapping_sub(since) >= so_far >> LONG_SHIFT {
        put(&own.long, &own.long_written, thread, (since, now), row);
    }
}

fn put(ring: &[Segment; RING], written: &core::cell::Cell<u64>, thread: &Thread, (since, now): (u64, u64), row: u32) {
    let count = written.get();
    let last = &ring[(count.wrapping_sub(1) % RING as u64) as usize];
    if count > 0 && last.to.get() == since && last.row.get() == row && last.tid.get() == thread.tid.get() {
        last.to.set(now);
        return;
    }
    let next = &ring[(count % RING as u64) as usize];
    next.from.set(since);
    next.to.set(now);
    next.row.set(row);
    next.tid.set(thread.tid.get());
    written.set(count + 1);
}
