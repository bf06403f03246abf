//! For libraries that are loaded into a recorded program and note events themselves.

use core::sync::atomic::Ordering::Relaxed;

use workspan_trace::control::Kind;

use crate::event::{now, put_slots, wanted};
use crate::platform::thread;
use crate::shared;
use crate::thread::PAUSED;

/// Ticks since the start.
#[no_mangle]
pub extern "C" fn __workspan_now() -> u64 {
    now()
}

/// 1 if this thread's events are recorded.
#[no_mangle]
pub extern "C" fn __workspan_wanted() -> u32 {
    u32::from(wanted())
}

/// Until it is called with 0, this thread's locks, threads and allocations are not the program's.
#[no_mangle]
pub extern "C" fn __workspan_pause(paused: u32) {
    if !shared::recording() || thread().paused.replace(paused != 0) == (paused != 0) {
        return;
    }
    if paused == 0 {
        PAUSED.fetch_sub(1, Relaxed);
    } else {
        PAUSED.fetch_add(1, Relaxed);
    }
}

/// Notes an event of a library; it has as many slots as its kind.
///
/// # Safety
/// There are as many slots.
#[no_mangle]
pub unsafe extern "C" fn __workspan_event(kind: u32, slots: *const u64) {
    let Some(kind) = Kind::of(kind) else { return };
    // SAFETY: the caller says so.
    put_slots(kind, unsafe { core::slice::from_raw_parts(slots, kind.slots()) });
}
