//! Who waited for whom, by what threads run.

use core::sync::atomic::{AtomicI64, AtomicU64};

/// Most pairs of what threads run that wait for each other.
pub const MAX_WAIT_EDGES: usize = if cfg!(miri) { 8 } else { 1024 };
/// In a [`WaitEdge`]: the thread that runs `main`.
pub const WAIT_MAIN: u32 = 1;
/// The outside world.
pub const WAIT_OUTSIDE: u32 = 2;
/// A thread of the first site; of others as much more as their number.
pub const WAIT_SITES: u32 = 16;

/// Who waited for whom, by what threads run.
#[derive(Debug)]
#[repr(C)]
pub struct WaitEdge {
    /// Upper half: the waiting threads; lower half: who ended the waits. 0: none.
    pub key: AtomicU64,
    /// Waits.
    pub count: AtomicU64,
    /// Ticks that they took.
    pub waited: AtomicI64,
    /// Of these, for locks.
    pub locked: AtomicI64,
    /// Ticks of these waits in which others waited for those who wait here.
    pub passed_on: AtomicI64,
}
