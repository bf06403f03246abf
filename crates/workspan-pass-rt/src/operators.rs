//! `new` and `delete` of C++, where a library defines them: an allocator that a program is linked with may have its own, which call no
//! `malloc`.
//!
//! A library may be loaded where nothing else sees what it defines, and the C++ library with it: then that one is searched by its name.

use core::ffi::{c_void, CStr};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use crate::memory::{allocated, free, malloc, memalign, released, Quiet};
use crate::original;
use crate::shared::recording;

/// The C++ libraries.
const LIBRARIES: [&CStr; 2] = [c"libstdc++.so.6", c"libc++.so.1"];

/// Looks the next definition of a function up; null if there is none.
#[cold]
fn look_up(slot: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let found = original::search(name, None, &LIBRARIES);
    slot.store(found, Relaxed);
    found
}

/// Functions that allocate. `else`: what they do where nobody defines them.
macro_rules! operators_new {
    ($($function:ident $symbol:literal $name:literal ($($argument:ident: $type:ty),*) else $otherwise:expr;)*) => {$(
        /// Allocates.
        ///
        /// # Safety
        /// As the original.
        #[export_name = $symbol]
        pub unsafe extern "C-unwind" fn $function(size: usize $(, $argument: $type)*) -> *mut c_void {
            static SLOT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            let Some(found) = original::next(&SLOT, $name, look_up) else {
                let otherwise: fn(usize $(, $type)*) -> *mut c_void = $otherwise;
                return otherwise(size $(, $argument)*);
            };
            let quiet = recording().then(Quiet::begin);
            // SAFETY: the function of this name, which has this type.
            let function = unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn(usize $(, $type)*) -> *mut c_void>(found) };
            // SAFETY: with the arguments of the program, which answers for them.
            let pointer = unsafe { function(size $(, $argument)*) };
            drop(quiet);
            allocated(pointer, size);
            pointer
        }
    )*};
}

/// Functions that release.
macro_rules! operators_delete {
    ($($function:ident $symbol:literal $name:literal ($($argument:ident: $type:ty),*);)*) => {$(
        /// Releases.
        ///
        /// # Safety
        /// As the original.
        #[export_name = $symbol]
        pub unsafe extern "C-unwind" fn $function(pointer: *mut c_void $(, $argument: $type)*) {
            static SLOT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            let Some(found) = original::next(&SLOT, $name, look_up) else {
                // SAFETY: what was allocated where nobody defines the operators.
                return unsafe { free(pointer) };
            };
            released(pointer);
            let _quiet = recording().then(Quiet::begin);
            // SAFETY: the function of this name, which has this type.
            let function = unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn(*mut c_void $(, $type)*)>(found) };
            // SAFETY: with the arguments of the program, which answers for them.
            unsafe { function(pointer $(, $argument)*) };
        }
    )*};
}

fn plain(size: usize) -> *mut c_void {
    // SAFETY: of any size.
    unsafe { malloc(size) }
}

fn at(size: usize, align: usize) -> *mut c_void {
    // SAFETY: of any size; the compiler gives a power of two.
    unsafe { memalign(align, size) }
}

operators_new! {
    new "_Znwm" c"_Znwm" () else plain;
    new_array "_Znam" c"_Znam" () else plain;
    new_nothrow "_ZnwmRKSt9nothrow_t" c"_ZnwmRKSt9nothrow_t" (tag: *const c_void) else |size, _| plain(size);
    new_array_nothrow "_ZnamRKSt9nothrow_t" c"_ZnamRKSt9nothrow_t" (tag: *const c_void) else |size, _| plain(size);
    new_aligned "_ZnwmSt11align_val_t" c"_ZnwmSt11align_val_t" (align: usize) else at;
    new_array_aligned "_ZnamSt11align_val_t" c"_ZnamSt11align_val_t" (align: usize) else at;
    new_aligned_nothrow "_ZnwmSt11align_val_tRKSt9nothrow_t" c"_ZnwmSt11align_val_tRKSt9nothrow_t" (align: usize, tag: *const c_void)
        else |size, align, _| at(size, align);
    new_array_aligned_nothrow "_ZnamSt11align_val_tRKSt9nothrow_t" c"_ZnamSt11align_val_tRKSt9nothrow_t" (align: usize, tag: *const c_void)
        else |size, align, _| at(size, align);
}

operators_delete! {
    delete "_ZdlPv" c"_ZdlPv" ();
    delete_array "_ZdaPv" c"_ZdaPv" ();
    delete_sized "_ZdlPvm" c"_ZdlPvm" (size: usize);
    delete_array_sized "_ZdaPvm" c"_ZdaPvm" (size: usize);
    delete_nothrow "_ZdlPvRKSt9nothrow_t" c"_ZdlPvRKSt9nothrow_t" (tag: *const c_void);
    delete_array_nothrow "_ZdaPvRKSt9nothrow_t" c"_ZdaPvRKSt9nothrow_t" (tag: *const c_void);
    delete_aligned "_ZdlPvSt11align_val_t" c"_ZdlPvSt11align_val_t" (align: usize);
    delete_array_aligned "_ZdaPvSt11align_val_t" c"_ZdaPvSt11align_val_t" (align: usize);
    delete_aligned_nothrow "_ZdlPvSt11align_val_tRKSt9nothrow_t" c"_ZdlPvSt11align_val_tRKSt9nothrow_t" (align: usize, tag: *const c_void);
    delete_array_aligned_nothrow "_ZdaPvSt11align_val_tRKSt9nothrow_t" c"_ZdaPvSt11align_val_tRKSt9nothrow_t" (align: usize, tag: *const c_void);
    delete_aligned_sized "_ZdlPvmSt11align_val_t" c"_ZdlPvmSt11align_val_t" (size: usize, align: usize);
    delete_array_aligned_sized "_ZdaPvmSt11align_val_t" c"_ZdaPvmSt11align_val_t" (size: usize, align: usize);
}
