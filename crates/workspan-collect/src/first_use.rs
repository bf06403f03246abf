//! What a runtime takes when it is used for the first time: in no strand, and shown as a time of its own.

use super::clock;
use super::events;
use super::strand;
use workspan_wire::shm::Thread;

/// `ticks` that are in no strand were a runtime's first use.
pub fn count(thread: &Thread, ticks: i64) {
    thread.first_use.set(thread.first_use.get() + ticks);
}

/// `work` of a runtime that is used for the first time is in no strand, and counted.
#[cold]
#[inline(never)]
pub fn exclude<R>(thread: &Thread, work: impl FnOnce() -> R) -> R {
    let before = clock::read(thread);
    strand::stop(thread, before);
    let result = events::exclude_events(thread, work);
    let now = clock::wake(thread);
    count(thread, now.wrapping_sub(before) as i64);
    strand::go(thread, now);
    result
}
