//! OpenMP's functions that say how many threads there are, defined here first: each notes the question, and gives the runtime's answer.
//!
//! Where the program uses the runtime for the first time by one of them, what that takes is nobody's work ([`super::first_use`]).
//!
//! **Bias:** `omp_get_num_threads` is not looked at, since gcc puts calls of it into static loops.

use core::ffi::c_int;
use core::mem;

use workspan_collect::asked;
use workspan_collect::interposed::Original;
use workspan_collect::thread;
use workspan_wire::shm::Asked;

use super::first_use;

static MAX_THREADS: Original = Original::new(c"omp_get_max_threads");
static NUM_PROCS: Original = Original::new(c"omp_get_num_procs");

/// The runtime's function without arguments; nothing if there is no runtime, and so one thread.
pub(super) fn of_runtime(original: &Original) -> Option<extern "C" fn() -> c_int> {
    let original = original.get();
    // SAFETY: the runtime's functions that are looked up here have this type.
    let function = || unsafe { mem::transmute::<*mut core::ffi::c_void, extern "C" fn() -> c_int>(original) };
    (!original.is_null()).then(function)
}

fn ask(original: &Original, function: Asked) -> c_int {
    let Some(original) = of_runtime(original) else { return 1 };
    first_use::begins();
    let answer = original();
    if let Some(thread) = thread::current() {
        first_use::ends(thread);
    }
    asked::note(function, usize::try_from(answer).unwrap_or(0));
    answer
}

/// Members of the next team.
#[no_mangle]
extern "C" fn omp_get_max_threads() -> c_int {
    ask(&MAX_THREADS, Asked::OmpGetMaxThreads)
}

/// The same, as Fortran calls it.
#[no_mangle]
extern "C" fn omp_get_max_threads_() -> c_int {
    omp_get_max_threads()
}

/// Processors.
#[no_mangle]
extern "C" fn omp_get_num_procs() -> c_int {
    ask(&NUM_PROCS, Asked::OmpGetNumProcs)
}

/// The same, as Fortran calls it.
#[no_mangle]
extern "C" fn omp_get_num_procs_() -> c_int {
    omp_get_num_procs()
}
