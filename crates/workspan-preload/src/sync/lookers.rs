//! What threads look at that look again and again, by `sched_yield`.
//!
//! Whoever looks whether something has come holds its address, in a register that calls keep or on its stack: if that does not come, it will
//! sleep there. So who wakes at an address ends only the looks of those who hold it. Code that names a variable of
//! the program need not hold its address; which code does shows: once a place has held what its look was ended by, it always does.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_collect::looks;
use workspan_collect::shared::Shared;
use workspan_collect::waits::Wait;
use workspan_wire::shm::{Thread, MAX_THREADS};

use super::waiters::{self, slot};
use crate::tbb::site::Called;

/// Registers that calls keep.
pub const REGISTERS: usize = 6;
/// Words of the stack above a call.
const WORDS: usize = 48;
const PAGE: usize = 4096;

/// What a thread held when it began to look.
struct Looker {
    /// Where the call returns to.
    place: AtomicU64,
    held: [AtomicU64; REGISTERS + WORDS],
}

/// By slot.
static LOOKERS: [Looker; MAX_THREADS] =
    [const { Looker { place: AtomicU64::new(0), held: [const { AtomicU64::new(0) }; REGISTERS + WORDS] } };
        MAX_THREADS];

/// Places that hold what they look at.
static HOLDING: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

fn holding(place: u64) -> &'static AtomicU64 {
    &HOLDING[(place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize]
}

/// `thread`, the calling one, begins to look by a call, with these registers.
pub fn begins(thread: &Thread, called: Called, registers: [u64; REGISTERS]) {
    let looker = &LOOKERS[slot(thread)];
    // A stack of the program's own may end with this page.
    let left = (PAGE - called.0 as usize % PAGE) / size_of::<u64>();
    // SAFETY: the entry point's caller has pushed what lies there; the rest is on the same page.
    let stack = unsafe { core::slice::from_raw_parts(called.0, left.min(WORDS)) };
    looker.place.store(stack[0], Ordering::Relaxed);
    let held = registers.iter().chain(stack).copied().chain(core::iter::repeat(0));
    looker.held.iter().zip(held).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
}

/// True if the thread of this slot, which looks, holds `address`.
pub fn holds(slot: usize, address: u64) -> bool {
    let looker = &LOOKERS[slot];
    let found = looker.held.iter().any(|word| word.load(Ordering::Relaxed) == address);
    if found {
        let place = looker.place.load(Ordering::Relaxed);
        holding(place).store(place, Ordering::Relaxed);
    }
    found
}

/// True if it may look at `address`.
pub fn may_look_at(slot: usize, address: u64) -> bool {
    let place = LOOKERS[slot].place.load(Ordering::Relaxed);
    holds(slot, address) || holding(place).load(Ordering::Relaxed) != place
}

std::thread_local! {
    /// The thread has looked, and it is not known who has ended that.
    static LOOKING: Cell<bool> = const { Cell::new(false) };
}

/// What threads watch that look: whoever wakes nobody.
pub fn place() -> u64 {
    static PLACE: u64 = 0;
    &raw const PLACE as u64
}

/// The calling thread looks.
pub fn looked() {
    LOOKING.set(true);
}

/// The strand of `thread`, the calling one, is at tick `now`: whoever ended its look may have left where it was only since. For what comes
/// is there before its waker says so, and a busy machine likes to switch in between.
#[inline(always)]
pub fn settle(thread: &'static Thread, now: u64) {
    if LOOKING.get() {
        settle_late(thread, now);
    }
}

#[cold]
fn settle_late(thread: &'static Thread, now: u64) {
    let Some(since) = looks::worked_since(thread, now) else {
        LOOKING.set(false);
        return;
    };
    let Some(left) = waiters::left_to_watcher(thread, place()) else { return };
    if since > 0 && looks::has_looked_before(thread, left.when) && !holds(slot(thread), left.address()) {
        left.release(Shared::of(thread));
        return;
    }
    LOOKING.set(false);
    looks::was_ended(thread);
    // What it has worked since is behind the wait. It is part of the strand that runs: none has begun after the look.
    let then = now.wrapping_sub(since as u64);
    Wait::begin_at(thread, then).end_behind(then, left.at, Some(left.parts()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_has_held_what_it_looked_at_always_does() {
        let looker = &LOOKERS[0];
        looker.place.store(0x1000, Ordering::Relaxed);
        assert!(may_look_at(0, 7), "nothing is known of the place");
        looker.held[REGISTERS + 3].store(9, Ordering::Relaxed);
        assert!(holds(0, 9));
        assert!(may_look_at(0, 9));
        assert!(!may_look_at(0, 7));
        looker.place.store(0x2000, Ordering::Relaxed);
        assert!(may_look_at(0, 7), "another place");
    }
}
