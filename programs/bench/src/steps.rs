//! Work of a fixed amount: a chain of dependent multiplications, which no clock is asked about and no memory slows down.

use std::hint::black_box;
use std::time::Instant;

/// Takes `steps` steps.
#[inline(never)]
pub fn run(steps: u64) {
    let mut x = black_box(1u64);
    for _ in 0..steps {
        x = (x ^ (x >> 29)).wrapping_mul(6_364_136_223_846_793_005);
    }
    black_box(x);
}

/// Steps per microsecond: the median, as the processor's speed varies and interruptions are no part of it.
pub fn per_microsecond() -> u64 {
    const STEPS: u64 = 100_000;
    run(5_000_000);
    let mut nanos: Vec<u128> = (0..51)
        .map(|_| {
            let started = Instant::now();
            run(STEPS);
            started.elapsed().as_nanos()
        })
        .collect();
    nanos.sort_unstable();
    STEPS * 1000 / u64::try_from(nanos[25]).expect("a short time").max(1)
}
