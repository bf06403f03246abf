//! The longest chain so far among several that end on any thread: its end and its path.
//!
//! Both change together, by a 128-bit compare and swap, so no lock is needed to keep the pair consistent. A chain that is not
//! longer than the candidate it sees gives up at once; so among `n` that end in random order only about `ln n` swap.
//! Whoever takes what a candidate has is behind all offers: by the runtime's latch, a barrier, or a counter.
//!
//! Modelled with all orders of steps in `crates/workspan-preload/tests/loom`.

use super::path;
use super::platform::exchange_pair;
use super::shared::Shared;
use workspan_wire::shm::Candidate;
use workspan_wire::sync::{AtomicI64, Ordering};

/// Offers a finished chain; the handle is used up. The loser's is released.
pub fn offer(shared: Shared, candidate: &Candidate, span: i64, path: u32) {
    let mut seen = (candidate.span.load(Ordering::Relaxed), candidate.path.load(Ordering::Relaxed));
    // The two loads may belong to different pairs; then the exchange fails and returns a consistent one.
    while span > seen.0 {
        match exchange_pair(candidate, seen, (span, u64::from(path))) {
            Ok(()) => {
                path::release(shared, seen.1 as u32);
                return;
            }
            Err(found) => seen = found,
        }
    }
    path::release(shared, path);
}

/// `to` becomes at least `value`.
#[inline]
pub fn raise(to: &AtomicI64, value: i64) {
    if to.load(Ordering::Relaxed) < value {
        to.fetch_max(value, Ordering::AcqRel);
    }
}
