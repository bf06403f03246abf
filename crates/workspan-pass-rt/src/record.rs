//! The bytes of an event.

use workspan_trace::control::Kind;
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use crate::platform::ticks;
use crate::shared;
use crate::thread::Thread;

/// Ticks since the start, in a slot.
pub fn now() -> u64 {
    ticks().wrapping_sub(shared::since()) & ((1 << 48) - 1)
}

/// Writes an event at `place`, below the limit of a buffer: where the next goes.
#[inline]
pub fn put(thread: &Thread, place: *mut u8, kind: Kind, slots: &[u64]) -> *mut u8 {
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
