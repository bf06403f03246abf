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
    let found = search(name, version, &[c"libtbb.so.12"]);
    if found.is_null() {
        // SAFETY: there is no way to do what the program wants.
        unsafe { abort() };
    }
    slot.store(found, Relaxed);
    found
}

/// What a slot holds, else what `look_up` finds for it, if anything.
#[inline]
pub fn next(
    slot: &AtomicPtr<c_void>,
    name: &CStr,
    look_up: fn(&AtomicPtr<c_void>, &CStr) -> *mut c_void,
) -> Option<*mut c_void> {
    let known = slot.load(Relaxed);
    let found = if known.is_null() { look_up(slot, name) } else { known };
    (!found.is_null()).then_some(found)
}

/// The next definition of a function, or that of one of some libraries, which the program may have loaded for itself; null: there is none.
pub fn search(name: &CStr, version: Option<&CStr>, libraries: &[&CStr]) -> *mut c_void {
    let thread = thread();
    let was = (thread.busy.replace(true), thread.looks_up.replace(true));
    let mut found = null_mut();
    if let Some(version) = version {
        // SAFETY: texts that end in a zero.
        found = unsafe { c::dlvsym(NEXT, name.as_ptr(), version.as_ptr()) };
    }
    if found.is_null() {
        // SAFETY: as above.
        found = unsafe { c::dlsym(NEXT, name.as_ptr()) };
    }
    for library in libraries {
        if !found.is_null() {
            break;
        }
        // SAFETY: a text that ends in a zero; nothing is loaded that is not yet.
        let library = unsafe { c::dlopen(library.as_ptr(), c::RTLD_LAZY_AND_LOADED) };
        if !library.is_null() {
            // SAFETY: an open library, and a text that ends in a zero.
            found = unsafe { c::dlsym(library, name.as_ptr()) };
        }
    }
    thread.busy.set(was.0);
    thread.looks_up.set(was.1);
    found
}

/// Where the original of a function is, or 0.
pub fn address(name: &CStr) -> usize {
    // SAFETY: a text that ends in a zero.
    (unsafe { c::dlsym(NEXT, name.as_ptr()) }) as usize
}

/// Calls the original of a function.
#[macro_export]
macro_rules! original {
    ($name:literal $(@ $version:literal)?, fn($($type:ty),*) -> $result:ty, $($argument:expr),*) => {{
        static SLOT: core::sync::atomic::AtomicPtr<core::ffi::c_void> =
            core::sync::atomic::AtomicPtr::new(core::ptr::null_mut());
        const VERSIONS: &[&core::ffi::CStr] = &[$($version)?];
        let found = $crate::original::find(&SLOT, $name, VERSIONS.first().copied());
        // SAFETY: the C library's function of this name, which has this type.
        let function = unsafe {
            core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C-unwind" fn($($type),*) -> $result>(found)
        };
        // SAFETY: with the arguments of the program, which answers for them.
        unsafe { function($($argument),*) }
    }};
}

/// Defines a function of the C library first; the thread's storage then has where it was called from.
#[macro_export]
macro_rules! entry {
    ($(#[$text:meta])* fn $symbol:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block) => {
        $(#[$text])*
        ///
        /// # Safety
        /// As the original.
        #[no_mangle]
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $symbol() {
            unsafe extern "C-unwind" fn inner($($argument: $type),*) -> $result $body
            #[cfg(target_arch = "x86_64")]
            core::arch::naked_asm!(
                "mov r11, qword ptr [rip + __workspan_thread@GOTTPOFF]",
                "mov r10, qword ptr [rsp]",
                "mov qword ptr fs:[r11 + {caller}], r10",
                "jmp {function}",
                caller = const core::mem::offset_of!($crate::thread::Thread, caller),
                function = sym inner,
            );
            #[cfg(target_arch = "aarch64")]
            core::arch::naked_asm!(
                "mrs x16, tpidr_el0",
                "adrp x17, :gottprel:__workspan_thread",
                "ldr x17, [x17, :gottprel_lo12:__workspan_thread]",
                "add x16, x16, x17",
                "str x30, [x16, {caller}]",
                "b {function}",
                caller = const core::mem::offset_of!($crate::thread::Thread, caller),
                function = sym inner,
            );
        }
    };
}
