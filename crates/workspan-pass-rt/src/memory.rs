//! Allocations: `malloc` and its kin. Rust's `System` and Fortran's `allocate` come here, too.
//!
//! **Invariant:** what an allocator has given goes back to that one. The next definition need not be the C library's, so nothing here calls
//! that by its own names: while the next one is looked up, which may allocate, memory is [`spare`].

use core::ffi::{c_int, c_void, CStr};
use core::ptr::{copy_nonoverlapping, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::AcqRel};

use workspan_trace::control::Kind;

use crate::event::{wanted, write};
use crate::platform::thread;
use crate::shared::recording;
use crate::{original, spare};

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

/// What `posix_memalign` returns if there is no memory.
const NO_MEMORY: c_int = 12;

/// While it lives, nothing that this thread does is noted: allocators have locks of their own, and `new` calls `malloc`.
#[derive(Debug)]
pub struct Quiet(bool);

impl Quiet {
    /// Begins.
    pub fn begin() -> Quiet {
        Quiet(thread().paused.replace(true))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        thread().paused.set(self.0);
    }
}

/// Looks the next definition of a function up; null while this thread looks one up.
#[cold]
fn look_up(slot: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    if thread().looks_up.get() {
        null_mut()
    } else {
        original::find(slot, name, None)
    }
}

/// What the next definition of a function returns; none while this thread looks one up.
macro_rules! next {
    ($name:literal, fn($($type:ty),*) -> $result:ty, $($argument:expr),*) => {{
        static SLOT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
        original::next(&SLOT, $name, look_up).map(|found| {
            let _quiet = recording().then(Quiet::begin);
            // SAFETY: the function of this name, which has this type.
            let function = unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn($($type),*) -> $result>(found) };
            // SAFETY: with the arguments of the program, which answers for them.
            unsafe { function($($argument),*) }
        })
    }};
}

/// Notes what an allocator gave, or gives spare memory.
fn given(pointer: Option<*mut c_void>, align: usize, size: usize) -> *mut c_void {
    match pointer {
        Some(pointer) => {
            allocated(pointer, size);
            pointer
        }
        None => spare::take(align, size),
    }
}

/// Allocates.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn malloc(size: usize) -> *mut c_void {
    given(next!(c"malloc", fn(usize) -> *mut c_void, size), spare::ALIGN, size)
}

/// Allocates zeros.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn calloc(count: usize, size: usize) -> *mut c_void {
    given(next!(c"calloc", fn(usize, usize) -> *mut c_void, count, size), spare::ALIGN, count.saturating_mul(size))
}

/// Makes an allocation larger or smaller.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn realloc(former: *mut c_void, size: usize) -> *mut c_void {
    let rest = spare::rest(former);
    if rest == 0 {
        released(former);
        return given(next!(c"realloc", fn(*mut c_void, usize) -> *mut c_void, former, size), spare::ALIGN, size);
    }
    // SAFETY: as the original.
    let pointer = unsafe { malloc(size) };
    if !pointer.is_null() {
        // SAFETY: so much is there of both, which are apart.
        unsafe { copy_nonoverlapping(former.cast::<u8>(), pointer.cast::<u8>(), size.min(rest)) };
    }
    pointer
}

/// Releases. Spare memory stays where it is, and so does what would have to go back to a function that is looked up just now.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn free(pointer: *mut c_void) {
    if spare::rest(pointer) == 0 {
        released(pointer);
        next!(c"free", fn(*mut c_void) -> (), pointer);
    }
}

/// Allocates at a multiple of `align`.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    given(next!(c"aligned_alloc", fn(usize, usize) -> *mut c_void, align, size), align, size)
}

/// Allocates at a multiple of `align`.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn memalign(align: usize, size: usize) -> *mut c_void {
    given(next!(c"memalign", fn(usize, usize) -> *mut c_void, align, size), align, size)
}

/// Allocates at a multiple of `align`.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn posix_memalign(to: *mut *mut c_void, align: usize, size: usize) -> c_int {
    let result = next!(c"posix_memalign", fn(*mut *mut c_void, usize, usize) -> c_int, to, align, size);
    match result {
        Some(0) => {
            // SAFETY: the original has written it.
            allocated(unsafe { *to }, size);
            0
        }
        Some(error) => error,
        None => {
            let pointer = spare::take(align, size);
            if pointer.is_null() {
                return NO_MEMORY;
            }
            // SAFETY: the caller's, for the answer.
            unsafe { *to = pointer };
            0
        }
    }
}
