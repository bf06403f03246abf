//! What libtbb and the programs that use it have agreed on: the layout of tasks and contexts, as all versions of
//! `libtbb.so.12` have it.

use core::cell::Cell;
use core::ffi::c_void;

/// Interface versions whose layout is the one below: oneTBB 2021.1 to 2023.x (tested: 2021.8, 2021.13, 2022.0, 2022.2, 2022.3, 2023.0, 2023.2).
pub const VERSIONS: core::ops::Range<i32> = 12010..12210;

/// A function of a task's virtual table that runs or cancels it: the task, and how it is executed. Returns the task to run
/// next.
pub type Run = unsafe extern "C-unwind" fn(*const Task, *const Execution) -> *const Task;

/// `tbb::detail::d1::task`.
#[repr(C)]
#[derive(Debug)]
pub struct Task {
    /// Its virtual table: the address of the first function in it.
    pub vtable: Cell<*const Slots>,
    traits: Cell<u64>,
    /// Words for libtbb, which uses the first three.
    reserved: [Cell<u64>; 6],
}

impl Task {
    /// The word that is ours while the task is spawned.
    pub fn word(&self) -> &Cell<u64> {
        &self.reserved[5]
    }

    /// A task of this table; for calibration.
    pub const fn of(vtable: *const Slots) -> Task {
        Task { vtable: Cell::new(vtable), traits: Cell::new(0), reserved: [const { Cell::new(0) }; 6] }
    }
}

/// The functions of its virtual table (Itanium C++ ABI).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// Destructors: of the object, and with its memory.
    pub destroy: [*const c_void; 2],
    /// `execute`.
    pub execute: Run,
    /// `cancel`.
    pub cancel: Run,
}

/// What lies before the functions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Before {
    /// Where the object begins.
    pub offset: isize,
    /// `std::type_info`; null without RTTI.
    pub type_info: *const TypeInfo,
}

/// `std::type_info`.
#[repr(C)]
#[derive(Debug)]
pub struct TypeInfo {
    vtable: *const c_void,
    /// The mangled name, without `_Z`; a star before it says that addresses distinguish types.
    pub name: *const core::ffi::c_char,
}

/// `tbb::detail::d1::execution_data`.
#[repr(C)]
#[derive(Debug)]
pub struct Execution {
    /// The context of the task that runs.
    pub context: *const Context,
}

/// `tbb::detail::d1::task_group_context`: 128 bytes, of which the last ones pad it.
#[repr(C)]
#[derive(Debug)]
pub struct Context {
    _theirs: [Cell<u64>; 14],
    /// Ours: says that the next one is.
    pub mark: Cell<u64>,
    /// Ours: tasks that are waited for by this context.
    pub word: core::sync::atomic::AtomicU64,
}

const _: () = assert!(size_of::<Context>() == 128 && size_of::<Task>() == 64);
