//! Entry points that pass on where their return address lies, and the C library's own functions.

/// An entry point that passes on where its return address lies: in a register that its own arguments leave free.
macro_rules! entry {
    ($name:ident, $register:literal, $to:ident) => {
        /// # Safety
        ///
        /// As for the C library's.
        #[no_mangle]
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $name() {
            core::arch::naked_asm!(concat!("mov ", $register, ", rsp"), "jmp {to}", to = sym $to)
        }
    };
}

/// The C library's own function of this name and type; where there may be several, of this version.
macro_rules! original {
    ($name:literal as $kind:ty) => {
        $crate::sync::shim::original!($name, c"", as $kind)
    };
    ($name:literal, $version:literal, as $kind:ty) => {{
        static ORIGINAL: workspan_collect::interposed::Original =
            workspan_collect::interposed::Original::versioned($name, $version);
        $crate::sync::shim::function::<$kind>(&ORIGINAL)
    }};
}

pub(crate) use {entry, original};

use core::ffi::c_void;
use core::mem::{size_of, transmute_copy};

use workspan_collect::interposed::Original;

/// What [`original`] has found, of the type that it names.
#[inline(always)]
pub fn function<F: Copy>(original: &Original) -> F {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let found = original.get();
    if found.is_null() {
        missing();
    }
    // SAFETY: `original` is given the name of a function of the C library and its type.
    unsafe { transmute_copy::<*mut c_void, F>(&found) }
}

/// The program has been linked with it: there is nothing to go on to.
#[cold]
fn missing() -> ! {
    extern "C" {
        fn abort() -> !;
    }
    // SAFETY: does not return.
    unsafe { abort() }
}
