//! What is used of the C library, which is there in any case.

use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::AtomicU32;

unsafe extern "C" {
    fn mmap(addr: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn munmap(addr: *mut c_void, len: usize) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
}

#[cfg(target_arch = "x86_64")]
const FUTEX: c_long = 202;
#[cfg(not(target_arch = "x86_64"))]
const FUTEX: c_long = 98;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanos: i64,
}

/// Maps `len` bytes of a file that several processes share; null if that fails.
pub(crate) fn map_shared(fd: i32, len: usize) -> *mut u8 {
    const READ_WRITE: c_int = 3;
    const SHARED: c_int = 1;
    // SAFETY: a new mapping at a place of the kernel's choice touches no memory that is in use.
    let at = unsafe { mmap(std::ptr::null_mut(), len, READ_WRITE, SHARED, fd, 0) };
    if at.addr() == usize::MAX {
        return std::ptr::null_mut();
    }
    at.cast()
}

/// Removes a mapping.
///
/// # Safety
/// It is one of [`map_shared`] with this length, and nothing refers to it any more.
pub(crate) unsafe fn unmap(at: *mut u8, len: usize) {
    // SAFETY: the caller's.
    unsafe { munmap(at.cast(), len) };
}

/// Sleeps while `word` is `value`, at most this number of milliseconds. May return earlier.
pub(crate) fn wait(word: &AtomicU32, value: u32, millis: i64) {
    const WAIT: c_int = 0;
    let time = Timespec { seconds: millis / 1000, nanos: millis % 1000 * 1_000_000 };
    // SAFETY: both pointers are valid during the call, and the kernel only reads through them.
    unsafe { syscall(FUTEX, word.as_ptr(), WAIT, value, &raw const time, 0usize, 0) };
}

/// Wakes all that wait for `word`.
pub(crate) fn wake(word: &AtomicU32) {
    const WAKE: c_int = 1;
    // SAFETY: the address is only a key.
    unsafe { syscall(FUTEX, word.as_ptr(), WAKE, i32::MAX, 0usize, 0usize, 0) };
}
