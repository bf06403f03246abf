//! Entry points of LLVM's runtime for loops whose iterations wait for one another, by sinks and sources or in `ordered` regions, defined here
//! first. gcc's entry points call these.
//!
//! The runtime's callback for them comes after the wait, which is a loop that only looks; so the wait is seen here.

use core::ffi::{c_int, c_void};
use core::mem;
use core::ptr;

use workspan_collect::interposed::Original;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::events::now;
use super::noted::{noted, Entry};
use super::site::call_site;
use super::tasks::current_task;
use crate::dag::frame::Frame;
use crate::dag::iterations::{self, Dimension, Nest};
use crate::dag::{task, token};
use crate::modules;

static INIT: Original = Original::new(c"__kmpc_doacross_init");
static WAIT: Original = Original::new(c"__kmpc_doacross_wait");
static ORDERED: Original = Original::new(c"__kmpc_ordered");
static END_ORDERED: Original = Original::new(c"__kmpc_end_ordered");
static POST: Original = Original::new(c"__kmpc_doacross_post");

type Init = extern "C" fn(*const c_void, c_int, c_int, *const Dimension);
type At = extern "C" fn(*const c_void, c_int, *const i64);

/// The loop begins: how many loops there are, one in the other, and the bounds of each.
#[no_mangle]
extern "C" fn __kmpc_doacross_init(place: *const c_void, number: c_int, count: c_int, dimensions: *const Dimension) {
    if let Some((thread, member)) = current_task() {
        let at = now(thread);
        task::stop(thread, Some(at));
        let count = usize::try_from(count).unwrap_or(0);
        if !dimensions.is_null() {
            // SAFETY: the program passes that many.
            let dimensions = unsafe { core::slice::from_raw_parts(dimensions, count) };
            // libomp calls for gcc, and passes the last iteration.
            let beyond = !modules::of_the_runtime(place as u64);
            iterations::begins(thread, member, Nest { dimensions, beyond });
        }
        task::go_long(thread, at);
    }
    let original = INIT.get();
    if !original.is_null() {
        // SAFETY: the runtime's function, which has this type.
        let original = unsafe { mem::transmute::<*mut c_void, Init>(original) };
        original(place, number, count, dimensions);
    }
}

/// An iteration waits for the one of these values, if there is one.
#[no_mangle]
extern "C" fn __kmpc_doacross_wait(place: *const c_void, number: c_int, values: *const i64) {
    wait(values, entry(place), || of_original(&WAIT, place, number, values));
}

/// The same, by what `own` does.
pub(super) fn wait(values: *const i64, entry: Entry, own: impl FnOnce()) {
    let sink = |thread, member: &Frame, at| {
        iterations::sink(thread, member, at, values, &call_site(SiteKind::Ordered, entry, ptr::null()));
    };
    waits(|_| true, own, sink);
}

/// The running member, if it is one that `follows`, waits by what `own` does; then it goes on after what `join` says.
fn waits(follows: impl FnOnce(&Frame) -> bool, own: impl FnOnce(), join: impl FnOnce(&'static Thread, &Frame, u64)) {
    let waiting = current_task().filter(|(thread, member)| thread.task.waiting.get() == 0 && follows(member));
    let Some((thread, member)) = waiting else { return own() };
    let at = now(thread);
    task::stop(thread, Some(at));
    iterations::meets(thread, member);
    task::wait(thread, at);
    if token::enabled() {
        token::give(thread);
    }
    own();
    if token::enabled() {
        token::take(thread);
    }
    let at = now(thread);
    task::wait_over(thread, at);
    join(thread, member, at);
    task::go_long(thread, at);
}

/// An iteration waits for its turn in the order of the iterations.
#[no_mangle]
extern "C" fn __kmpc_ordered(place: *const c_void, number: c_int) {
    let entry = entry(place);
    let turn = |thread, member: &Frame, at| {
        iterations::turn(thread, member, at, &call_site(SiteKind::Ordered, entry, ptr::null()))
    };
    waits(iterations::takes_turns, || of_turns(&ORDERED, place, number), turn);
}

/// It lets the next one have its turn.
#[no_mangle]
extern "C" fn __kmpc_end_ordered(place: *const c_void, number: c_int) {
    if let Some((thread, member)) = current_task().filter(|(_, member)| iterations::takes_turns(member)) {
        let at = now(thread);
        task::stop(thread, Some(at));
        iterations::turn_ends(thread, member, at);
        task::go_long(thread, at);
    }
    of_turns(&END_ORDERED, place, number);
}

fn of_turns(original: &Original, place: *const c_void, number: c_int) {
    let original = original.get();
    if !original.is_null() {
        // SAFETY: the runtime's functions for turns, which have this type.
        let original = unsafe { mem::transmute::<*mut c_void, extern "C" fn(*const c_void, c_int)>(original) };
        original(place, number);
    }
}

/// What is known of the place: where libomp calls for gcc, what was noted.
fn entry(place: *const c_void) -> Entry {
    if modules::of_the_runtime(place as u64) {
        noted()
    } else {
        Entry { ident: place.cast(), ..Entry::NONE }
    }
}

/// The iteration of these values has come so far that others may go on.
#[no_mangle]
extern "C" fn __kmpc_doacross_post(place: *const c_void, number: c_int, values: *const i64) {
    if let Some((thread, member)) = current_task().filter(|(thread, _)| thread.task.waiting.get() == 0) {
        let at = now(thread);
        task::stop(thread, Some(at));
        iterations::meets(thread, member);
        iterations::source(thread, member, at, values);
        task::go_long(thread, at);
    }
    of_original(&POST, place, number, values);
}

fn of_original(original: &Original, place: *const c_void, number: c_int, values: *const i64) {
    let original = original.get();
    if !original.is_null() {
        // SAFETY: the runtime's functions for iterations, which have this type.
        let original = unsafe { mem::transmute::<*mut c_void, At>(original) };
        original(place, number, values);
    }
}
