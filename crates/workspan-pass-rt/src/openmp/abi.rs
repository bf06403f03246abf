//! OMPT, the tools interface of OpenMP (OpenMP 5.2, chapter 19), as far as it is used here.

use core::cell::Cell;
use core::ffi::{c_char, c_int, c_void};

/// `ompt_data_t`: a word that the tool owns.
pub type Data = Cell<u64>;

/// `ompt_scope_begin`.
pub const BEGIN: c_int = 1;

/// Numbers of callbacks.
pub mod callback {
    use core::ffi::c_int;
    /// `ompt_callback_parallel_begin`.
    pub const PARALLEL_BEGIN: c_int = 3;
    /// `ompt_callback_parallel_end`.
    pub const PARALLEL_END: c_int = 4;
    /// `ompt_callback_task_create`.
    pub const TASK_CREATE: c_int = 5;
    /// `ompt_callback_task_schedule`.
    pub const TASK_SCHEDULE: c_int = 6;
    /// `ompt_callback_implicit_task`.
    pub const IMPLICIT_TASK: c_int = 7;
    /// `ompt_callback_dependences`.
    pub const DEPENDENCES: c_int = 18;
    /// `ompt_callback_sync_region`.
    pub const SYNC_REGION: c_int = 23;
}

/// Bits of a task's flags.
pub mod flag {
    /// A wait with dependences, not a task.
    pub const TASKWAIT: u32 = 0x10;
    /// An initial task.
    pub const INITIAL: u32 = 1;
    /// Its creator waits until it has ended.
    pub const UNDEFERRED: u32 = 0x0800_0000;
}

/// `ompt_task_status_t`.
pub mod status {
    use core::ffi::c_int;
    /// The task has ended.
    pub const COMPLETE: c_int = 1;
    /// It was cancelled.
    pub const CANCEL: c_int = 3;
    /// Its code has ended.
    pub const DETACH: c_int = 4;
    /// A task's event was fulfilled while it ran, or later.
    pub const FULFILLED: [c_int; 2] = [5, 6];
    /// A wait with dependences is over.
    pub const TASKWAIT_COMPLETE: c_int = 8;
}

/// `ompt_sync_region_t`.
pub mod sync {
    use core::ffi::c_int;
    /// A wait for children.
    pub const TASKWAIT: c_int = 5;
    /// A taskgroup.
    pub const TASKGROUP: c_int = 6;
    /// A reduction.
    pub const REDUCTION: c_int = 7;
    /// The barrier at the end of a parallel region.
    pub const LAST_BARRIER: c_int = 9;
}

/// `ompt_dependence_t`.
#[derive(Debug)]
#[repr(C)]
pub struct Dependence {
    /// The address.
    pub variable: u64,
    /// `ompt_dependence_type_t`.
    pub kind: c_int,
}

/// `ompt_function_lookup_t`.
pub type Lookup = unsafe extern "C" fn(*const c_char) -> *const c_void;
/// `ompt_set_callback_t`.
pub type SetCallback = unsafe extern "C" fn(c_int, *const c_void) -> c_int;
/// `ompt_get_task_memory_t`.
pub type GetTaskMemory = unsafe extern "C" fn(*mut *mut c_void, *mut usize, c_int) -> c_int;

/// `ompt_start_tool_result_t`.
#[derive(Debug)]
#[repr(C)]
pub struct StartToolResult {
    /// Called when the runtime starts; not 0: the tool stays.
    pub initialize: unsafe extern "C" fn(Lookup, c_int, *const Data) -> c_int,
    /// Called when the runtime ends.
    pub finalize: unsafe extern "C" fn(*const Data),
    /// Passed to both.
    pub tool_data: u64,
}
