//! The executable and its libraries as the loader describes them: where each lies, and its dynamic section.

use core::ffi::{c_int, c_void};
use core::ptr;

use super::kernel::{dl_iterate_phdr, madvise, ErrnoGuard, ObjectInfo, ProgramHeader};

/// A file of code in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Object {
    /// Load address.
    pub base: u64,
    /// First address behind it.
    pub end: u64,
    /// Address of its dynamic section; 0 if it has none.
    pub dynamic: u64,
}

/// Brings code that is at most `reach` bytes from `address`, in the same object, into the page tables, without reading a disk more than
/// running it would.
/// Kernels before 5.14 refuse, and nothing is lost.
pub fn populate_code(address: u64, reach: u64) {
    const LOAD: u32 = 1;
    const EXECUTABLE: u32 = 1;
    const POPULATE_READ: c_int = 22;
    const PAGE: u64 = 4096;
    extern "C" fn look(info: *const ObjectInfo, _size: usize, data: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description.
        let info = unsafe { &*info };
        // SAFETY: what is passed below, which outlives the call.
        let (address, reach) = unsafe { *data.cast::<(u64, u64)>() };
        // SAFETY: the loader gives an array of that many headers.
        let headers = unsafe { core::slice::from_raw_parts(info.headers, usize::from(info.header_count)) };
        let start = |h: &ProgramHeader| info.base.wrapping_add(h.address);
        let loaded = || headers.iter().filter(|h| h.kind == LOAD);
        if !loaded().any(|h| address.wrapping_sub(start(h)) < h.memory_size) {
            return 0;
        }
        for header in loaded().filter(|h| h.flags & EXECUTABLE != 0) {
            let first = start(header).max(address.saturating_sub(reach)) & !(PAGE - 1);
            let end = (start(header) + header.memory_size).min(address.saturating_add(reach));
            if first < end {
                // SAFETY: pages of the object, which stay as they are.
                unsafe { madvise(first as *mut c_void, (end - first) as usize, POPULATE_READ) };
            }
        }
        1
    }
    let _errno = ErrnoGuard::new();
    let place = (address, reach);
    // SAFETY: `look` matches the expected signature.
    unsafe { dl_iterate_phdr(look, ptr::from_ref(&place).cast_mut().cast()) };
}

/// Fills `objects` from the front, in the order in which they were loaded. Returns how many there are in it.
pub fn objects(objects: &mut [Object]) -> usize {
    const LOAD: u32 = 1;
    const DYNAMIC: u32 = 2;
    struct Filled<'a> {
        objects: &'a mut [Object],
        count: usize,
    }
    extern "C" fn look(info: *const ObjectInfo, _size: usize, data: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description.
        let info = unsafe { &*info };
        // SAFETY: `data` is the `Filled` below, which nobody else uses meanwhile.
        let filled = unsafe { &mut *data.cast::<Filled<'_>>() };
        let Some(object) = filled.objects.get_mut(filled.count) else { return 1 };
        // SAFETY: the loader gives an array of that many headers.
        let headers = unsafe { core::slice::from_raw_parts(info.headers, usize::from(info.header_count)) };
        let ends = headers.iter().filter(|h| h.kind == LOAD).map(|h| info.base.wrapping_add(h.address + h.memory_size));
        let dynamic = headers.iter().find(|h| h.kind == DYNAMIC).map(|h| info.base.wrapping_add(h.address));
        *object = Object { base: info.base, end: ends.max().unwrap_or(info.base), dynamic: dynamic.unwrap_or(0) };
        filled.count += 1;
        0
    }
    let mut filled = Filled { objects, count: 0 };
    // SAFETY: `look` matches the expected signature and `filled` outlives the call.
    unsafe { dl_iterate_phdr(look, ptr::addr_of_mut!(filled).cast()) };
    filled.count
}
