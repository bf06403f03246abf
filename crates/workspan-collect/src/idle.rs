//! Idle accounting alone: for whoever asks how a program scales, nothing else may cost anything.
//!
//! In this mode ([`workspan_wire::shm::Config::idle_only`]) a thread has a slot, but neither strand nor account, and every
//! other hook finds the thread as if it were gone ([`super::thread`]): two tests of pointers, the second out of line. What a thread waited is taken
//! at the two ends of an idle phase by the plain counter; of such phases a scheduler has few (Acar et al. 2.1).
//!
//! A thread that is blocked while it has work — by a lock, a read, a sleep — does not wait for work.

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::Ordering;

use super::platform;
use super::role::Role;
use super::waiting;
use workspan_wire::shm::Thread;

std::thread_local! {
    /// The calling thread's slot in this mode; null otherwise.
    static SLOT: Cell<*const Thread> = const { Cell::new(ptr::null()) };
}

/// The calling thread, in this mode.
#[inline(always)]
pub fn here() -> Option<&'static Thread> {
    let slot = SLOT.get();
    if slot.is_null() {
        return None;
    }
    // SAFETY: `SLOT` is null or points to this thread's slot in shared memory, which is never unmapped.
    Some(unsafe { &*slot })
}

/// The calling thread begins; a worker has no work yet.
pub(super) fn begin(thread: &'static Thread, base: u64, role: Role) {
    let now = platform::ticks();
    thread.base.set(base);
    thread.tid.set(platform::thread_id());
    thread.born.set(now);
    thread.is_worker.set(u32::from(role == Role::Worker));
    thread.task.waiting.set(u32::from(role == Role::Worker));
    thread.idle_since.set(now);
    SLOT.set(thread);
}

/// The calling thread becomes a worker.
pub(super) fn become_worker() {
    if let Some(thread) = here() {
        thread.is_worker.set(1);
    }
}

/// The calling thread ends.
pub(super) fn end() {
    let slot = SLOT.replace(ptr::null());
    if slot.is_null() {
        return;
    }
    // SAFETY: as in `here`.
    let thread = unsafe { &*slot };
    let now = platform::ticks();
    if thread.task.waiting.get() != 0 {
        waiting::leave_idle(thread, now);
    }
    thread.lived.set(thread.lived.get() + now.wrapping_sub(thread.born.get()) as i64);
    thread.state.store(2, Ordering::Release);
}

/// Forgets the slot without touching it: in a forked child.
pub(super) fn forget() {
    SLOT.set(ptr::null());
}

/// The calling thread waits for work from now on.
#[inline(always)]
pub fn waits() {
    if let Some(thread) = here() {
        waits_on(thread);
    }
}

/// The same where the calling thread is known.
#[inline(always)]
pub fn waits_on(thread: &Thread) {
    if thread.task.waiting.get() == 0 {
        waiting::enter_idle(thread, platform::ticks());
    }
}

/// It has work.
#[inline(always)]
pub fn works() {
    if let Some(thread) = here() {
        works_on(thread);
    }
}

/// The same where the calling thread is known.
#[inline(always)]
pub fn works_on(thread: &Thread) {
    if thread.task.waiting.get() != 0 {
        waiting::leave_idle(thread, platform::ticks());
    }
}
