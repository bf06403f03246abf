//! Allocations: `malloc` and its kin. `new` of C++, Rust's `System` and Fortran's `allocate` come here, too.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering::AcqRel};

use workspan_trace::control::Kind;

use crate::event::{wanted, write};
use crate::platform::thread;
use crate::{c, original};

/// Tickets of all allocations and releases: memory that is used again was released before.
static TICKETS: AtomicU64 = AtomicU64::new(0);

fn ticket() -> u64 {
    TICKETS.fetch_add(1, AcqRel)
}

/// Notes an allocation that has been made.
pub fn allocated(pointer: *mut c_void, size: usize) {
    if !pointer.is_null() && wanted() {
        write(Kind::Allocate, [pointer as u64, size as u64, ticket()]);
    }
}

/// Notes a release that is about to be made.
pub fn released(pointer: *mut c_void) {
    if !pointer.is_null() && wanted() {
        write(Kind::Free, [pointer as u64, ticket()]);
    }
}

/// True while a function is looked up: what the loader allocates meanwhile comes from the C library.
fn busy() -> bool {
    thread().busy.get()
}

/// Allocates.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn malloc(size: usize) -> *mut c_void {
    if busy() {
        // SAFETY: as the original.
        return unsafe { c::__libc_malloc(size) };
    }
    let pointer = original!(c"malloc", fn(usize) -> *mut c_void, size);
    allocated(pointer, size);
    pointer
}

/// Allocates zeros.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn calloc(count: usize, size: usize) -> *mut c_void {
    if busy() {
        // SAFETY: as the original.
        return unsafe { c::__libc_calloc(count, size) };
    }
    let pointer = original!(c"calloc", fn(usize, usize) -> *mut c_void, count, size);
    allocated(pointer, count.wrapping_mul(size));
    pointer
}

/// Makes an allocation larger or smaller.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn realloc(former: *mut c_void, size: usize) -> *mut c_void {
    if busy() {
        // SAFETY: as the original.
        return unsafe { c::__libc_realloc(former, size) };
    }
    released(former);
    let pointer = original!(c"realloc", fn(*mut c_void, usize) -> *mut c_void, former, size);
    allocated(pointer, size);
    pointer
}

/// Releases.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn free(pointer: *mut c_void) {
    if busy() {
        // SAFETY: as the original.
        return unsafe { c::__libc_free(pointer) };
    }
    released(pointer);
    original!(c"free", fn(*mut c_void) -> (), pointer);
}

/// Allocates at a multiple of `align`.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    let pointer = original!(c"aligned_alloc", fn(usize, usize) -> *mut c_void, align, size);
    allocated(pointer, size);
    pointer
}

/// Allocates at a multiple of `align`.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn memalign(align: usize, size: usize) -> *mut c_void {
    if busy() {
        // SAFETY: as the original.
        return unsafe { c::__libc_memalign(align, size) };
    }
    let pointer = original!(c"memalign", fn(usize, usize) -> *mut c_void, align, size);
    allocated(pointer, size);
    pointer
}

/// Allocates at a multiple of `align`.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn posix_memalign(to: *mut *mut c_void, align: usize, size: usize) -> c_int {
    let result = original!(c"posix_memalign", fn(*mut *mut c_void, usize, usize) -> c_int, to, align, size);
    if result == 0 {
        // SAFETY: the original has written it.
        allocated(unsafe { *to }, size);
    }
    result
}
