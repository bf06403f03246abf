//! A status: where a message came from.
//!
//! Open MPI has source, tag, error, whether it was cancelled, and the bytes; MPICH has the bytes first, in two words, the second of which
//! has in its lowest bit whether it was cancelled.

use core::ffi::c_void;

use crate::library::{library, Library};

/// What a status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Rank in the communicator.
    pub source: i32,
    /// Tag.
    pub tag: i32,
    /// Bytes of the message.
    pub bytes: u64,
    /// There is no message.
    pub cancelled: bool,
}

/// A place for a status, or an array of them.
pub type Statuses = *mut c_void;

/// Bytes of one.
pub fn size() -> usize {
    match library() {
        Library::OpenMpi => 24,
        Library::Mpich => 20,
    }
}

/// Room for a status of any library.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct Room([u64; 4]);

impl Room {
    /// Empty.
    pub const fn new() -> Room {
        Room([0; 4])
    }

    /// As the place of a status.
    pub fn place(&mut self) -> Statuses {
        self.0.as_mut_ptr().cast()
    }
}

/// True if the program wants none.
pub fn is_ignored(place: Statuses) -> bool {
    place as usize == library().no_status()
}

/// Reads one of an array.
pub fn read(place: Statuses, index: usize) -> Status {
    let word = |number: usize| {
        let place = place.cast::<u8>().wrapping_add(index * size()).cast::<u32>().wrapping_add(number);
        // SAFETY: the library has filled it in.
        unsafe { place.read_unaligned() }
    };
    let signed = |number: usize| word(number).cast_signed();
    match library() {
        Library::OpenMpi => Status {
            source: signed(0),
            tag: signed(1),
            bytes: u64::from(word(4)) | u64::from(word(5)) << 32,
            cancelled: word(3) != 0,
        },
        Library::Mpich => Status {
            source: signed(2),
            tag: signed(3),
            bytes: u64::from(word(0)) | u64::from(word(1) >> 1) << 32,
            cancelled: word(1) & 1 != 0,
        },
    }
}
