//! Idle accounting alone ([`workspan_collect::idle`]): the few callbacks that show when a thread has no task to run.
//!
//! A thread waits for work from the begin of a wait — at a barrier, for children, for a group — to its end, but for the
//! tasks that it runs meanwhile; a worker, between regions, too. In which of the tasks below a running one its thread
//! would wait again shows in the task's word: 1 while it waits. At a team's last barrier, where libomp insists on empty
//! words (`super::events::leave_team`), the thread remembers the task instead.
//!
//! Who waits for a lock has work, and is blocked.

use core::cell::Cell;
use core::ffi::{c_int, c_uint, c_void};
use core::ptr;

use workspan_collect::idle;
use workspan_collect::shared::Shared;
use workspan_collect::thread;
use workspan_wire::shm::Thread;

use super::abi::{status, sync, task as flag, Callback, Data, SetCallback, BEGIN, BEGIN_END};

/// What a callback needs to know of its thread.
#[repr(C)]
#[derive(Debug)]
struct Here {
    /// Its slot; null before it has met a region or a wait, and if nothing is accounted for.
    slot: Cell<*const Thread>,
    /// The task that waits at its team's last barrier on this thread.
    leaving: Cell<*const Data>,
}

const _: () = assert!(size_of::<Here>() == 16);

// In the initial-exec model, as in `super::site`: a task of libomp takes less than Rust's own way to such a variable.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".hidden workspan_idle_here",
    ".globl workspan_idle_here",
    ".type workspan_idle_here, @object",
    ".size workspan_idle_here, 16",
    "workspan_idle_here:",
    ".zero 16",
    ".popsection",
);

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn with_here<R>(work: impl FnOnce(&Here) -> R) -> R {
    let at: *const Here;
    // SAFETY: reads the thread pointer and a constant that the loader fills in.
    unsafe {
        core::arch::asm!(
            "mov {at}, qword ptr [rip + workspan_idle_here@GOTTPOFF]",
            "add {at}, qword ptr fs:[0]",
            at = out(reg) at,
            options(nostack, pure, readonly)
        );
    }
    // SAFETY: this thread's own variable, valid when all zero.
    work(unsafe { &*at })
}

#[cfg(not(target_arch = "x86_64"))]
fn with_here<R>(work: impl FnOnce(&Here) -> R) -> R {
    std::thread_local! {
        static HERE: Here = const { Here { slot: Cell::new(ptr::null()), leaving: Cell::new(ptr::null()) } };
    }
    HERE.with(work)
}

/// At a region or a wait, of which there are few: looks for the slot again, which a forked child has lost.
fn found<R>(work: impl FnOnce(&Here, &'static Thread) -> R) -> Option<R> {
    let slot = idle::here();
    with_here(|here| {
        here.slot.set(slot.map_or(ptr::null(), ptr::from_ref));
        slot.map(|thread| work(here, thread))
    })
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
    const INITIAL: c_int = 1;
    const WORKER: c_int = 2;
    match kind {
        // One of the program's that opens regions of its own.
        INITIAL => drop(thread::current()),
        WORKER => thread::become_worker(),
        _ => {}
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
        found(|_, thread| {
            idle::works_on(thread);
            Shared::of(thread).workers_at_least(size);
        });
    } else if index != 0 {
        // The first member goes on with what is after the region.
        found(|here, thread| {
            here.leaving.set(ptr::null());
            idle::waits_on(thread);
        });
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
    found(|here, thread| {
        if kind == sync::LAST_BARRIER {
            here.leaving.set(if begins { task } else { ptr::null() });
        } else {
            // SAFETY: null or the word that the runtime keeps for us.
            if let Some(word) = unsafe { task.as_ref() } {
                word.set(u64::from(begins));
            }
        }
        if begins {
            idle::waits_on(thread);
        } else {
            idle::works_on(thread);
        }
    });
}

/// A thread changes from one task to another.
extern "C" fn task_schedule(_prior: *const Data, how: c_int, next: *const Data) {
    if matches!(how, status::TASKWAIT_COMPLETE | status::EARLY_FULFILL | status::LATE_FULFILL) {
        return;
    }
    with_here(|here| {
        // SAFETY: null, or this thread's slot in shared memory, which is never unmapped.
        let Some(thread) = (unsafe { here.slot.get().as_ref() }) else { return };
        // SAFETY: null or the word that the runtime keeps for us.
        let marked = unsafe { next.as_ref() }.is_some_and(|word| word.get() != 0);
        if marked || (!next.is_null() && ptr::eq(next, here.leaving.get())) {
            idle::waits_on(thread);
        } else {
            idle::works_on(thread);
        }
    });
}
