//! Ticks of the cycle counter, and the kernel's nanoseconds.

use core::sync::atomic::Ordering;

use super::shared::Shared;
use workspan_wire::shm::Thread;

/// Nanoseconds of the kernel in ticks.
pub fn ticks_of(thread: &Thread, nanos: u64) -> i64 {
    let per_second = Shared::of(thread).header().config.ticks_per_second.load(Ordering::Relaxed);
    (u128::from(nanos) * u128::from(per_second) / 1_000_000_000) as i64
}

/// Ticks in the kernel's nanoseconds.
pub fn nanos_of(thread: &Thread, ticks: u64) -> u64 {
    let per_second = Shared::of(thread).header().config.ticks_per_second.load(Ordering::Relaxed).max(1);
    (u128::from(ticks) * 1_000_000_000 / u128::from(per_second)) as u64
}
