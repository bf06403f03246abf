//! When serial code ran: segments of time on a thread, for whoever samples the program from outside.
//!
//! A thread writes one at each end of serial code. Two rings keep them: all of late, and the long ones, which are few. Segments
//! that follow each other without a gap are one.

use core::cell::Cell;

/// Segments of each ring.
pub const RING: usize = if cfg!(miri) { 16 } else { 2048 };
/// In [`Segment::row`]: the row is not known yet, as the strand goes on elsewhere; the rest is the site + 1 before it.
pub const PENDING: u32 = 1 << 31;
/// A segment is long from this share of the time so far, as a power of two.
pub const LONG_SHIFT: u32 = 10;

/// A segment of serial code.
#[derive(Debug)]
#[repr(C)]
pub struct Segment {
    /// Cycle counter at its begin.
    pub from: Cell<u64>,
    /// At its end.
    pub to: Cell<u64>,
    /// The context that was charged, or [`PENDING`] and what is known.
    pub row: Cell<u32>,
    /// The kernel's id of the thread.
    pub tid: Cell<u32>,
}

/// Those of a thread.
#[derive(Debug)]
#[repr(C, align(4096))]
pub struct ThreadSegments {
    /// Segments written to `recent` so far.
    pub recent_written: Cell<u64>,
    /// Segments written to `long` so far.
    pub long_written: Cell<u64>,
    /// Segment `i` is at `i % RING`.
    pub recent: [Segment; RING],
    /// The same of long ones.
    pub long: [Segment; RING],
}
