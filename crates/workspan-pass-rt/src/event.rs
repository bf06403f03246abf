//! Control events.

use workspan_trace::control::Kind;

use crate::buffer::flush;
use crate::platform::thread;
pub use crate::record::now;
use crate::record::put;
use crate::shared;

/// True if this thread's events are recorded, and none is being written.
pub fn wanted() -> bool {
    let thread = thread();
    shared::recording() && !thread.busy.get() && !thread.silent.get() && !thread.paused.get()
}

/// Writes an event of this thread.
pub fn write<const N: usize>(kind: Kind, slots: [u64; N]) {
    put_slots(kind, &slots);
}

/// As [`fn@write`].
#[inline]
pub fn put_slots(kind: Kind, slots: &[u64]) {
    debug_assert_eq!(kind.slots(), slots.len());
    let thread = thread();
    if thread.busy.get() || thread.silent.get() || !shared::recording() {
        return;
    }
    let place = if thread.next.get() >= thread.limit.get() {
        // SAFETY: this is what it is for.
        unsafe { flush() }
    } else {
        thread.next.get()
    };
    if !thread.silent.get() {
        put(thread, place, kind, slots);
    }
}
