//! The functions of the C library that are defined here first, as they are defined next.

use core::ffi::{c_void, CStr};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use crate::c;
use crate::platform::thread;

/// The next definition in the order of search.
const NEXT: *mut c_void = -1_isize as *mut c_void;

extern "C" {
    fn abort() -> !;
}

/// Looks a function up, once. Some have an older version of another behaviour under the same name.
pub fn find(slot: &AtomicPtr<c_void>, name: &CStr, version: Option<&CStr>) -> *mut c_void {
    let known = slot.load(Relaxed);
    if !known.is_null() {
        return known;
    }
    let was = thread().busy.replace(true);
    let mut found = null_mut();
    if let Some(version) = version {
        // SAFETY: texts that end in a zero.
        found = unsafe { c::dlvsym(NEXT, name.as_ptr(), version.as_ptr()) };
    }
    if found.is_null() {
        // SAFETY: as above.
        found = unsafe { c::dlsym(NEXT, name.as_ptr()) };
    }
    thread().busy.set(was);
    if found.is_null() {
        // SAFETY: there is no way to do what the program wants.
        unsafe { abort() };
    }
    slot.store(found, Relaxed);
    found
}

/// Calls the original of a function.
#[macro_export]
macro_rules! original {
    ($name:literal $(@ $version:literal)?, fn($($type:ty),*) -> $result:ty, $($argument:expr),*) => {{
        static SLOT: core::sync::atomic::AtomicPtr<core::ffi::c_void> =
            core::sync::atomic::AtomicPtr::new(core::ptr::null_mut());
        #[allow(unused_mut, unused_assignments)]
        let mut version: Option<&core::ffi::CStr> = None;
        $( version = Some($version); )?
        let found = $crate::original::find(&SLOT, $name, version);
        // SAFETY: the C library's function of this name, which has this type.
        let function = unsafe {
            core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C-unwind" fn($($type),*) -> $result>(found)
        };
        // SAFETY: with the arguments of the program, which answers for them.
        unsafe { function($($argument),*) }
    }};
}
