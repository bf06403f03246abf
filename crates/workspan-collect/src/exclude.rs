//! Time and events that belong to no strand: the collector's own work where it takes long.
//!
//! What a hook takes as a rule is calibrated, and taken out of the strand that begins at its end ([`super::clock`]). Work
//! that comes once in a while goes through one of these functions, which measure it.

use super::clock;
use super::events;
use super::strand;
use workspan_wire::shm::Thread;

/// Excludes `work` from the strand that begins at the end of the hook ([`super::log::go`]).
#[cold]
#[inline(never)]
pub fn exclude_next<R>(thread: &Thread, work: impl FnOnce() -> R) -> R {
    clock::exclude_time(thread, || events::exclude_events(thread, work))
}

/// Excludes `work` from the strand that runs.
pub fn exclude_running<R>(thread: &Thread, work: impl FnOnce() -> R) -> R {
    let before = clock::read(thread);
    strand::stop(thread, before);
    let result = events::exclude_events(thread, work);
    strand::go(thread, clock::wake(thread));
    result
}
