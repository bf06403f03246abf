//! Locks of the program: who waits goes on behind who gave them back, and what is done under a lock that is fought for, or held for
//! long, is a region of its own.
//!
//! **Cost.** A region takes some 0.2 µs, a lock and its return a tenth of that. So a lock has regions while it is *hot*: for some times after each
//! wait, and as long as it is held for [`LONG_NANOS`] or more. That a lock is held for long is found by reading the clock at each eighth
//! that a thread takes.
//!
//! **Sleep.** What hooks do under a hot lock makes it busier than it is in the program alone: a lock of nanoseconds would be given from sleeper
//! to sleeper, each time by the kernel, in many times the time. So who finds a lock taken looks for it again for [`SOON_NANOS`] before
//! it sleeps. Who gets it by then has waited, but for nobody in particular: which of two strands takes a free lock first is accident.

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::Ordering;

use workspan_collect::ticks::ticks_of;
use workspan_collect::waits::Wait;
use workspan_collect::{platform, thread};
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::timer;
use super::wait::{self, in_strand, Ended, For};
use super::waiters::{self, bucket, Left};
use crate::dag::frame::Frame;
use crate::dag::{create, lock, task, token};
use crate::queues;
use crate::tbb::site::{self, Called};

/// What a wait for a lock adds to its heat: so often it is then taken with a region of its own.
const HEAT: u32 = 64;
/// The most.
const HOTTEST: u32 = 4096;

/// Nanoseconds for which a lock is held, from which on the cost of a region does not matter.
const LONG_NANOS: u64 = 2_000;
/// Nanoseconds for which a thread looks for a lock before it sleeps.
const SOON_NANOS: u64 = 2_000;
/// Pauses of the processor between two looks.
const PAUSES: u32 = 4;

/// Of this number of locks that a thread takes it looks how long it holds the first.
const LOOKS: u32 = 8;

std::thread_local! {
    /// Locks that the thread has taken without a region.
    static TAKEN: Cell<u32> = const { Cell::new(0) };
    /// Regions of locks that it has open.
    static OPEN: Cell<u32> = const { Cell::new(0) };
    /// Locks that it looks at, each in the place of its address, and the ticks when they were taken.
    static LOOKED_AT: [Cell<(u64, u64)>; PLACES] = const { [const { Cell::new((0, 0)) }; PLACES] };
}

const PLACES: usize = 8;

/// The place of a lock among those that are looked at.
#[inline(always)]
fn place(address: u64) -> usize {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) as usize
}

/// The calling thread has taken the lock at `address`, and looks how long it holds it.
#[inline(always)]
fn look(address: u64) {
    LOOKED_AT.with(|all| all[place(address)].set((address, platform::ticks())));
}

