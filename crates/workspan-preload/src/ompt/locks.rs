//! Callbacks about locks and critical sections.
//!
//! Who wants a lock that nobody has does not wait for it, however long the kernel lets the thread stand meanwhile.
//!
//! What the iterations of a loop do in its `ordered` regions is in their order ([`super::doacross`]). In a loop of which that was not
//! known when it began, it is code under one lock, the team's: it is as serial.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use workspan_collect::clock;
use workspan_collect::region::{CallSite, Place, Told};
use workspan_wire::site::SiteKind;

use super::abi::mutex;
use super::events::{done, now};
use super::noted::{called_from, noted};
use super::site::call_site;
use super::tasks::current_task;
use crate::dag::clock::is_virtual;
use crate::dag::{iterations, lock, task};

/// How many have a lock, by its hash: of several locks the sum, so that at worst a wait counts that was none.
static HELD: [AtomicU32; 256] = [const { AtomicU32::new(0) }; 256];

fn held(lock: u64) -> &'static AtomicU32 {
    &HELD[(lock.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize]
}

/// A lock is wanted.
pub extern "C" fn mutex_acquire(kind: c_int, _hint: c_uint, _how: c_uint, lock: u64, _after: *const c_void) {
    if is_turn(kind) {
        return;
    }
    // Whoever only tries does not wait, and may not get it.
    if matches!(kind, mutex::ATOMIC | mutex::TEST_LOCK | mutex::TEST_NEST_LOCK) {
        return;
    }
    if let Some((thread, task)) = current_task() {
        let at = now(thread);
        task::stop(thread, Some(at));
        let at = if is_virtual() { at } else { clock::look_before_wait(thread, at) };
        lock::wait(thread, task, at, held(lock).load(Ordering::Relaxed) != 0);
        done(thread);
    }
}

/// True of the runtime's reports about an `ordered` region that is known already.
fn is_turn(kind: c_int) -> bool {
    kind == mutex::ORDERED && current_task().is_some_and(|(_, task)| iterations::takes_turns(task))
}

/// The place where `lock` is taken; for one of several locks that the same place takes, so that each is known by itself.
/// Where the compiler names the place, as of critical sections, there is one only.
fn lock_site(kind: SiteKind, lock: u64, after: *const c_void) -> CallSite {
    /// Locks of a place that are kept separate.
    const BUCKETS: u64 = 61;
    let site = call_site(kind, noted(), after);
    let Place::Address(address) = site.place else {
        return site;
    };
    // Locks of gcc's programs have four bytes.
    let bucket = (lock >> 2) % BUCKETS;
    // Code addresses have 47 bits.
    let key = address | (bucket + 1) << 48;
    CallSite { place: Place::Told { key, address, tell: |key| nameless((key >> 48) as u32) }, ..site }
}

/// A place of which nothing is known but its address; `number` distinguishes it from others of the same address.
fn nameless(number: u32) -> Told {
    Told { file: "", function: "", line: 0, column: number, address: 0 }
}

/// A lock is taken.
pub extern "C" fn mutex_acquired(kind: c_int, lock: u64, after: *const c_void) {
    if kind == mutex::ATOMIC || is_turn(kind) {
        return;
    }
    if kind != mutex::ORDERED {
        held(lock).fetch_add(1, Ordering::Relaxed);
    }
    if let Some((thread, task)) = current_task() {
        let at = now(thread);
        task::stop(thread, Some(at));
        let site = match kind {
            mutex::CRITICAL => SiteKind::Critical,
            mutex::ORDERED => SiteKind::Ordered,
            _ => SiteKind::Lock,
        };
        lock::taken(thread, task, at, lock, &lock_site(site, lock, called_from(task, after)));
        task::go(thread, Some(at));
        done(thread);
    }
}

/// A lock that the task holds already is taken or given back once more.
pub extern "C" fn nest_lock(_endpoint: c_int, _lock: u64, _after: *const c_void) {
    if let Some((thread, _)) = current_task() {
        let at = now(thread);
        task::stop(thread, Some(at));
        task::wait_over(thread, at);
        task::go(thread, Some(at));
        done(thread);
    }
}

/// A lock is given back.
pub extern "C" fn mutex_released(kind: c_int, lock: u64, _after: *const c_void) {
    if kind == mutex::ATOMIC || is_turn(kind) {
        return;
    }
    if kind != mutex::ORDERED {
        held(lock).fetch_sub(1, Ordering::Relaxed);
    }
    if let Some((thread, task)) = current_task() {
        let at = now(thread);
        task::stop(thread, Some(at));
        lock::given_back(thread, task, lock);
        task::go(thread, Some(at));
    }
}
