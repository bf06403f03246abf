//! `pthread_barrier_wait`.

use core::ffi::{c_int, c_void};

use super::shim::{entry, original};
use super::wait::{self, Ended};
use crate::tbb::site::Called;

type Plain = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// Where glibc has the number of threads that meet, in words of 32 bits (since 2.25).
const COUNT: usize = 2;

entry!(pthread_barrier_wait, "rsi", barrier_wait);
unsafe extern "C-unwind" fn barrier_wait(barrier: *mut c_void, called: Called) -> c_int {
    let own = original!(c"pthread_barrier_wait" as Plain);
    // SAFETY: a barrier of the caller's, which has been initialised; so below.
    let size = unsafe { barrier.cast::<u32>().add(COUNT) };
    // SAFETY: within it.
    let size = unsafe { size.read() };
    let waiting = wait::arrive(called, barrier as u64, size as usize);
    // SAFETY: the caller's own.
    let answer = unsafe { own(barrier) };
    if let Some(waiting) = waiting {
        waiting.end(Ended::AtOnce);
    }
    answer
}
