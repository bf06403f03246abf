//! Memory that a thread needs first.

use core::sync::atomic::Ordering;

use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_wire::shm::{Thread, MAX_CONTEXTS};

use super::pool;

/// Has the memory at hand that `thread` will need first: for tasks, and for the accounts of this context and the next.
pub fn ready(thread: &Thread) {
    const NEXT: u32 = 6;
    pool::prepare(thread);
    let known = Shared::of(thread).header().contexts.load(Ordering::Relaxed);
    for context in 0..(known + NEXT).min(MAX_CONTEXTS as u32) {
        strand::touch_account(thread, context);
    }
}
