//! Beginning and end: which rank this is, and of which run.

use core::ffi::{c_int, c_void};

use workspan_trace::control::Kind;

use crate::communicators::{add, Roles};
use crate::groups::Of;
use crate::handles::Handle;
use crate::library::library;
use crate::sink::{event, now, pause};
use crate::{communicators, define, own};

extern "C" {
    fn __cxa_atexit(function: extern "C" fn(*mut c_void), argument: *mut c_void, object: *mut c_void) -> c_int;
}

/// The process ends, and handlers that were registered before follow.
extern "C" fn ending(_: *mut c_void) {
    pause(true);
}

const SLOT: u64 = (1 << 48) - 1;

/// After the library has started: all ranks agree on a number of the run, and leave a barrier at about the same time.
fn begun(before: u64) {
    let world = library().world();
    let (mut rank, mut size): (c_int, c_int) = (0, 0);
    own!(PMPI_Comm_rank(world => Handle, &raw mut rank => *mut c_int));
    own!(PMPI_Comm_size(world => Handle, &raw mut size => *mut c_int));
    let mut run = new_run();
    let place: *mut c_void = (&raw mut run).cast();
    own!(PMPI_Bcast(place => *mut c_void, 8 => c_int, library().byte() => Handle, 0 => c_int, world => Handle));
    own!(PMPI_Barrier(world => Handle));
    let at = now();
    let number = |value: c_int| u64::try_from(value).unwrap_or(0);
    event(Kind::Rank, [number(rank), number(size), run & SLOT, at, library() as u64]);
    let world = add(world, Of::Communicator);
    add(library().own(), Of::Communicator);
    world.collective((before, at), world.next(), Roles::ALL);
}

/// A number that no other run has.
fn new_run() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = since.map_or(0, |time| u64::from(time.subsec_nanos()) ^ time.as_secs() << 30);
    (nanos ^ u64::from(std::process::id()) << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8 | 1
}

define! {
    /// Begins.
    MPI_Init PMPI_Init(count: *mut c_int, arguments: *mut c_void) |call| {
        let before = now();
        let result = call(count, arguments);
        if result == 0 {
            begun(before);
        }
        result
    }

    /// Begins.
    MPI_Init_thread PMPI_Init_thread(count: *mut c_int, arguments: *mut c_void, required: c_int, provided: *mut c_int) |call| {
        let before = now();
        let result = call(count, arguments, required, provided);
        if result == 0 {
            begun(before);
        }
        result
    }

    /// Ends.
    MPI_Finalize PMPI_Finalize() |call| {
        let world = communicators::communicator(library().world());
        let (before, sequence) = (now(), world.next());
        let result = call();
        if result == 0 {
            world.collective((before, now()), sequence, Roles::ALL);
            // What the library's destructors do after `main` is its own business.
            // SAFETY: registers a function that lasts.
            unsafe { __cxa_atexit(ending, core::ptr::null_mut(), core::ptr::null_mut()) };
        }
        result
    }
}
