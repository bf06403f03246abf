//! What libomp does not do for a team of one that gcc has compiled: an iteration that waits for another one.
//!
//! Teams of one have no table of iterations, and libomp's entry point for gcc looks into it all the same: the program crashes. There is nothing to
//! wait for, since one thread runs the iterations in order.

use core::ffi::{c_int, c_void};
use core::mem;

use workspan_collect::interposed::Original;

#[cfg(not(idle_only))]
use super::doacross;
#[cfg(not(idle_only))]
use super::noted::{note, Entry};

static NUM_THREADS: Original = Original::new(c"omp_get_num_threads");

/// What takes the place of a wait for the iteration of these values that returns to `after`.
pub(super) fn gcc_wait(values: [u64; 6], after: u64, original: &Original) -> *const c_void {
    #[cfg(not(idle_only))]
    let entry = Entry { body: after.wrapping_sub(1) as *const c_void, ..Entry::NONE };
    if !is_alone() {
        #[cfg(not(idle_only))]
        note(entry);
        return original.get();
    }
    #[cfg(not(idle_only))]
    {
        // More loops than these have no order.
        doacross::wait(values.map(u64::cast_signed).as_ptr(), entry, || ());
    }
    #[cfg(idle_only)]
    let _ = (values, after);
    nothing as *const c_void
}

extern "C" fn nothing() {}

fn is_alone() -> bool {
    let original = NUM_THREADS.get();
    if original.is_null() {
        return false;
    }
    // SAFETY: the runtime's function, which has this type.
    let function = unsafe { mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(original) };
    function() == 1
}
