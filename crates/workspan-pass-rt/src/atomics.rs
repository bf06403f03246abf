//! The order that atomic operations make.
//!
//! Instrumented code calls these around an atomic operation. A ticket is drawn from a counter that is found by the address's
//! hash, so that no object needs memory here; the counter's number is written with it. All that is drawn is written.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering::AcqRel};

use workspan_trace::control::{Kind, Operation, TICKET_BITS};

use crate::event::{wanted, write};
use crate::platform::thread;

const COUNTERS: usize = 4096;

/// Counters that are written by many threads do not share a line of the cache.
#[repr(align(64))]
struct Counter(AtomicU64);

static TICKETS: [Counter; COUNTERS] = [const { Counter(AtomicU64::new(0)) }; COUNTERS];

fn note(object: u64, operation: Operation) {
    if !wanted() || thread().schedules.get() != 0 {
        return;
    }
    let counter = ((object >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % COUNTERS as u64;
    let ticket = TICKETS[counter as usize].0.fetch_add(1, AcqRel) & ((1 << TICKET_BITS) - 1);
    write(Kind::Atomic, [object, counter << TICKET_BITS | ticket, operation as u64]);
}

/// What the thread did before this may be taken over by who acquires the object from now on.
pub fn release(object: u64) {
    note(object, Operation::AtomicStore);
}

/// The thread takes over what was released at an object.
pub fn acquire(object: u64) {
    note(object, Operation::AtomicLoad);
}

/// The same; what was released there is nobody else's any more.
pub fn take(object: u64) {
    note(object, Operation::Take);
}

/// Called before an atomic operation that releases.
#[no_mangle]
pub extern "C" fn __workspan_release(object: *const c_void) {
    release(object as u64);
}

/// Called after an atomic operation that acquires, and after a fence; null: what the fence acquires was not read.
#[no_mangle]
pub extern "C" fn __workspan_acquire(object: *const c_void) {
    if !object.is_null() {
        acquire(object as u64);
    }
}

/// A closure of Rust, `dyn FnMut(&OnceState)`, that is called once, and the word that is to be released then.
#[derive(Debug)]
#[repr(C)]
pub struct Once {
    closure: *mut c_void,
    functions: *const Functions,
    object: *const c_void,
}

/// The table of functions of such an object: what drops it, size, alignment, `call_once`, `call_mut`.
#[derive(Debug)]
#[repr(C)]
pub struct Functions {
    drop: Option<Call>,
    size: usize,
    align: usize,
    call_once: Call,
    call_mut: Call,
}

type Call = unsafe extern "C-unwind" fn(*mut c_void, *const c_void);

/// What instrumented code passes with a [`Once`] of its own in place of the closure's table.
#[no_mangle]
pub static __workspan_once_functions: Functions =
    Functions { drop: None, size: size_of::<Once>(), align: align_of::<Once>(), call_once, call_mut: call_once };

/// # Safety
/// Rust's library calls it with a [`Once`], and what the closure is to be called with.
unsafe extern "C-unwind" fn call_once(once: *mut c_void, argument: *const c_void) {
    // SAFETY: made by the instrumented code, which waits for the call.
    let Once { closure, functions, object } = unsafe { once.cast::<Once>().read() };
    // SAFETY: the closure's own table.
    let call = unsafe { (*functions).call_mut };
    // SAFETY: as Rust's library would have called it.
    unsafe { call(closure, argument) };
    release(object as u64);
}
