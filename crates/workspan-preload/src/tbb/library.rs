//! libtbb itself: where it is loaded, and its functions.

use core::ffi::{c_char, c_int, c_void, CStr};
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

/// Where libtbb is loaded; no address of anything before that is known.
static BASE: AtomicU64 = AtomicU64::new(1);

/// libtbb is loaded at `base`.
pub fn is_at(base: u64) {
    BASE.store(base, Ordering::Relaxed);
}

/// Where libtbb is loaded.
pub fn base() -> u64 {
    BASE.load(Ordering::Relaxed)
}

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
}

/// A function of libtbb's own, also of one that the program has loaded for itself. Null if there is none.
pub fn find(name: &CStr) -> *mut c_void {
    const NEXT: *mut c_void = -1isize as *mut c_void;
    const LAZY_AND_LOADED: c_int = 1 | 4;
    // SAFETY: a terminated name.
    let found = unsafe { dlsym(NEXT, name.as_ptr()) };
    if !found.is_null() {
        return found;
    }
    // SAFETY: a terminated name; nothing is loaded that is not yet.
    let library = unsafe { dlopen(c"libtbb.so.12".as_ptr(), LAZY_AND_LOADED) };
    if library.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: an open library and a terminated name.
    unsafe { dlsym(library, name.as_ptr()) }
}
