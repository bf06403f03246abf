//! Waits for another thread that is in the middle of a few dozen instructions: for nanoseconds, unless it has lost its processor there.
//!
//! **Invariant:** nobody waits without bound: who gives up does without, which the caller counts
//! ([`Header::unfollowed`](workspan_wire::shm::Header::unfollowed)).

use workspan_collect::platform;

/// Half a second.
pub const HALF_A_SECOND: u64 = 500_000_000;
/// Two: a busy machine may keep a thread from its processor for long.
pub const TWO_SECONDS: u64 = 2_000_000_000;
/// For those who come after somebody has waited in vain.
pub const BRIEF: u64 = 2_000_000;

const NAP_NANOS: u64 = 20_000;

/// True as soon as `is_true` is; false if it is not after `nanos` nanoseconds.
#[cold]
pub fn patiently(nanos: u64, mut is_true: impl FnMut() -> bool) -> bool {
    const SPINS: u32 = 1_000;
    for _ in 0..SPINS {
        if is_true() {
            return true;
        }
        core::hint::spin_loop();
    }
    in_naps(nanos, is_true)
}

/// The same after naps alone.
pub fn in_naps(nanos: u64, mut is_true: impl FnMut() -> bool) -> bool {
    let until = platform::monotonic_nanos() + if cfg!(miri) { 1_000 } else { nanos };
    while platform::monotonic_nanos() < until {
        // The other thread may need this one's processor.
        platform::sleep_nanos(NAP_NANOS);
        if is_true() {
            return true;
        }
    }
    false
}
