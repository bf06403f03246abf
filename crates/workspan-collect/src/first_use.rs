//! What a runtime takes when it is used for the first time: in no strand, and shown as a time of its own.

use workspan_wire::shm::Thread;

/// `ticks` that are in no strand were a runtime's first use.
pub fn count(thread: &Thread, ticks: i64) {
    thread.first_use.set(thread.first_use.get() + ticks);
}
