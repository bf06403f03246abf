//! Processors without a file of their own, and the interpreter Miri. **Untested** outside Miri.

use core::sync::atomic::{AtomicBool, Ordering};
use workspan_wire::shm::Candidate;

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline(always)]
pub fn ticks() -> u64 {
    super::monotonic_nanos()
}

/// The kernel's clock is steady.
pub fn steady_counter() -> bool {
    true
}

/// Counters of events are read by the kernel alone.
#[inline]
pub fn event_counter(_number: u32) -> Option<u64> {
    None
}

/// No witness of interrupts.
pub mod interrupt_witness {
    /// Does nothing.
    #[inline]
    pub fn arm() {}

    /// Always true.
    #[inline]
    pub fn intact() -> bool {
        true
    }

    /// Always false.
    pub fn works(_fault: impl FnOnce()) -> bool {
        false
    }
}

static PAIR: AtomicBool = AtomicBool::new(false);

/// If `at` holds `old`, stores `new`; otherwise returns what it holds. Guarded by a spin lock held for four accesses.
pub fn exchange_pair(at: &Candidate, old: (i64, u64), new: (i64, u64)) -> Result<(), (i64, u64)> {
    while PAIR.swap(true, Ordering::Acquire) {
        core::hint::spin_loop();
    }
    let found = (at.span.load(Ordering::Relaxed), at.path.load(Ordering::Relaxed));
    let result = if found == old {
        at.path.store(new.1, Ordering::Release);
        at.span.store(new.0, Ordering::Release);
        Ok(())
    } else {
        Err(found)
    };
    PAIR.store(false, Ordering::Release);
    result
}
