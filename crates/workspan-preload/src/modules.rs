//! Which module a piece of code belongs to: the program, the collector, or a runtime that is followed by other means.

use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::platform;

/// Load address of the OpenMP runtime.
static RUNTIME: AtomicU64 = AtomicU64::new(0);
/// First address behind the OpenMP runtime; 0 without one.
static RUNTIME_END: AtomicU64 = AtomicU64::new(0);
/// Load address of a runtime that does not report its workers itself.
static POOL: AtomicU64 = AtomicU64::new(0);

/// `address` lies in the OpenMP runtime.
pub fn leave_alone(address: u64) {
    if let Some(module) = platform::module_of(address) {
        RUNTIME.store(module.base, Ordering::Relaxed);
        RUNTIME_END.store(module.end, Ordering::Relaxed);
    }
}

/// Threads that begin in the module that is loaded at `base` are workers.
pub fn are_workers(base: u64) {
    POOL.store(base, Ordering::Relaxed);
}

/// True if code at `address` is a runtime's that is followed by other means, or lies in the module of `own`.
#[cfg(target_arch = "x86_64")]
pub fn is_runtime(address: u64, own: u64) -> bool {
    let Some(module) = platform::module_of(address) else { return false };
    let bases = [RUNTIME.load(Ordering::Relaxed), POOL.load(Ordering::Relaxed)];
    // An executable may lie at 0.
    bases.iter().any(|base| *base != 0 && *base == module.base)
        || platform::module_of(own).is_some_and(|own| own.base == module.base)
}

/// True if code at `address` is the OpenMP runtime's: two comparisons.
pub fn of_the_runtime(address: u64) -> bool {
    (RUNTIME.load(Ordering::Relaxed)..RUNTIME_END.load(Ordering::Relaxed)).contains(&address)
}

/// True if code at `address` is that of a pool's workers.
pub fn is_workers(address: u64) -> bool {
    let base = POOL.load(Ordering::Relaxed);
    base != 0 && platform::module_of(address).is_some_and(|module| module.base == base)
}
