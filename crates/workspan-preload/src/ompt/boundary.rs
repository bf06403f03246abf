//! Where code of the program ends and the runtime's begins, with virtual cores.
//!
//! A team of 64 enters and leaves a region 64 times, though most members find nothing to do: what the runtime takes for that,
//! each time with another thread's memory, was more than the work of short loops. So a strand ends where the program calls the
//! runtime, not where the runtime calls back, and begins where the runtime calls the program: the bodies of regions are
//! replaced by functions that call them ([`super::bodies`]), and entry points say that they were called
//! ([`super::interpose`]). What passes between such a call and the next callback, or between a callback and the body, is in no
//! strand.
//!
//! **Invariant:** only time between two of these marks on one thread is dropped, and at most [`LONGEST_NANOS`] each, unless the runtime returns
//! to the collector: where a callback does not come, the program's time counts. With the virtual clock, whose ticks are the program's, nothing is dropped.
//!
//! **Cost:** one load for each reading of a callback where there are no virtual cores.

use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use workspan_collect::clock;
use workspan_collect::exclude::exclude_running;
use workspan_collect::platform;
use workspan_collect::strand;
use workspan_collect::thread;
use workspan_collect::ticks::ticks_of;
use workspan_wire::shm::Thread;

use super::noted::{inside, set_inside, watches, Inside};
use crate::dag::clock::is_virtual;
use crate::dag::frame::Frame;
use crate::dag::pieces;
use crate::dag::token;

/// Longer than the runtime takes.
const LONGEST_NANOS: u64 = 100_000;

/// Code that each member of a team runs is less than this, if it only finds out that there is nothing to do.
const TRIFLE_NANOS: u64 = 300;

/// What a strand of nothing between two marks takes.
static MARK: AtomicI64 = AtomicI64::new(0);

/// Measures that, on the thread that starts the runtime.
pub(super) fn calibrate() {
    const STRANDS: i64 = 512;
    const ROUNDS: u32 = 5;
    let Some(thread) = thread::hot().filter(|_| watched()) else { return };
    exclude_running(thread, || {
        let state = thread.task.get();
        let round = |_| {
            let before = thread.task.work.get();
            for _ in 0..STRANDS {
                set_inside(Inside::Always);
                program_goes_on();
                enters(0);
            }
            (thread.task.work.get() - before) / STRANDS
        };
        let least = (0..ROUNDS).map(round).min();
        set_inside(Inside::No);
        thread.task.set(state);
        MARK.store(least.unwrap_or(0).max(0), Ordering::Relaxed);
    });
}

/// The shortest strand that ends at a place of the program, by where it is.
struct Least {
    place: AtomicU64,
    ticks: AtomicI64,
}

static LEAST: [Least; 64] = [const { Least { place: AtomicU64::new(0), ticks: AtomicI64::new(0) } }; 64];

/// The shortest strand so far that ended at `place`, of which one of `ticks` is another: all members do the same there, most
/// of them with cold caches.
fn least(place: u64, ticks: i64) -> i64 {
    let known = &LEAST[(place >> 2) as usize % LEAST.len()];
    if known.place.load(Ordering::Relaxed) != place {
        // Whoever was there before begins anew.
        known.place.store(place, Ordering::Relaxed);
        known.ticks.store(ticks, Ordering::Relaxed);
    }
    let least = known.ticks.load(Ordering::Relaxed).min(ticks);
    known.ticks.store(least, Ordering::Relaxed);
    least
}

/// True if time in the runtime is to be dropped.
#[inline(always)]
pub(super) fn watched() -> bool {
    token::enabled() && !is_virtual()
}

/// The program calls the runtime at `place`.
#[inline]
pub(super) fn enters(place: u64) {
    if watched() {
        enter(place);
    }
}

#[cold]
fn enter(place: u64) {
    let Some(thread) = thread::current() else { return };
    if thread.task.waiting.get() != 0 || thread.account.get() == 0 {
        return;
    }
    let at = clock::read(thread);
    // What hooks take as a rule is more than this strand had: it had next to nothing, and not less.
    let ticks = (at.wrapping_sub(thread.start.get()) as i64).max(0);
    let in_common = Frame::on(thread).is_some_and(|member| member.is_member() && !pieces::runs_some(member));
    let counts = if in_common && ticks < ticks_of(thread, TRIFLE_NANOS) { least(place, ticks) } else { ticks };
    thread.start.set(at.wrapping_sub(counts as u64));
    strand::stop(thread, at);
    strand::go(thread, at);
    set_inside(Inside::Always);
}

/// A callback is over that the runtime goes on from to the program.
#[inline]
pub(super) fn stays() {
    if watched() {
        set_inside(Inside::Always);
    }
}

/// The runtime calls back on `thread`: the tick, if time in the runtime was dropped, so that nothing is left of the strand.
#[inline(always)]
pub(super) fn leaves(thread: &Thread) -> Option<u64> {
    if token::enabled() {
        leave(thread)
    } else {
        None
    }
}

#[cold]
fn leave(thread: &Thread) -> Option<u64> {
    let was = inside();
    set_inside(Inside::No);
    if was != Inside::Always || is_virtual() || thread.task.waiting.get() != 0 {
        return None;
    }
    let passed = platform::ticks().wrapping_sub(thread.start.get()) as i64;
    if passed > ticks_of(thread, LONGEST_NANOS) && !watches() {
        return None;
    }
    let now = clock::wake(thread);
    thread.start.set(now);
    Some(now)
}

/// The runtime calls the program on the calling thread, or returns to it.
pub(super) fn program_goes_on() {
    if !watched() {
        return;
    }
    let Some(thread) = thread::current() else { return };
    if let Some(now) = leaves(thread) {
        thread.start.set(now.wrapping_add(MARK.load(Ordering::Relaxed) as u64));
    }
}
