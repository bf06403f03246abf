//! Systems other than Linux, and the interpreter Miri: nothing is shared, so the collector stays asleep there; its
//! own tests run on private memory with the virtual clock.

use core::ffi::{c_char, c_void, CStr};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use std::alloc::{GlobalAlloc, Layout, System};

use super::{Transfers, Usage};

/// Would keep the program's `errno`.
#[derive(Debug)]
pub struct ErrnoGuard;

impl ErrnoGuard {
    /// Does nothing.
    pub fn new() -> ErrnoGuard {
        ErrnoGuard
    }
}

/// Later than any tick that a test makes up for something that has been.
static NOW: AtomicU64 = AtomicU64::new(1 << 32);

/// A counter that moves with every look.
pub fn monotonic_nanos() -> u64 {
    NOW.fetch_add(1, Ordering::Relaxed)
}

/// No CPU clock.
pub fn thread_cpu_nanos() -> u64 {
    0
}

/// No clock.
pub fn process_cpu_nanos() -> u64 {
    0
}

/// No counters.
pub fn thread_usage() -> Usage {
    Usage::default()
}

/// Not counted.
pub fn transfers() -> Option<Transfers> {
    None
}

/// Nobody says which there are.
pub fn processors_length() -> u64 {
    0
}

/// Not counted.
pub fn run_delay_nanos() -> Option<u64> {
    None
}

/// Nobody says so.
pub fn is_runnable(_tid: u32) -> bool {
    false
}

/// No process.
pub fn process_id() -> u32 {
    1
}

/// No thread id.
pub fn thread_id() -> u32 {
    1
}

/// No environment.
pub fn environment(_name: &[u8]) -> Option<NonNull<c_char>> {
    None
}

/// No shared memory.
pub fn map_shared(_path: NonNull<c_char>, _length: usize) -> Option<NonNull<u8>> {
    None
}

/// No shared memory, hence none to part from.
///
/// # Safety
///
/// None is needed.
pub unsafe fn map_apart(_path: NonNull<c_char>, _base: NonNull<u8>, _length: usize) -> bool {
    false
}

/// Zeros, for ever.
pub fn map_private(length: usize, _at_hand: bool) -> Option<NonNull<u8>> {
    const PAGE: usize = 4096;
    let layout = Layout::from_size_align(length.max(1), PAGE).ok()?;
    // SAFETY: the layout has a size above zero.
    NonNull::new(unsafe { System.alloc_zeroed(layout) })
}

/// No libraries.
pub fn library_function(_path: NonNull<c_char>, _name: &CStr) -> Option<NonNull<c_void>> {
    None
}

/// Does nothing.
///
/// # Safety
///
/// None is needed.
pub unsafe fn unmap(_address: usize, _length: usize) {}

/// Does nothing.
pub fn populate(_at: u64, _bytes: u64) {}

/// Does not sleep.
pub fn sleep_nanos(_nanos: u64) {}

/// Does nothing.
pub fn on_fork(_parent: extern "C" fn(), _child: extern "C" fn()) {}

/// Unknown.
pub fn load_base() -> u64 {
    0
}

/// The file of code in which an address lies: not known here.
pub fn module_of(_address: u64) -> Option<super::Module<'static>> {
    None
}

/// Path of the file that this process runs: not known here.
pub fn executable(_room: &mut [u8; super::MOST_PATH]) -> &[u8] {
    &[]
}

/// The path of a file of code: not known here.
pub fn path_of_module(_number: usize, _room: &mut [u8; super::MOST_PATH]) -> Option<&core::ffi::CStr> {
    None
}
