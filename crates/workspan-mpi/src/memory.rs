//! Memory that a call reads or writes, as accesses.

use core::ffi::{c_int, c_void};

use workspan_trace::control::Kind;

use crate::handles::Handle;
use crate::library::library;
use crate::{own, sink};

/// Bytes of the program's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The first.
    pub address: u64,
    /// How many.
    pub count: u64,
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// From the program's memory.
    Read = 0,
    /// Into it.
    Write = 1,
}

/// How a datatype lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of data.
    pub size: u64,
    /// From one element to the next.
    pub extent: isize,
    /// From an element's address to its first byte.
    pub first: i64,
    /// From its first byte to its last.
    pub length: u64,
}

/// The shape of a datatype.
pub fn shape(kind: Handle) -> Shape {
    let (mut size, mut low, mut extent): (c_int, isize, isize) = (0, 0, 0);
    own!(PMPI_Type_size(kind => Handle, &raw mut size => *mut c_int));
    own!(PMPI_Type_get_extent(kind => Handle, &raw mut low => *mut isize, &raw mut extent => *mut isize));
    let (mut first, mut length): (isize, isize) = (0, 0);
    own!(PMPI_Type_get_true_extent(kind => Handle, &raw mut first => *mut isize, &raw mut length => *mut isize));
    Shape {
        size: u64::try_from(size).unwrap_or(0),
        extent,
        first: first as i64,
        length: u64::try_from(length).unwrap_or(0),
    }
}

/// Elements of a datatype. Data with gaps counts as if it lay together.
pub fn elements(buffer: *const c_void, count: i64, shape: Shape) -> Bytes {
    if buffer as usize == library().in_place() {
        return Bytes::default();
    }
    let address = (buffer as u64).wrapping_add_signed(shape.first);
    Bytes { address, count: u64::try_from(count).unwrap_or(0).wrapping_mul(shape.size) }
}

/// The same, of a datatype's handle.
pub fn data(buffer: *const c_void, count: impl Into<i64>, kind: Handle) -> Bytes {
    elements(buffer, count.into(), shape(kind))
}

/// Elements at a distance in elements: a part of a buffer that several ranks share.
pub fn part(buffer: *const c_void, distance: c_int, count: c_int, shape: Shape) -> Bytes {
    if buffer as usize == library().in_place() {
        return Bytes::default();
    }
    elements(buffer.wrapping_byte_offset(shape.extent.wrapping_mul(distance as isize)), count.into(), shape)
}

/// Notes an access.
pub fn note(bytes: Bytes, mode: Mode) {
    if bytes.count > 0 {
        sink::event(Kind::Transfer, [bytes.address, bytes.count, mode as u64]);
    }
}
