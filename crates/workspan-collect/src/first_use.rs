//! What a runtime takes when it is used for the first time: in no strand, and shown as a time of its own.

use super::exclude::exclude_running;
use super::platform;
use workspan_wire::shm::Thread;

/// `ticks` that are in no strand were a runtime's first use.
pub fn count(thread: &Thread, ticks: i64) {
    thread.first_use.set(thread.first_use.get() + ticks);
}

/// `work` of a runtime that is used for the first time is in no strand, and counted.
#[cold]
#[inline(never)]
pub fn exclude<R>(thread: &Thread, work: impl FnOnce() -> R) -> R {
    exclude_running(thread, || {
        let before = platform::ticks();
        let result = work();
        count(thread, platform::ticks().wrapping_sub(before) as i64);
        result
    })
}
