//! Threads that have nothing to run.

use super::events;
use super::segment;
use workspan_wire::shm::Thread;

/// Marks that the thread, whose strand ended at tick `since`, has nothing to run.
pub fn enter_idle(thread: &Thread, since: u64) {
    segment::pause(thread);
    thread.task.waiting.set(1);
    events::turn(thread);
    thread.excluded.set(0);
    thread.idle_since.set(since);
}

/// The opposite of [`enter_idle`], at tick `now`.
pub fn leave_idle(thread: &Thread, now: u64) {
    thread.task.waiting.set(0);
    segment::resume(thread);
    let waited = now.wrapping_sub(thread.idle_since.get()) as i64;
    thread.waited.set(thread.waited.get() + waited);
    if thread.is_worker.get() != 0 {
        thread.idle.set(thread.idle.get() + waited);
    }
}
