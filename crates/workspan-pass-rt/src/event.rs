//! Control events.

use workspan_trace::control::Kind;
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use crate::platform::{thread, ticks};
use crate::start;
use crate::thread::{flush, Thread};

/// Ticks since the start, in a slot.
pub fn now() -> u64 {
    ticks().wrapping_sub(start::since()) & ((1 << 48) - 1)
}

/// True if this thread's events are recorded, and none is being written.
pub fn wanted() -> bool {
    let thread = thread();
    start::recording() && !thread.busy.get() && !thread.silent.get() && !thread.paused.get()
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
    if thread.busy.get() || thread.silent.get() || !start::recording() {
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

#[inline]
fn put(thread: &Thread, place: *mut u8, kind: Kind, slots: &[u64]) -> *mut u8 {
    let after = place.wrapping_add(ID_BYTES + slots.len() * SLOT_BYTES);
    thread.next.set(after);
    // SAFETY: below the limit of a buffer is room for an event, and for the two bytes that the last store is longer.
    unsafe { place.cast::<u32>().write_unaligned(kind as u32) };
    for (number, slot) in slots.iter().enumerate() {
        let slot = *slot & ((1 << 48) - 1);
        let at = place.wrapping_add(ID_BYTES + number * SLOT_BYTES);
        // SAFETY: as above.
        unsafe { at.cast::<u64>().write_unaligned(slot) };
    }
    after
}

/// The first event of a context, while its buffer is being changed: where the next goes.
pub fn begin_within(thread: &Thread, place: *mut u8, creator: u32) -> *mut u8 {
    put(thread, place, Kind::Begin, &[now(), creator.into()])
}
