//! What libomp does not do for a team of one that gcc has compiled: an iteration that waits for another one.
//!
//! Teams of one have no table of iterations, and libomp's entry point for gcc looks into it all the same: the program crashes. There is nothing to
//! wait for, since one thread runs the iterations in order.

use core::ffi::{c_int, c_void};
use core::mem;

use workspan_collect::interposed::Original;

#[cfg(not(idle_only))]
use super::doacross;
use super::interpose::Arguments;
#[cfg(not(idle_only))]
use super::noted::{note, Entry};

static NUM_THREADS: Original = Original::new(c"omp_get_num_threads");

/// Takes the place of a wait for the iteration of these values.
pub(super) fn gcc_wait(arguments: &Arguments, original: &Original) -> *const c_void {
    #[cfg(not(idle_only))]
    let entry = Entry { body: arguments.return_address.wrapping_sub(1) as *const c_void, ..Entry::NONE };
    if !is_alone() {
        #[cfg(not(idle_only))]
        note(entry);
        return original.get();
    }
    #[cfg(not(idle_only))]
    {
        let Arguments { first, second, third, fourth, fifth, sixth, .. } = *arguments;
        let values = [first, second, third, fourth, fifth, sixth].map(u64::cast_signed);
        // More loops than these have no order.
        doacross::wait(values.as_ptr(), entry, || ());
    }
    #[cfg(idle_only)]
    let _ = arguments;
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
