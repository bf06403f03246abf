//! The runtime finds us when it starts.

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr::null;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::abi::{callback, Data, Lookup, SetCallback, StartToolResult};
use super::tasks;
use crate::{c, shared};

/// How the files' names of the runtime begin.
const NAMES: [&[u8]; 3] = [b"libomp.so", b"libomp-", b"libiomp5.so"];

/// First address of the runtime's code, and the one after its last.
static OWN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// True if an address is in the OpenMP runtime.
pub fn owns(address: usize) -> bool {
    (OWN[0].load(Relaxed)..OWN[1].load(Relaxed)).contains(&address)
}

/// Finds the runtime, if it is loaded with the program: it uses locks before it looks for us.
pub fn find() {
    // SAFETY: the function below takes what it is given.
    unsafe { c::dl_iterate_phdr(object, null::<c_void>().cast_mut()) };
}

/// What the runtime looks for when it starts.
#[no_mangle]
pub extern "C" fn ompt_start_tool(_version: c_uint, _runtime: *const c_char) -> *const StartToolResult {
    static RESULT: StartToolResult = StartToolResult { initialize, finalize, tool_data: 0 };
    if shared::recording() {
        &raw const RESULT
    } else {
        null()
    }
}

/// # Safety
/// The runtime calls it.
unsafe extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: *const Data) -> c_int {
    // SAFETY: a name that the runtime knows.
    let set = unsafe { lookup(c"ompt_set_callback".as_ptr()) };
    if set.is_null() {
        return 0;
    }
    // SAFETY: the function of this name and type.
    let set = unsafe { core::mem::transmute::<*const c_void, SetCallback>(set) };
    // SAFETY: the function below takes what it is given.
    unsafe { c::dl_iterate_phdr(object, (lookup as usize) as *mut c_void) };
    // SAFETY: a name that the runtime knows.
    tasks::remember(unsafe { lookup(c"ompt_get_task_memory".as_ptr()) });
    let callbacks: [(c_int, *const c_void); 7] = [
        (callback::PARALLEL_BEGIN, tasks::parallel_begin as *const c_void),
        (callback::PARALLEL_END, tasks::parallel_end as *const c_void),
        (callback::TASK_CREATE, tasks::task_create as *const c_void),
        (callback::TASK_SCHEDULE, tasks::task_schedule as *const c_void),
        (callback::IMPLICIT_TASK, tasks::implicit_task as *const c_void),
        (callback::DEPENDENCES, tasks::dependences as *const c_void),
        (callback::SYNC_REGION, tasks::sync_region as *const c_void),
    ];
    for (number, function) in callbacks {
        // SAFETY: functions of the types that belong to these numbers.
        unsafe { set(number, function) };
    }
    1
}

/// # Safety
/// The runtime calls it.
unsafe extern "C" fn finalize(_data: *const Data) {}

/// # Safety
/// The loader calls it, with a description of an object.
unsafe extern "C" fn object(info: *mut c::ObjectInfo, _: usize, wanted: *mut c_void) -> c_int {
    // SAFETY: valid during the call.
    let info = unsafe { &*info };
    let (first, end) = info.extent();
    let found = if wanted.is_null() { info.is_named(&NAMES) } else { (first..end).contains(&(wanted as usize)) };
    if !found {
        return 0;
    }
    OWN[0].store(first, Relaxed);
    OWN[1].store(end, Relaxed);
    1
}
