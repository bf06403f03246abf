//! Handles as words. MPICH's have 4 bytes, Open MPI's are pointers.

use core::ffi::c_void;

use crate::library::{library, Library};

/// A handle as an argument: of MPICH the upper half has no meaning.
pub type Handle = usize;
/// A place for a handle, or an array of them.
pub type Handles = *mut c_void;

/// A handle whose bits all have a meaning.
pub fn plain(handle: Handle) -> usize {
    match library() {
        Library::OpenMpi => handle,
        Library::Mpich => handle & 0xffff_ffff,
    }
}

/// One of an array of handles.
pub fn at(handles: Handles, index: usize) -> usize {
    match library() {
        Library::OpenMpi => {
            let place = handles.cast::<usize>().wrapping_add(index);
            // SAFETY: the program's array has this many.
            unsafe { place.read() }
        }
        Library::Mpich => {
            let place = handles.cast::<u32>().wrapping_add(index);
            // SAFETY: as above.
            let handle = unsafe { place.read() };
            handle as usize
        }
    }
}

/// The handle at a place.
pub fn first(place: Handles) -> usize {
    at(place, 0)
}
