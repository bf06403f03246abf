//! Which MPI is loaded, its own functions, and its constants.
//!
//! The constants are those of the headers: of Open MPI, and of MPICH, whose binary interface MVAPICH and Intel MPI share.

use core::ffi::{c_char, c_int, c_void, CStr};
use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicPtr, AtomicU8,
    Ordering::{Acquire, Relaxed, Release},
};

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn abort() -> !;
}

/// The next definition in the order of search.
const NEXT: *mut c_void = -1_isize as *mut c_void;

/// An implementation of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Handles are pointers.
    OpenMpi = 1,
    /// Handles are numbers of 4 bytes.
    Mpich = 2,
}

static FOUND: AtomicU8 = AtomicU8::new(0);

/// Which one is loaded.
pub fn library() -> Library {
    let found = match FOUND.load(Relaxed) {
        0 if symbol(c"ompi_mpi_comm_world").is_null() => 2,
        0 => 1,
        known => known,
    };
    FOUND.store(found, Relaxed);
    if found == 1 {
        Library::OpenMpi
    } else {
        Library::Mpich
    }
}

/// A symbol of what is loaded after this library, or null.
pub fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: a text that ends in a zero.
    unsafe { dlsym(NEXT, name.as_ptr()) }
}

/// A function of the library, found once.
#[derive(Debug)]
pub struct Own(AtomicPtr<c_void>);

impl Own {
    /// Not looked for yet.
    pub const fn new() -> Own {
        Own(AtomicPtr::new(null_mut()))
    }

    /// The function, of the name that profilers call; it ends in a zero.
    pub fn find(&self, name: &str) -> *mut c_void {
        let known = self.0.load(Acquire);
        if !known.is_null() {
            return known;
        }
        let found = CStr::from_bytes_with_nul(name.as_bytes()).map_or(null_mut(), symbol);
        if found.is_null() {
            // SAFETY: there is no way to do what the program wants.
            unsafe { abort() };
        }
        self.0.store(found, Release);
        found
    }
}

/// Calls a function of the library.
#[macro_export]
macro_rules! own {
    ($name:ident($($argument:expr => $type:ty),* $(,)?)) => {{
        static OWN: $crate::library::Own = $crate::library::Own::new();
        let found = OWN.find(concat!(stringify!($name), "\0"));
        // SAFETY: the library's function of this name, which has this type.
        let function = unsafe {
            core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C-unwind" fn($($type),*) -> core::ffi::c_int>(found)
        };
        // SAFETY: with arguments of the program, or places for answers.
        unsafe { function($($argument),*) }
    }};
}

/// Defines a function of MPI under both of its names. The body calls the library's own by the name between bars.
#[macro_export]
macro_rules! define {
    ($($(#[$text:meta])* $name:ident $profiled:ident ($($argument:ident: $type:ty),* $(,)?) |$call:ident| $body:block)*) => {$(
        $(#[$text])*
        ///
        /// # Safety
        /// As the library's own.
        #[no_mangle]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> core::ffi::c_int {
            static OWN: $crate::library::Own = $crate::library::Own::new();
            let found = OWN.find(concat!(stringify!($profiled), "\0"));
            // SAFETY: the library's function of this name, which has this type.
            let function = unsafe {
                core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C-unwind" fn($($type),*) -> core::ffi::c_int>(found)
            };
            // SAFETY: with the arguments of the program, which answers for them; at most a place for a status is another.
            let $call = |$($argument: $type),*| unsafe { function($($argument),*) };
            let Some(_inside) = $crate::sink::enter() else {
                return $call($($argument),*);
            };
            $body
        }

        /// The same, as profilers call it.
        ///
        /// # Safety
        /// As the library's own.
        #[no_mangle]
        pub unsafe extern "C-unwind" fn $profiled($($argument: $type),*) -> core::ffi::c_int {
            // SAFETY: the caller answers for it.
            unsafe { $name($($argument),*) }
        }
    )*};
}

impl Library {
    /// `MPI_PROC_NULL`.
    pub fn nobody(self) -> c_int {
        match self {
            Library::OpenMpi => -2,
            Library::Mpich => -1,
        }
    }

    /// `MPI_ROOT`.
    pub fn root(self) -> c_int {
        match self {
            Library::OpenMpi => -4,
            Library::Mpich => -3,
        }
    }

    /// `MPI_IN_PLACE`.
    pub fn in_place(self) -> usize {
        match self {
            Library::OpenMpi => 1,
            Library::Mpich => usize::MAX,
        }
    }

    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    pub fn no_status(self) -> usize {
        match self {
            Library::OpenMpi => 0,
            Library::Mpich => 1,
        }
    }

    /// A predefined handle: Open MPI's symbol, MPICH's number.
    fn predefined(self, name: &CStr, number: usize) -> usize {
        match self {
            Library::OpenMpi => symbol(name) as usize,
            Library::Mpich => number,
        }
    }

    /// `MPI_COMM_WORLD`.
    pub fn world(self) -> usize {
        self.predefined(c"ompi_mpi_comm_world", 0x4400_0000)
    }

    /// `MPI_COMM_SELF`.
    pub fn own(self) -> usize {
        self.predefined(c"ompi_mpi_comm_self", 0x4400_0001)
    }

    /// `MPI_COMM_NULL`.
    pub fn no_communicator(self) -> usize {
        self.predefined(c"ompi_mpi_comm_null", 0x0400_0000)
    }

    /// `MPI_BYTE`.
    pub fn byte(self) -> usize {
        self.predefined(c"ompi_mpi_byte", 0x4c00_010d)
    }
}
