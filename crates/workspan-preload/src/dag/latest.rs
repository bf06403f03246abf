//! Where ends are gathered that somebody waits for: the latest of them.

use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use workspan_wire::shm::{Candidate, Latest};

/// Nothing has ended yet.
pub const fn none() -> Latest {
    Latest {
        candidate: Candidate { span: AtomicI64::new(i64::MIN), path: AtomicU64::new(0) },
        uniform: AtomicI64::new(i64::MIN),
        burdened: AtomicI64::new(i64::MIN),
    }
}

/// Span and path of `latest`; the path stays where it is.
pub fn seen(latest: &Latest) -> (i64, u32) {
    let candidate = &latest.candidate;
    (candidate.span.load(Ordering::Acquire), candidate.path.load(Ordering::Acquire) as u32)
}

/// Span and path of `latest`, the path now the caller's. Nobody offers at the same time.
pub fn taken(latest: &Latest) -> (i64, u32) {
    let taken = seen(latest);
    latest.candidate.path.store(0, Ordering::Relaxed);
    latest.candidate.span.store(i64::MIN, Ordering::Relaxed);
    taken
}
