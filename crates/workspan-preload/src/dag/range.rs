//! Whether the program's span is one end of a range, and where the other end is: with only the order that the program demands.
//!
//! Two things make an order that it does not demand: a runtime that shares a loop out in chunks, and locks, which somebody takes first.
//! While neither was seen the uniform span is the span, and not reported.
//!
//! **Invariant:** whatever ends by itself notes its uniform end here or in what its runtime waits for, whether there is a range yet or not.
//! **Cost:** a load and an exchange where a thread ends.

use core::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use workspan_collect::shared::Shared;
use workspan_wire::shm::Thread;

use super::alt_spans::AltSpans;
use super::solo::raise;

static LOOPS: AtomicBool = AtomicBool::new(false);
static LOCKS: AtomicBool = AtomicBool::new(false);
/// The latest uniform end of a thread.
static LATEST: AtomicI64 = AtomicI64::new(i64::MIN);

/// There has been a loop of which the runtime reports chunks.
pub fn loop_seen() {
    LOOPS.store(true, Ordering::Relaxed);
}

/// A strand has waited for a lock.
pub fn lock_waited() {
    LOCKS.store(true, Ordering::Relaxed);
}

/// The strand of `thread`, which is stopped, is the last of a thread of the program's own.
pub fn thread_ends(thread: &Thread) {
    raise(&LATEST, AltSpans::of(thread).uniform);
}

/// The program ends with the strand of `thread`, which is stopped.
pub fn program_ends(thread: &Thread) {
    let latest = &Shared::of(thread).header().detached;
    raise(&latest.uniform, AltSpans::of(thread).uniform.max(LATEST.load(Ordering::Relaxed)));
}

/// True if the span is the end of a range.
pub fn is_one() -> bool {
    LOOPS.load(Ordering::Relaxed) || LOCKS.load(Ordering::Relaxed)
}
