//! Libraries that carry messages between processes: MPI, and what it stands on. Their locks order nothing of the program's: what a
//! process learns of another is in the messages. Some of them come into calls of the C library (libucm watches `mmap` and
//! `sbrk`), so that they lock outside of MPI's functions, too.
//!
//! **Cost:** a load where none of them is linked; else a comparison for each.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::c;

/// How their files' names begin.
const NAMES: [&[u8]; 12] = [
    b"libmpi.",
    b"libmpi_",
    b"libmpich",
    b"libopen-pal",
    b"libopen-rte",
    b"libpmi",
    b"libucm",
    b"libucp",
    b"libucs",
    b"libuct",
    b"libfabric",
    b"libprrte",
];

const MOST: usize = 16;
/// First address of each, and the one after its last.
static OWN: [[AtomicUsize; 2]; MOST] = [const { [const { AtomicUsize::new(0) }; 2] }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// True if an address is in one of them.
#[inline]
pub fn owns(address: usize) -> bool {
    OWN[..COUNT.load(Relaxed).min(MOST)]
        .iter()
        .any(|[first, end]| (first.load(Relaxed)..end.load(Relaxed)).contains(&address))
}

/// Finds those that are loaded with the program.
pub fn find() {
    // SAFETY: the function below takes what it is given.
    unsafe { c::dl_iterate_phdr(object, null_mut()) };
}

/// # Safety
/// The loader calls it, with a description of an object.
unsafe extern "C" fn object(info: *mut c::ObjectInfo, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: valid during the call.
    let info = unsafe { &*info };
    let number = COUNT.load(Relaxed);
    if number < MOST && info.is_named(&NAMES) {
        let (first, end) = info.extent();
        OWN[number][0].store(first, Relaxed);
        OWN[number][1].store(end, Relaxed);
        COUNT.store(number + 1, Relaxed);
    }
    0
}
