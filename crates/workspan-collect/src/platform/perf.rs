//! Linux: counters of events, `perf_event_open`.

use core::ffi::{c_int, c_long, c_void};
use core::ptr::{self, NonNull};

use super::kernel::{close, read};

extern "C" {
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn mmap(at: *mut c_void, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn syscall(number: c_long, ...) -> c_long;
    fn __errno_location() -> *mut c_int;
}

#[cfg(target_arch = "x86_64")]
const SYS_PERF_EVENT_OPEN: c_long = 298;
#[cfg(not(target_arch = "x86_64"))]
const SYS_PERF_EVENT_OPEN: c_long = 241;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: c_long = 8;
const F_DUPFD_CLOEXEC: c_int = 1030;
const PROT_READ: c_int = 1;
const MAP_SHARED: c_int = 1;

/// Size of a counter's page.
pub const PAGE: usize = 4096;
/// Size of what the kernel reads (`PERF_ATTR_SIZE_VER5`), in words.
pub const WORDS: usize = 14;

/// Opens a counter of the calling thread, in the group of `leader` unless that is -1. An error is the system's number.
pub fn open(attributes: &mut [u64; WORDS], leader: i32) -> Result<i32, u32> {
    let this_thread: c_long = 0;
    let any_processor: c_long = -1;
    // SAFETY: the kernel reads as many bytes as the structure says that it has, which is the array's size, and writes nothing
    // unless it refuses that size, and then only there. All other arguments are numbers.
    let fd = unsafe {
        let at = attributes.as_mut_ptr();
        syscall(SYS_PERF_EVENT_OPEN, at, this_thread, any_processor, c_long::from(leader), CLOSE_ON_EXEC)
    };
    if fd < 0 {
        // SAFETY: always succeeds.
        let errno = unsafe { __errno_location() };
        // SAFETY: it is the address of the calling thread's own `errno`.
        return Err(unsafe { *errno } as u32);
    }
    Ok(out_of_the_way(fd as i32))
}

/// A number that a program which closes what it has not opened, and goes on to open files, does not come by soon.
fn out_of_the_way(fd: i32) -> i32 {
    const FIRST: c_int = 700;
    // SAFETY: `fd` was opened here; the copy is a file descriptor of its own.
    let high = unsafe { fcntl(fd, F_DUPFD_CLOEXEC, FIRST) };
    if high < 0 {
        return fd;
    }
    shut(fd);
    high
}

/// Closes a counter; one whose page is mapped goes on.
pub fn shut(fd: i32) {
    // SAFETY: callers close what they have opened, once.
    unsafe { close(fd) };
}

/// The page of a counter.
pub fn map(fd: i32) -> Option<NonNull<u8>> {
    // SAFETY: requests a fresh mapping at an address of the kernel's choice.
    let at = unsafe { mmap(ptr::null_mut(), PAGE, PROT_READ, MAP_SHARED, fd, 0) };
    if at as isize == -1 {
        None
    } else {
        NonNull::new(at.cast())
    }
}

/// The page of a counter that samples, and `pages` of samples behind it, of which the kernel overwrites the oldest.
pub fn map_ring(fd: i32, pages: usize) -> Option<NonNull<u8>> {
    // SAFETY: requests a fresh mapping at an address of the kernel's choice.
    let at = unsafe { mmap(ptr::null_mut(), (1 + pages) * PAGE, PROT_READ, MAP_SHARED, fd, 0) };
    if at as isize == -1 {
        None
    } else {
        NonNull::new(at.cast())
    }
}

/// Reads a group. True if it has filled all of `words`.
pub fn read_group(fd: i32, words: &mut [u64]) -> bool {
    let length = core::mem::size_of_val(words);
    // SAFETY: the buffer is valid for its length.
    let got = unsafe { read(fd, words.as_mut_ptr().cast(), length) };
    got == length as isize
}
