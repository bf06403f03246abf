//! C11's threads and what is done once, of which some do not lead through the functions of pthreads.

use core::ffi::{c_int, c_void};

use workspan_trace::control::Operation;

use crate::locks::{acquire, release, wait_on, wakes};
use crate::{atomics, entry, event, original};

type P = *mut c_void;
type Time = *const c_void;

entry! {
    /// Acquires.
    fn mtx_lock(mutex: P) -> c_int {
        acquire(mutex, Operation::Lock, || original!(c"mtx_lock", fn(P) -> c_int, mutex))
    }
}

entry! {
    /// Acquires.
    fn mtx_trylock(mutex: P) -> c_int {
        acquire(mutex, Operation::Lock, || original!(c"mtx_trylock", fn(P) -> c_int, mutex))
    }
}

entry! {
    /// Acquires.
    fn mtx_timedlock(mutex: P, until: Time) -> c_int {
        acquire(mutex, Operation::Lock, || original!(c"mtx_timedlock", fn(P, Time) -> c_int, mutex, until))
    }
}

entry! {
    /// Releases.
    fn mtx_unlock(mutex: P) -> c_int {
        release(mutex, Operation::Unlock, || original!(c"mtx_unlock", fn(P) -> c_int, mutex))
    }
}

entry! {
    /// Signals.
    fn cnd_signal(condition: P) -> c_int {
        wakes(condition, Operation::Signal, || original!(c"cnd_signal", fn(P) -> c_int, condition))
    }
}

entry! {
    /// Signals all.
    fn cnd_broadcast(condition: P) -> c_int {
        wakes(condition, Operation::Broadcast, || original!(c"cnd_broadcast", fn(P) -> c_int, condition))
    }
}

entry! {
    /// Waits.
    fn cnd_wait(condition: P, mutex: P) -> c_int {
        wait_on(condition, mutex, || original!(c"cnd_wait", fn(P, P) -> c_int, condition, mutex))
    }
}

entry! {
    /// Waits.
    fn cnd_timedwait(condition: P, mutex: P, until: Time) -> c_int {
        wait_on(condition, mutex, || original!(c"cnd_timedwait", fn(P, P, Time) -> c_int, condition, mutex, until))
    }
}

type Once = unsafe extern "C-unwind" fn();

std::thread_local! {
    /// What is to be done once, and by which flag others see that it is.
    static ONCE: core::cell::Cell<(u64, Option<Once>)> = const { core::cell::Cell::new((0, None)) };
}

/// What was done lets others take over before the flag says so.
unsafe extern "C-unwind" fn do_once() {
    let (flag, function) = ONCE.get();
    if let Some(function) = function {
        // SAFETY: the program's own.
        unsafe { function() };
    }
    atomics::release(flag);
}

/// Does something once: whoever comes later takes it over.
fn once(flag: P, function: Once, call: impl FnOnce(Once) -> c_int) -> c_int {
    if !event::wanted() {
        return call(function);
    }
    let before = ONCE.replace((flag as u64, Some(function)));
    let result = call(do_once);
    ONCE.set(before);
    atomics::acquire(flag as u64);
    result
}

/// `pthread_once`.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn pthread_once(flag: P, function: Once) -> c_int {
    once(flag, function, |function| original!(c"pthread_once", fn(P, Once) -> c_int, flag, function))
}

/// `call_once`.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn call_once(flag: P, function: Once) {
    once(flag, function, |function| {
        original!(c"call_once", fn(P, Once) -> (), flag, function);
        0
    });
}

/// A static variable of C++ is about to be initialised, or has been.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn __cxa_guard_acquire(guard: P) -> c_int {
    let first = original!(c"__cxa_guard_acquire", fn(P) -> c_int, guard);
    if first == 0 {
        atomics::acquire(guard as u64);
    }
    first
}

/// It has been initialised.
///
/// # Safety
/// As the original.
#[no_mangle]
pub unsafe extern "C-unwind" fn __cxa_guard_release(guard: P) {
    atomics::release(guard as u64);
    original!(c"__cxa_guard_release", fn(P) -> (), guard);
}
