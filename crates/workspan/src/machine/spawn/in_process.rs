//! Rayon, which is part of this program: `join` in a pool of two threads.

use std::hint::black_box;
use std::time::Instant;

use super::crossing::Sample;
use super::plan::{self, Size};
use super::threshold::Unmeasured;

/// All samples that fit into the time.
pub(super) fn measure() -> Result<Vec<Sample>, Unmeasured> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let pool = pool.map_err(|error| Unmeasured::because(format!("cannot start two threads: {error}")))?;
    Ok(pool.install(samples))
}

fn samples() -> Vec<Sample> {
    let began = Instant::now();
    let sizes = plan::sizes();
    let rounds = (0..plan::ROUNDS).flat_map(|round| sizes.iter().map(move |size| (round, size)));
    let in_time = rounds.take_while(|(round, _)| began.elapsed() < plan::limit(*round));
    in_time
        .map(|(_, size)| Sample {
            iterations: size.iterations,
            forks: size.forks,
            seq_ns: seq(*size),
            p2_ns: p2(*size),
        })
        .collect()
}

fn seq(size: Size) -> u64 {
    let began = Instant::now();
    for _ in 0..size.forks {
        task(size.iterations);
        task(size.iterations);
    }
    nanos_since(began)
}

fn p2(size: Size) -> u64 {
    fork_join(plan::WAKING);
    let began = Instant::now();
    fork_join(size);
    nanos_since(began)
}

fn fork_join(size: Size) {
    for _ in 0..size.forks {
        rayon::join(|| task(size.iterations), || task(size.iterations));
    }
}

/// Four instructions an iteration: or, add, compare, branch. The compiler knows neither value and so keeps the loop; each
/// iteration needs the one before it, so there is nothing to vectorise.
#[inline(never)]
fn task(iterations: u64) {
    let (mask, step) = (black_box(1), black_box(1));
    // (even | 1) + 1 is the next even number.
    let end = iterations.wrapping_mul(2);
    let mut value: u64 = 0;
    while value < end {
        value = (value | mask).wrapping_add(step);
    }
    black_box(value);
}

fn nanos_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
