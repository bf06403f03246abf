//! Allocators that a program brings with it.
//!
//! The functions by which all of Rust allocates call these, as they begin and end. What the allocator does between them is its own
//! business: its locks and what it takes from the C library are not noted, only what it gives and takes back.

use core::ffi::c_void;

use crate::memory::{allocated, released};
use crate::platform::thread;

/// The allocator begins; it takes back `former`, unless that is null. Returns what [`__workspan_allocator_ends`] is to be called with.
#[no_mangle]
pub extern "C" fn __workspan_allocator_begins(former: *mut c_void) -> u64 {
    released(former);
    u64::from(thread().paused.replace(true))
}

/// It ends, and gives `size` bytes at `pointer`, unless that is null.
#[no_mangle]
pub extern "C" fn __workspan_allocator_ends(pointer: *mut c_void, size: usize, before: u64) {
    thread().paused.set(before != 0);
    allocated(pointer, size);
}
