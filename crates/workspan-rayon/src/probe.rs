//! Symbols that `workspan-probe`, and through it a program, may call.

use super::marks;
use core::panic::Location;
use workspan_collect::thread::current;

/// Advances the virtual clock of the calling thread. Without virtual clock it has no effect.
#[no_mangle]
pub extern "C" fn workspan_tick(ticks: u64) {
    if let Some(thread) = current() {
        thread.virtual_now.set(thread.virtual_now.get().wrapping_add(ticks));
    }
}

/// Begins a region that the program marks; `location` is where it does so. Returns what ends it.
///
/// # Safety
///
/// `location` is a `&'static Location`, `name` the beginning of a `&'static str` of this length.
#[no_mangle]
pub unsafe extern "C" fn workspan_region_begin(location: *const u8, name: *const u8, length: usize) -> u32 {
    // SAFETY: the caller's contract.
    let location = unsafe { &*location.cast::<Location<'static>>() };
    // SAFETY: the same.
    let name = unsafe { core::slice::from_raw_parts(name, length) };
    // SAFETY: the same; it was a `str`.
    let name = unsafe { core::str::from_utf8_unchecked(name) };
    marks::begin(location, name)
}

/// Ends a region, and those that were begun within it.
#[no_mangle]
pub extern "C" fn workspan_region_end(mark: u32) {
    marks::end(mark);
}

/// Refers to what only the linker uses.
pub fn keep() {
    core::hint::black_box((
        workspan_tick as extern "C" fn(u64),
        workspan_region_begin as unsafe extern "C" fn(*const u8, *const u8, usize) -> u32,
        workspan_region_end as extern "C" fn(u32),
    ));
}
