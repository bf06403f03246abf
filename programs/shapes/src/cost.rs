//! What a unit costs: a tick of the virtual clock, or this number of nanoseconds of CPU time.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds of CPU time per unit; 0 for the virtual clock.
static UNIT: AtomicU64 = AtomicU64::new(0);

/// From now on a unit is this number of nanoseconds of CPU time.
pub fn in_nanos(nanos: &str) {
    UNIT.store(nanos.parse().expect("a number of nanoseconds"), Ordering::Relaxed);
    // The pool, and the code that spins, are warm when the program begins.
    rayon::join(|| cost(1), || cost(1));
}

/// Takes `units` of CPU time, or ticks as often.
pub fn cost(units: u64) {
    let unit = UNIT.load(Ordering::Relaxed);
    if unit == 0 {
        workspan_probe::tick(units);
    } else {
        spin(units * unit);
    }
}

/// Computes until the thread has used this number of nanoseconds of CPU time.
fn spin(nanos: u64) {
    let end = cpu() + nanos;
    thread_local!(static X: Cell<u64> = const { Cell::new(1) });
    while cpu() < end {
        for _ in 0..200 {
            X.with(|x| x.set(x.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)));
        }
    }
}

/// CPU time of this thread, in nanoseconds.
fn cpu() -> u64 {
    extern "C" {
        fn clock_gettime(clock: i32, at: *mut [i64; 2]) -> i32;
    }
    let mut at = [0i64; 2];
    // SAFETY: `at` has the layout of `struct timespec`; 3 is CLOCK_THREAD_CPUTIME_ID.
    unsafe { clock_gettime(3, &mut at) };
    at[0] as u64 * 1_000_000_000 + at[1] as u64
}
