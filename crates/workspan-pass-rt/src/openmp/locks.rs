//! Critical sections, locks, ordered regions, reductions, and the memory of tasks.
//!
//! OMPT reports a release when it is over; a ticket must be drawn before it.

use core::ffi::{c_int, c_void};

use workspan_trace::control::Operation;

use crate::event::{now, wanted};
use crate::locks::{sync, ticket};
use crate::platform::thread;
use crate::{memory, original};

/// An object that stands for the ordered regions of a loop. Nothing lies at such addresses.
const ORDERED: usize = 8;
/// Objects that stand for the iterations of loops in which some wait for others: one is found by the iteration's numbers. If two
/// iterations share one, who waits for one is ordered after the other, too.
const ITERATIONS: core::ops::Range<usize> = 0x1000..0x1_0000;
/// Bits of [`crate::thread::Thread::doacross`] for each loop.
const LOOP_BITS: u32 = 8;

fn acquired(before: u64, object: *const c_void) {
    sync(before, now(), object, ticket(object), Operation::Lock);
}

/// Notes that an object is about to be released.
fn releasing(object: *const c_void) {
    if wanted() {
        let at = now();
        sync(at, at, object, ticket(object), Operation::Unlock);
    }
}

macro_rules! define {
    ($($(#[$text:meta])* $kind:ident $symbol:ident $name:literal ($($argument:ident: $type:ty),*) -> $result:ty, $object:expr;)*) => {$(
        $(#[$text])*
        ///
        /// # Safety
        /// As the original.
        #[no_mangle]
        pub unsafe extern "C-unwind" fn $symbol($($argument: $type),*) -> $result {
            $kind($object, || original!($name, fn($($type),*) -> $result, $($argument),*))
        }
    )*};
}

/// Acquires, for certain.
fn acquire(object: *const c_void, call: impl FnOnce()) {
    let before = now();
    call();
    if wanted() {
        acquired(before, object);
    }
}

/// Acquires if the answer is not 0.
fn attempt(object: *const c_void, call: impl FnOnce() -> c_int) -> c_int {
    let before = now();
    let result = call();
    if result != 0 && wanted() {
        acquired(before, object);
    }
    result
}

fn release(object: *const c_void, call: impl FnOnce()) {
    releasing(object);
    call();
}

/// A reduction that this thread has to carry out, by itself.
fn reduce(object: *const c_void, call: impl FnOnce() -> c_int) -> c_int {
    let before = now();
    let was = thread().reduces.replace(true);
    let result = call();
    thread().reduces.set(was);
    if result == 1 && wanted() {
        acquired(before, object);
    }
    result
}

fn end_reduce(object: *const c_void, call: impl FnOnce()) {
    releasing(object);
    let was = thread().reduces.replace(true);
    call();
    thread().reduces.set(was);
}

/// An object beside the one that the compiler made for a place.
fn beside(place: *const c_void, distance: usize) -> *const c_void {
    place.wrapping_byte_add(distance)
}

/// The object of an iteration, by its number in each of the loops.
fn iteration(numbers: *const i64) -> *const c_void {
    let loops = (thread().doacross.get() & ((1 << LOOP_BITS) - 1)).max(1);
    // SAFETY: the program passes one for each of the loops that it named when they began, and one at least.
    let numbers = unsafe { core::slice::from_raw_parts(numbers, loops as usize) };
    // A row of iterations has objects in a row.
    let next = |hash: u64, number: &i64| hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number.cast_unsigned());
    let hash = numbers.iter().fold(0, next);
    core::ptr::without_provenance(ITERATIONS.start + (hash % ITERATIONS.len() as u64) as usize)
}

type P = *mut c_void;
define! {
    /// A critical section begins.
    acquire __kmpc_critical c"__kmpc_critical" (place: P, thread: c_int, lock: P) -> (), lock;
    /// A critical section begins.
    acquire __kmpc_critical_with_hint c"__kmpc_critical_with_hint" (place: P, thread: c_int, lock: P, hint: u32) -> (), lock;
    /// A critical section ends.
    release __kmpc_end_critical c"__kmpc_end_critical" (place: P, thread: c_int, lock: P) -> (), lock;
    /// An ordered region begins.
    acquire __kmpc_ordered c"__kmpc_ordered" (place: P, thread: c_int) -> (), beside(core::ptr::null(), ORDERED);
    /// An ordered region ends.
    release __kmpc_end_ordered c"__kmpc_end_ordered" (place: P, thread: c_int) -> (), beside(core::ptr::null(), ORDERED);
    /// An iteration lets others go on.
    release __kmpc_doacross_post c"__kmpc_doacross_post" (place: P, thread: c_int, numbers: *const i64) -> (), iteration(numbers);
    /// An iteration waits for another.
    acquire __kmpc_doacross_wait c"__kmpc_doacross_wait" (place: P, thread: c_int, numbers: *const i64) -> (), iteration(numbers);
    /// Acquires.
    acquire omp_set_lock c"omp_set_lock" (lock: P) -> (), lock;
    /// Acquires.
    attempt omp_test_lock c"omp_test_lock" (lock: P) -> c_int, lock;
    /// Releases.
    release omp_unset_lock c"omp_unset_lock" (lock: P) -> (), lock;
    /// Acquires.
    acquire omp_set_nest_lock c"omp_set_nest_lock" (lock: P) -> (), lock;
    /// Acquires.
    attempt omp_test_nest_lock c"omp_test_nest_lock" (lock: P) -> c_int, lock;
    /// Releases.
    release omp_unset_nest_lock c"omp_unset_nest_lock" (lock: P) -> (), lock;
    /// A reduction with a barrier after it.
    reduce __kmpc_reduce c"__kmpc_reduce" (place: P, thread: c_int, count: c_int, size: usize, data: P, function: P, lock: P) -> c_int, lock;
    /// It ends.
    end_reduce __kmpc_end_reduce c"__kmpc_end_reduce" (place: P, thread: c_int, lock: P) -> (), lock;
    /// A reduction without a barrier.
    reduce __kmpc_reduce_nowait c"__kmpc_reduce_nowait" (place: P, thread: c_int, count: c_int, size: usize, data: P, function: P, lock: P) -> c_int, lock;
    /// It ends.
    end_reduce __kmpc_end_reduce_nowait c"__kmpc_end_reduce_nowait" (place: P, thread: c_int, lock: P) -> (), lock;
}

/// Loops begin whose iterations wait for others.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn __kmpc_doacross_init(place: P, number: c_int, loops: c_int, bounds: P) {
    let known = &thread().doacross;
    known.set(known.get() << LOOP_BITS | u64::from(loops.cast_unsigned()).min((1 << LOOP_BITS) - 1));
    original!(c"__kmpc_doacross_init", fn(P, c_int, c_int, P) -> (), place, number, loops, bounds);
}

/// They end.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn __kmpc_doacross_fini(place: P, number: c_int) {
    let known = &thread().doacross;
    known.set(known.get() >> LOOP_BITS);
    original!(c"__kmpc_doacross_fini", fn(P, c_int) -> (), place, number);
}

/// Memory of a task: what another had there is gone.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn __kmpc_omp_task_alloc(
    place: P,
    number: c_int,
    flags: c_int,
    size: usize,
    shared: usize,
    entry: P,
) -> P {
    let pointer = original!(
        c"__kmpc_omp_task_alloc",
        fn(P, c_int, c_int, usize, usize, P) -> P,
        place,
        number,
        flags,
        size,
        shared,
        entry
    );
    memory::allocated(pointer, size.wrapping_add(shared).wrapping_add(8));
    pointer
}
