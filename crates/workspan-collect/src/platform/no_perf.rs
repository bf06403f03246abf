//! Systems other than Linux, and the interpreter Miri: no counters of events.

use core::ptr::NonNull;

/// Size of a counter's page.
pub const PAGE: usize = 4096;
/// Size of a description, in words.
pub const WORDS: usize = 14;

/// Refuses (`ENOSYS`).
pub fn open(_attributes: &mut [u64; WORDS], _leader: i32) -> Result<i32, u32> {
    Err(38)
}

/// Does nothing.
pub fn shut(_fd: i32) {}

/// No page.
pub fn map(_fd: i32) -> Option<NonNull<u8>> {
    None
}

/// No page.
pub fn map_ring(_fd: i32, _pages: usize) -> Option<NonNull<u8>> {
    None
}

/// Nothing to be read.
pub fn read_group(_fd: i32, _words: &mut [u64]) -> bool {
    false
}
