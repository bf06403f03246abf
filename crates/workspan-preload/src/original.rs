//! Functions that are defined here first, and the next definition to go on to.

use core::ffi::{c_char, c_void, CStr};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;

/// The next definition of a function, looked up once.
#[derive(Debug)]
pub struct Original {
    name: &'static CStr,
    at: AtomicPtr<c_void>,
}

impl Original {
    /// Not looked up yet.
    pub const fn new(name: &'static CStr) -> Original {
        Original { name, at: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Its address; null if there is none.
    #[inline(always)]
    pub fn get(&self) -> *mut c_void {
        let known = self.at.load(Ordering::Relaxed);
        if known.is_null() {
            self.find()
        } else {
            known
        }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: a terminated name. The program calls the function, so its runtime defines it.
        let found = unsafe { dlsym(RTLD_NEXT, self.name.as_ptr()) };
        self.at.store(found, Ordering::Relaxed);
        found
    }
}
