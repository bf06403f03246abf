//! Who calls: the program, or a runtime that reports its waits itself.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::modules;

/// By address of the call: twice that, and 1 for a runtime's.
static KNOWN: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

/// A runtime has been met: what was known may be wrong.
pub fn forget() {
    KNOWN.iter().for_each(|known| known.store(0, Ordering::Relaxed));
}

/// True if the call that returns to `address` is the collector's, or that of a runtime that is followed by other means.
pub fn is_runtime(address: u64) -> bool {
    let known = &KNOWN[(address >> 2) as usize % KNOWN.len()];
    let seen = known.load(Ordering::Relaxed);
    if seen >> 1 == address {
        return seen & 1 != 0;
    }
    let found = modules::is_runtime(address, is_runtime as *const () as u64);
    known.store(address << 1 | u64::from(found), Ordering::Relaxed);
    found
}