/// The calling thread is about to give the lock at `address` back: one that it has held for long stays hot.
#[inline(always)]
fn looked(address: u64) {
    LOOKED_AT.with(|all| {
        let (known, since) = all[place(address)].get();
        if known == address {
            all[place(address)].set((0, 0));
            if is_long(since) {
                bucket(address).heat.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
}

/// With the virtual clock no lock is held for long.
#[cold]
fn is_long(since: u64) -> bool {
    let held = platform::ticks().wrapping_sub(since) as i64;
    thread::hot().is_some_and(|thread| held >= ticks_of(thread, LONG_NANOS))
}

/// Taken; its owner has died.
const OWNER_DEAD: c_int = 130;

fn is_taken(answer: c_int) -> bool {
    answer == 0 || answer == OWNER_DEAD
}

/// The calling thread takes the lock that is `wanted`: at once by `attempt`, otherwise it waits for it by `lock`. Returns what that
/// answers.
#[inline(always)]
pub fn take(called: Called, wanted: For, attempt: impl Fn() -> c_int, lock: impl FnOnce() -> c_int) -> c_int {
    let bucket = bucket(wanted.address);
    if bucket.heat.load(Ordering::Relaxed) != 0 || bucket.guards.load(Ordering::Relaxed) != 0 {
        wait::before_lock(called);
    }
    let answer = attempted(called, wanted.address, attempt());
    if is_taken(answer) {
        return answer;
    }
    contended(called, wanted, attempt, lock)
}

/// A thread is about to wait for what the lock at `address` guards.
#[inline(always)]
pub fn guards(address: u64) {
    let guards = &bucket(address).guards;
    if guards.load(Ordering::Relaxed) == 0 {
        guards.store(1, Ordering::Relaxed);
    }
}

/// The calling thread has tried to take the lock at `address`, with this answer, which is returned.
#[inline(always)]
pub fn attempted(called: Called, address: u64, answer: c_int) -> c_int {
    if is_taken(answer) {
        taken(called, address);
    }
    answer
}

/// The calling thread has taken the lock at `address` without waiting.
#[inline(always)]
fn taken(called: Called, address: u64) {
    if bucket(address).heat.load(Ordering::Relaxed) != 0 {
        hold(called, address, 0);
        return;
    }
    let taken = TAKEN.get();
    TAKEN.set(taken.wrapping_add(1));
    if taken.is_multiple_of(LOOKS) {
        look(address);
    }
}

/// The calling thread will wait for the lock that is `wanted`: awake by `attempt` for a moment, then by `lock`. Returns what that answers.
#[cold]
fn contended(called: Called, wanted: For, attempt: impl Fn() -> c_int, lock: impl FnOnce() -> c_int) -> c_int {
    let address = wanted.address;
    if let Some((answer, waited)) = taken_soon(called, attempt) {
        fought_for(address);
        hold(called, address, waited);
        return answer;
    }
    let Some(waiting) = wait::begin(called, wanted) else {
        return lock();
    };
    let answer = lock();
    if !is_taken(answer) {
        waiting.end(Ended::TimedOut);
        return answer;
    }
    let waited = waiting.end(Ended::AtOnce);
    fought_for(address);
    hold(called, address, waited);
    answer
}

/// Somebody has waited for the lock at `address`.
fn fought_for(address: u64) {
    let heat = &bucket(address).heat;
    heat.store((heat.load(Ordering::Relaxed) + HEAT).min(HOTTEST), Ordering::Relaxed);
}

/// The calling thread takes a lock by `attempt` within [`SOON_NANOS`]: what that answers, and the ticks that it took. `None`: it has not got it.
/// Not with the virtual clock, by which somebody waits or does not, nor where threads take turns, so that nobody would give it back.
fn taken_soon(called: Called, attempt: impl Fn() -> c_int) -> Option<(c_int, i64)> {
    thread::hot().filter(|thread| !token::held(thread))?;
    in_strand(called, |thread, now| {
        let wait = Wait::begin_at(thread, now);
        let (begun, limit) = (platform::ticks(), ticks_of(thread, SOON_NANOS) as u64);
        let answer = loop {
            (0..PAUSES).for_each(|_| core::hint::spin_loop());
            let answer = attempt();
            if is_taken(answer) {
                break Some(answer);
            }
            if platform::ticks().wrapping_sub(begun) > limit {
                break None;
            }
        };
        let woken = if answer.is_some() { thread::waking_holding(now) } else { thread::waking() };
        let took = wait.end_unknown(woken.map_or(now, |(_, now)| now));
        answer.map(|answer| (answer, took))
    })
    .flatten()
}

/// The region of the lock begins, after a wait of `waited` ticks.
#[cold]
pub fn hold(called: Called, address: u64, waited: i64) {
    let bucket = bucket(address);
    let heat = bucket.heat.load(Ordering::Relaxed);
    bucket.heat.store(heat.saturating_sub(1), Ordering::Relaxed);
    in_strand(called, |thread, now| {
        let Some(frame) = Frame::on(thread).or_else(|| create::initial(thread)) else { return };
        if !lock::has_room(frame) || lock::holds(frame, address) {
            return;
        }
        let now = timer::decide(thread, now, false);
        task::stop(thread, Some(now));
        if let Some(site) = site::named(thread, SiteKind::Lock, called, "") {
            if lock::hold(thread, frame, address, &site, waited) {
                OPEN.set(OPEN.get() + 1);
            }
        }
        task::go(thread, Some(now));
        look(address);
    });
}

/// The calling thread is about to give the lock at `address` back. True if that ends a region of its own.
#[inline(always)]
pub fn given_back(called: Called, address: u64) -> bool {
    looked(address);
    let nobody = bucket(address).waiting.load(Ordering::SeqCst) == 0 && !has_region(address);
    !nobody && give_back(called, address)
}

/// True if the lock at `address` has a region of its own, open on the calling thread.
#[inline(always)]
fn has_region(address: u64) -> bool {
    OPEN.get() != 0 && is_open(address)
}

#[cold]
fn is_open(address: u64) -> bool {
    thread::current().and_then(Frame::on).is_some_and(|frame| lock::holds(frame, address))
}

#[cold]
fn give_back(called: Called, address: u64) -> bool {
    let ended = in_strand(called, |thread, now| {
        let ended = OPEN.get() != 0 && ends_region(thread, now, address);
        if ended {
            OPEN.set(OPEN.get() - 1);
        }
        if bucket(address).waiting.load(Ordering::SeqCst) != 0 {
            let now = workspan_collect::thread::running().map_or(now, |(_, now)| now);
            let now = timer::goes_on(thread, now, address);
            if waiters::concerns(thread, address) && !queues::is_machinery(thread) {
                let left = Left::by(thread, now, address);
                waiters::leave_to_watchers(thread, address, &left);
                waiters::pass(thread, address, left);
            }
        }
        ended
    });
    ended.unwrap_or(false)
}

fn ends_region(thread: &'static Thread, now: u64, address: u64) -> bool {
    let Some(frame) = Frame::on(thread).filter(|frame| lock::holds(frame, address)) else {
        return false;
    };
    task::stop(thread, Some(now));
    lock::given_back(thread, frame, address);
    task::go(thread, Some(now));
    true
}
