//! Idle accounting alone ([`workspan_collect::idle`]): the few callbacks that tell when a thread has no task to run.
//!
//! A thread waits for work from the begin of a wait — at a barrier, for children, for a group — to its end, but for the
//! tasks that it runs meanwhile; a worker, between regions, too. In which of the tasks below a running one its thread
//! would wait again is told by the task's word: 1 while it waits. At a team's last barrier, where libomp insists on empty
//! words (`super::events::leave_team`), the thread remembers the task instead.
//!
//! Who waits for a lock has work, and is blocked.

use core::cell::Cell;
use core::ffi::{c_int, c_uint, c_void};
use core::ptr;
use core::sync::atomic::Ordering;

use workspan_collect::idle;
use workspan_collect::shared::Shared;
use workspan_collect::thread;

use super::abi::{status, sync, task as flag, Callback, Data, SetCallback, BEGIN, BEGIN_END};

std::thread_local! {
    /// The task that waits at its team's last barrier on this thread.
    static LEAVING: Cell<*const Data> = const { Cell::new(ptr::null()) };
}

/// Asks the runtime for them.
pub(super) fn register(set: SetCallback) {
    let callbacks: [(Callback, *const c_void); 4] = [
        (Callback::ThreadBegin, thread_begin as *const c_void),
        (Callback::ImplicitTask, implicit_task as *const c_void),
        (Callback::SyncRegionWait, sync_region_wait as *const c_void),
        (Callback::TaskSchedule, task_schedule as *const c_void),
    ];
    for (callback, function) in callbacks {
        set(callback as c_int, function);
    }
}

/// A thread begins.
extern "C" fn thread_begin(kind: c_int, _data: *const Data) {
    const WORKER: c_int = 2;
    if kind == WORKER {
        thread::become_worker();
    }
}

/// A member of a team begins or ends.
extern "C" fn implicit_task(
    endpoint: c_int,
    _region: *const Data,
    _task: *const Data,
    size: c_uint,
    index: c_uint,
    flags: c_int,
) {
    if flags as u32 & flag::INITIAL != 0 {
        return;
    }
    if endpoint == BEGIN || endpoint == BEGIN_END {
        idle::works();
        if let Some(thread) = idle::here() {
            Shared::of(thread).header().workers.fetch_max(size, Ordering::Relaxed);
        }
    } else if index != 0 {
        // The first member goes on with what is after the region.
        LEAVING.set(ptr::null());
        idle::waits();
    }
}

/// A wait begins or ends.
extern "C" fn sync_region_wait(
    kind: c_int,
    endpoint: c_int,
    _region: *const Data,
    task: *const Data,
    _after: *const c_void,
) {
    if kind == sync::REDUCTION {
        return;
    }
    let begins = endpoint == BEGIN;
    if kind == sync::LAST_BARRIER {
        LEAVING.set(if begins { task } else { ptr::null() });
    } else {
        // SAFETY: null or the word that the runtime keeps for us.
        if let Some(word) = unsafe { task.as_ref() } {
            word.set(u64::from(begins));
        }
    }
    if begins {
        idle::waits();
    } else {
        idle::works();
    }
}

/// A thread changes from one task to another.
extern "C" fn task_schedule(_prior: *const Data, how: c_int, next: *const Data) {
    if matches!(how, status::TASKWAIT_COMPLETE | status::EARLY_FULFILL | status::LATE_FULFILL) {
        return;
    }
    // SAFETY: null or the word that the runtime keeps for us.
    let marked = unsafe { next.as_ref() }.is_some_and(|word| word.get() != 0);
    if marked || (!next.is_null() && ptr::eq(next, LEAVING.get())) {
        idle::waits();
    } else {
        idle::works();
    }
}
