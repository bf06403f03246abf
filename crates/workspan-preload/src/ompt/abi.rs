//! OMPT, the tools interface of OpenMP (OpenMP 5.2, chapter 19), as far as it is used here.

use core::cell::Cell;
use core::ffi::{c_char, c_int, c_uint, c_void};

/// `ompt_data_t`: a word that the tool owns.
pub type Data = Cell<u64>;

/// `ompt_scope_endpoint_t`.
pub const BEGIN: c_int = 1;
/// Begin and end at once.
pub const BEGIN_END: c_int = 3;

/// Numbers of callbacks.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub enum Callback {
    /// `ompt_callback_thread_begin`.
    ThreadBegin = 1,
    /// `ompt_callback_thread_end`.
    ThreadEnd = 2,
    /// `ompt_callback_parallel_begin`.
    ParallelBegin = 3,
    /// `ompt_callback_parallel_end`.
    ParallelEnd = 4,
    /// `ompt_callback_task_create`.
    TaskCreate = 5,
    /// `ompt_callback_task_schedule`.
    TaskSchedule = 6,
    /// `ompt_callback_implicit_task`.
    ImplicitTask = 7,
    /// `ompt_callback_sync_region_wait`.
    SyncRegionWait = 16,
    /// `ompt_callback_mutex_released`.
    MutexReleased = 17,
    /// `ompt_callback_dependences`.
    Dependences = 18,
    /// `ompt_callback_work`.
    Work = 20,
    /// `ompt_callback_sync_region`.
    SyncRegion = 23,
    /// `ompt_callback_mutex_acquire`.
    MutexAcquire = 26,
    /// `ompt_callback_mutex_acquired`.
    MutexAcquired = 27,
    /// `ompt_callback_nest_lock`.
    NestLock = 28,
    /// `ompt_callback_dispatch`.
    Dispatch = 32,
}

/// Bits of a task's flags.
pub mod task {
    /// An initial task.
    pub const INITIAL: u32 = 1;
    /// A target task.
    pub const TARGET: u32 = 8;
    /// Not a task but a wait with dependences.
    pub const TASKWAIT: u32 = 0x10;
    /// Not of OMPT: a task of the calibration.
    pub const CALIBRATION: u32 = 0x4000;
    /// Runs at once.
    pub const UNDEFERRED: u32 = 0x0800_0000;
    /// With the untied clause.
    pub const UNTIED: u32 = 0x1000_0000;
    /// Final.
    pub const FINAL: u32 = 0x2000_0000;
}

/// `ompt_task_status_t`.
pub mod status {
    /// The task has ended.
    pub const COMPLETE: c_int = 1;
    /// Any change to another task.
    pub const YIELD: c_int = 2;
    /// Cancelled before its end.
    pub const CANCEL: c_int = 3;
    /// Its code has ended; it completes when its event is fulfilled.
    pub const DETACH: c_int = 4;
    /// Its event was fulfilled while it ran.
    pub const EARLY_FULFILL: c_int = 5;
    /// Its event was fulfilled after its end.
    pub const LATE_FULFILL: c_int = 6;
    /// A wait with dependences is over.
    pub const TASKWAIT_COMPLETE: c_int = 8;
    use core::ffi::c_int;
}

/// `ompt_sync_region_t`.
pub mod sync {
    /// A wait for children.
    pub const TASKWAIT: c_int = 5;
    /// A taskgroup.
    pub const TASKGROUP: c_int = 6;
    /// The barrier at the end of a parallel region.
    pub const LAST_BARRIER: c_int = 9;
    /// A reduction: no wait of its own.
    pub const REDUCTION: c_int = 7;
    use core::ffi::c_int;
}

/// `ompt_work_t`.
pub mod work {
    /// A loop, its schedule not reported.
    pub const LOOP: c_int = 1;
    /// Sections.
    pub const SECTIONS: c_int = 2;
    /// A `single`, of the thread that runs it.
    pub const SINGLE: c_int = 3;
    /// Iterations over teams.
    pub const DISTRIBUTE: c_int = 6;
    /// A loop whose iterations become tasks.
    pub const TASKLOOP: c_int = 7;
    /// A static loop.
    pub const STATIC: c_int = 10;
    /// A loop whose chunks the program has chosen.
    pub const DYNAMIC: c_int = 11;
    /// First and last of the loops with known schedules.
    pub const LOOPS: (c_int, c_int) = (10, 13);
    use core::ffi::c_int;
}

/// `ompt_dispatch_t`.
pub mod dispatch {
    /// A section; the instance is its code.
    pub const SECTION: c_int = 2;
    /// A chunk of a loop; the instance points to a [`super::Chunk`].
    pub const LOOP_CHUNK: c_int = 3;
    /// The same of iterations over teams.
    pub const DISTRIBUTE_CHUNK: c_int = 5;
    use core::ffi::c_int;
}

/// `ompt_mutex_t`.
pub mod mutex {
    /// A lock that is taken only if it is free.
    pub const TEST_LOCK: c_int = 2;
    /// The same of one that can be taken several times.
    pub const TEST_NEST_LOCK: c_int = 4;
    /// A critical section.
    pub const CRITICAL: c_int = 5;
    /// An atomic operation that needs a lock.
    pub const ATOMIC: c_int = 6;
    /// An ordered region.
    pub const ORDERED: c_int = 7;
    use core::ffi::c_int;
}

/// `ompt_dependence_t`.
#[repr(C)]
#[derive(Debug)]
pub struct Dependence {
    /// The address.
    pub variable: u64,
    /// `ompt_dependence_type_t`.
    pub kind: c_int,
}

/// `ompt_dependence_type_t`.
pub mod dependence {
    /// `in`.
    pub const IN: c_int = 1;
    /// `mutexinoutset`.
    pub const EXCLUSIVE: c_int = 4;
    /// Doacross source and sink, which order iterations, not tasks.
    pub const DOACROSS: (c_int, c_int) = (5, 6);
    /// `inoutset`.
    pub const SET: c_int = 7;
    /// `out` or `inout` of `omp_all_memory`.
    pub const ALL_MEMORY: (c_int, c_int) = (34, 35);
    use core::ffi::c_int;
}

/// `ompt_dispatch_chunk_t`.
#[repr(C)]
#[derive(Debug)]
pub struct Chunk {
    /// First iteration.
    pub start: u64,
    /// Number of iterations.
    pub iterations: u64,
}

/// `ompt_function_lookup_t`.
pub type Lookup = extern "C" fn(*const c_char) -> *const c_void;
/// `ompt_set_callback_t`.
pub type SetCallback = extern "C" fn(c_int, *const c_void) -> c_int;

/// `ompt_start_tool_result_t`.
#[repr(C)]
#[derive(Debug)]
pub struct StartToolResult {
    /// Called when the runtime starts; not 0: the tool stays.
    pub initialize: extern "C" fn(Lookup, c_int, *const Data) -> c_int,
    /// Called when the runtime ends.
    pub finalize: extern "C" fn(*const Data),
    /// Passed to both.
    pub tool_data: u64,
}

/// Version of the interface that the runtime has.
pub type Version = c_uint;
