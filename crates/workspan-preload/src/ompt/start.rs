//! Start and end: before `main`, when the OpenMP runtime starts, at exit.

use core::ffi::{c_char, c_int, c_void};
use core::mem;
#[cfg(not(idle_only))]
use core::sync::atomic::Ordering;

#[cfg(not(idle_only))]
use super::abi::Callback;
use super::abi::{Data, Lookup, SetCallback, StartToolResult, Version};
use super::idle;
#[cfg(not(idle_only))]
use super::{at_hand, bind, boundary, events, first_use, locks, noted, rehearsal, tasks, waits, worksharing};
#[cfg(not(idle_only))]
use crate::calibrate::{self, Rehearsal};
#[cfg(not(idle_only))]
use crate::dag::{clock, token};
#[cfg(not(idle_only))]
use workspan_collect::shared::Shared;
use workspan_collect::{platform, process};

extern "C" fn before_main() {
    // Other programs of the same command must not claim the memory: a shell that starts the program, say.
    if process::is_target() == Some(true) {
        process::start();
        restore_environment();
    }
}

/// Programs that this one starts are to be left alone, and would not find the library once the runner has ended.
fn restore_environment() {
    extern "C" {
        fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int;
        fn unsetenv(name: *const c_char) -> c_int;
    }
    let Some(former) = platform::environment(b"WORKSPAN_LD_PRELOAD\0") else {
        return;
    };
    // SAFETY: a terminated text of the environment.
    if unsafe { *former.as_ptr() } == 0 {
        // SAFETY: a terminated name; there is one thread before `main`.
        unsafe { unsetenv(c"LD_PRELOAD".as_ptr()) };
    } else {
        // SAFETY: as above; the value is copied.
        unsafe { setenv(c"LD_PRELOAD".as_ptr(), former.as_ptr(), 1) };
    }
}

extern "C" fn at_exit() {
    #[cfg(all(not(idle_only), target_arch = "x86_64"))]
    {
        crate::sync::wait::in_hook(crate::lingering::wait_for_ends);
        crate::sync::wait::ends();
    }
    #[cfg(not(idle_only))]
    events::note_uniform_end();
    process::finish();
}

#[used]
#[cfg_attr(target_os = "linux", link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

#[used]
#[cfg_attr(target_os = "linux", link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// What the runtime looks for when it starts.
#[no_mangle]
pub extern "C" fn ompt_start_tool(_version: Version, _runtime: *const c_char) -> *const StartToolResult {
    static RESULT: StartToolResult = StartToolResult { initialize, finalize, tool_data: 0 };
    if process::shared().is_none() {
        process::start();
    }
    if process::shared().is_none() {
        // Nobody watches this process.
        return core::ptr::null();
    }
    #[cfg(not(idle_only))]
    first_use::starts();
    &RESULT
}

extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: *const Data) -> c_int {
    let set = lookup(c"ompt_set_callback".as_ptr());
    if set.is_null() {
        return 0;
    }
    // SAFETY: the runtime gives the function of this name and type.
    let set: SetCallback = unsafe { mem::transmute::<*const c_void, SetCallback>(set) };
    let Some(shared) = process::shared() else {
        return 0;
    };
    if shared.is_idle_only() {
        idle::register(set);
        return 1;
    }
    #[cfg(not(idle_only))]
    register(shared, lookup, set);
    #[cfg(not(idle_only))]
    first_use::has_started();
    1
}

/// Asks the runtime for everything.
#[cfg(not(idle_only))]
fn register(shared: Shared, lookup: Lookup, set: SetCallback) {
    first_use::so_far();
    crate::modules::leave_alone(lookup as usize as u64);
    #[cfg(target_arch = "x86_64")]
    crate::sync::caller::forget();
    let config = &shared.header().config;
    clock::use_virtual(shared.is_virtual());
    // The runtime may have been started by the call that was just noted.
    let noted = noted::noted();
    calibrate::run(shared, &Rehearsal { task: rehearsal::task, readings: rehearsal::READINGS });
    noted::note(noted);
    bind::bind();
    at_hand::code(lookup as usize as u64);
    if config.logical_cores.load(Ordering::Relaxed) != 0 {
        token::enable();
        boundary::calibrate();
    }
    let callbacks: [(Callback, *const c_void); 16] = [
        (Callback::ThreadBegin, events::thread_begin as *const c_void),
        (Callback::ThreadEnd, events::thread_end as *const c_void),
        (Callback::ParallelBegin, events::parallel_begin as *const c_void),
        (Callback::ParallelEnd, events::parallel_end as *const c_void),
        (Callback::TaskCreate, tasks::task_create as *const c_void),
        (Callback::TaskSchedule, tasks::task_schedule as *const c_void),
        (Callback::ImplicitTask, events::implicit_task as *const c_void),
        (Callback::SyncRegionWait, waits::sync_region_wait as *const c_void),
        (Callback::MutexReleased, locks::mutex_released as *const c_void),
        (Callback::Dependences, tasks::dependences as *const c_void),
        (Callback::Work, worksharing::work as *const c_void),
        (Callback::SyncRegion, waits::sync_region as *const c_void),
        (Callback::MutexAcquire, locks::mutex_acquire as *const c_void),
        (Callback::MutexAcquired, locks::mutex_acquired as *const c_void),
        (Callback::NestLock, locks::nest_lock as *const c_void),
        (Callback::Dispatch, worksharing::dispatch as *const c_void),
    ];
    for (callback, function) in callbacks {
        set(callback as c_int, function);
    }
}

extern "C" fn finalize(_data: *const Data) {}
