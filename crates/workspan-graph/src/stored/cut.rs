//! How many accesses were too long to be replayed whole ([`crate::bounds`]).

use std::sync::atomic::{AtomicU64, Ordering};

/// Accesses that were cut, since the recording was opened.
#[derive(Debug, Default)]
pub struct Cut(AtomicU64);

impl Cut {
    /// How many there are: once for each replay.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// One more.
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
