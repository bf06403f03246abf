//! Where events go: the run-time of an instrumented program, if there is one and it records.

use core::cell::Cell;
use core::ffi::{c_char, c_void};
use core::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Relaxed, Release},
};

use workspan_trace::control::Kind;

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

type Now = unsafe extern "C" fn() -> u64;
type Wanted = unsafe extern "C" fn() -> u32;
type Pause = unsafe extern "C" fn(u32);
type Event = unsafe extern "C" fn(u32, *const u64);

/// Functions of the run-time; null: not looked for, 1: there is none.
static NOW: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static WANTED: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static PAUSE: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static EVENT: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
const NONE: *mut c_void = core::ptr::dangling_mut();

/// Order of what this process posted.
static TICKETS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Looks the run-time up, when this library is loaded: all objects of the program are there by then.
extern "C" fn find() {
    for (slot, name) in [
        (&NOW, c"__workspan_now"),
        (&WANTED, c"__workspan_wanted"),
        (&PAUSE, c"__workspan_pause"),
        (&EVENT, c"__workspan_event"),
    ] {
        // SAFETY: the whole program is searched for a text that ends in a zero.
        let found = unsafe { dlsym(core::ptr::null_mut(), name.as_ptr()) };
        slot.store(if found.is_null() { NONE } else { found }, Release);
    }
}

#[used]
#[link_section = ".init_array"]
static FIND: extern "C" fn() = find;

fn known(slot: &AtomicPtr<c_void>) -> Option<*mut c_void> {
    Some(slot.load(Relaxed)).filter(|found| !found.is_null() && *found != NONE)
}

/// Ticks now.
pub fn now() -> u64 {
    known(&NOW).map_or(0, |found| {
        // SAFETY: the run-time's function of this name and type.
        let function = unsafe { core::mem::transmute::<*mut c_void, Now>(found) };
        // SAFETY: takes nothing.
        unsafe { function() }
    })
}

fn wanted() -> bool {
    known(&WANTED).is_some_and(|found| {
        // SAFETY: as above.
        let function = unsafe { core::mem::transmute::<*mut c_void, Wanted>(found) };
        // SAFETY: takes nothing.
        unsafe { function() != 0 }
    })
}

/// Until it is called with false, this thread's locks, threads and allocations are not the program's.
pub fn pause(paused: bool) {
    if let Some(found) = known(&PAUSE) {
        // SAFETY: as above.
        let function = unsafe { core::mem::transmute::<*mut c_void, Pause>(found) };
        // SAFETY: a number.
        unsafe { function(u32::from(paused)) };
    }
}

/// Notes an event. The run-time reads as many slots as the kind has.
pub fn event<const N: usize>(kind: Kind, slots: [u64; N]) {
    debug_assert_eq!(kind.slots(), N);
    if let Some(found) = known(&EVENT) {
        // SAFETY: as above.
        let function = unsafe { core::mem::transmute::<*mut c_void, Event>(found) };
        // SAFETY: there are as many as the kind has.
        unsafe { function(kind as u32, slots.as_ptr()) };
    }
}

/// The next ticket.
pub fn ticket() -> u64 {
    TICKETS.fetch_add(1, Relaxed)
}

/// A thread in a function of MPI that the program has called.
#[derive(Debug)]
pub struct Inside(());

/// A call of the program; nothing if nobody records, or a function of MPI has called.
pub fn enter() -> Option<Inside> {
    if INSIDE.get() || !wanted() {
        return None;
    }
    INSIDE.set(true);
    pause(true);
    Some(Inside(()))
}

impl Drop for Inside {
    fn drop(&mut self) {
        pause(false);
        INSIDE.set(false);
    }
}
