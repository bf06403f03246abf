//! Counters that need not be atomic as long as the program has one thread.
//!
//! A locked instruction costs some 20 cycles, and a task takes several. Until the first thread is created nobody else can
//! be at a counter; whoever creates it says so before ([`enter_multithreaded`]), and so happens before everything the thread does.
//!
//! **Threads that are not reported.** A library that is loaded with `RTLD_DEEPBIND` finds the C library's `pthread_create` before ours.
//! Of such threads, those of a team are reported where the team is ([`enter_multithreaded`] again): before any of them is given a task.
//! Any other has tasks of its own, whose counters are in frames of its own: two threads that are alone among their frames
//! each are not in each other's way; those of oneTBB, whose tasks may be anybody's, are reported as soon as they run one
//! (`tbb::state`). What all of them share, the end of what nobody waits for, is changed as if there were
//! others always ([`offer`], `task::tell`).

use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};

use workspan_collect::group;
use workspan_collect::path;
use workspan_collect::shared::Shared;
use workspan_wire::shm::{Candidate, NODE, OWNED};

static MULTITHREADED: AtomicBool = AtomicBool::new(false);

/// Another thread is about to be created. True the first time.
pub fn enter_multithreaded() -> bool {
    let first = alone();
    if first {
        MULTITHREADED.store(true, Ordering::Relaxed);
    }
    first
}

/// True if another thread was created, or is about to be.
pub fn is_multithreaded() -> bool {
    !alone()
}

/// Does `work` as if there were other threads.
pub fn as_if_multithreaded(work: impl FnOnce()) {
    let first = enter_multithreaded();
    work();
    if first {
        MULTITHREADED.store(false, Ordering::Relaxed);
    }
}

#[inline(always)]
fn alone() -> bool {
    !MULTITHREADED.load(Ordering::Relaxed)
}

/// Adds one.
#[inline(always)]
pub fn increment(counter: &AtomicU32) {
    if alone() {
        counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    } else {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Takes one away. True if that was the last; then everything that others did before they took theirs has happened.
#[inline(always)]
pub fn decrement(counter: &AtomicU32) -> bool {
    let seen = counter.load(Ordering::Acquire);
    // Nobody else has one to take, or to make more of.
    if seen == 1 {
        return true;
    }
    if alone() {
        counter.store(seen - 1, Ordering::Relaxed);
        return false;
    }
    counter.fetch_sub(1, Ordering::AcqRel) == 1
}

/// `value` more.
#[inline(always)]
pub fn more(counter: &AtomicU64, value: u64) {
    if alone() {
        counter.store(counter.load(Ordering::Relaxed) + value, Ordering::Relaxed);
    } else {
        counter.fetch_add(value, Ordering::Relaxed);
    }
}

/// `value` less. True if nothing is left; then everything that others did before they took theirs has happened.
#[inline(always)]
pub fn less(counter: &AtomicU64, value: u64) -> bool {
    let seen = counter.load(Ordering::Acquire);
    // Nobody else has any to take, or to make more of.
    if seen == value {
        return true;
    }
    if alone() {
        counter.store(seen - value, Ordering::Relaxed);
        return false;
    }
    counter.fetch_sub(value, Ordering::AcqRel) == value
}

/// `word` becomes `new` if it is `old`; what it is otherwise.
#[inline(always)]
pub fn exchange(word: &AtomicU64, old: u64, new: u64) -> Result<(), u64> {
    if !alone() {
        return word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).map(|_| ());
    }
    let seen = word.load(Ordering::Relaxed);
    if seen == old {
        word.store(new, Ordering::Relaxed);
        Ok(())
    } else {
        Err(seen)
    }
}

/// As [`path::own`].
#[inline(always)]
pub fn own(shared: Shared, path: u32) -> u32 {
    if !alone() || path & NODE == 0 {
        return path::own(shared, path);
    }
    let holders = &shared.node(path & NODE).holders;
    holders.store(holders.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    path & NODE | OWNED
}

/// As [`path::release`].
#[inline(always)]
pub fn release(shared: Shared, path: u32) {
    if path & OWNED == 0 || path & NODE == 0 {
        return;
    }
    let holders = &shared.node(path & NODE).holders;
    let seen = holders.load(Ordering::Relaxed);
    if alone() && seen != 1 {
        holders.store(seen - 1, Ordering::Relaxed);
    } else {
        path::release(shared, path);
    }
}

/// Adds `value`.
#[inline(always)]
pub fn add(to: &AtomicI64, value: i64) {
    if alone() {
        to.store(to.load(Ordering::Relaxed) + value, Ordering::Relaxed);
    } else {
        to.fetch_add(value, Ordering::Relaxed);
    }
}

/// `to` becomes at least `value`.
#[inline(always)]
pub fn raise(to: &AtomicI64, value: i64) {
    if !alone() {
        group::raise(to, value);
    } else if to.load(Ordering::Relaxed) < value {
        to.store(value, Ordering::Relaxed);
    }
}

/// Offers a finished chain to `candidate`; the handle is used up.
#[inline(always)]
pub fn offer(shared: Shared, candidate: &Candidate, span: i64, path: u32) {
    if !alone() || ptr::eq(candidate, &shared.header().detached.candidate) {
        return group::offer(shared, candidate, span, path);
    }
    if span > candidate.span.load(Ordering::Relaxed) {
        candidate.span.store(span, Ordering::Relaxed);
        let shorter = candidate.path.load(Ordering::Relaxed) as u32;
        candidate.path.store(u64::from(path), Ordering::Relaxed);
        path::release(shared, shorter);
    } else {
        path::release(shared, path);
    }
}
