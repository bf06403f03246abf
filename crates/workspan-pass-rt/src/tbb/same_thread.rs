//! Tasks that use what belongs to the thread that they run on: they come one after the other.
//!
//! A program that keeps something for each thread asks which thread it is on: by `pthread_self`, of which
//! `std::this_thread::get_id` and oneTBB's containers are made, or by the number of the thread in its arena. From then on a
//! task comes after all that ran on the thread before.

use core::ffi::c_int;

use super::abi::{followed, owns, Pointer};
use crate::platform::thread;
use crate::{atomics, entry, original};

fn object() -> u64 {
    thread() as *const _ as u64
}

/// The running code wants the thread.
fn ask() {
    let thread = thread();
    if thread.current.get() != 0 && crate::event::wanted() {
        thread.asked.set(true);
        atomics::acquire(object());
    }
}

/// What runs on the thread stops to do so.
pub fn leave() {
    if thread().asked.get() {
        atomics::release(object());
    }
}

entry! {
    /// The calling thread.
    fn pthread_self() -> usize {
        let thread = thread();
        if thread.current.get() != 0 && !thread.busy.get() && !owns(thread.caller.get()) {
            ask();
        }
        original!(c"pthread_self", fn() -> usize,)
    }
}

/// The number of the thread in its arena.
#[export_name = "_ZN3tbb6detail2r114execution_slotEPKNS0_2d114execution_dataE"]
unsafe extern "C-unwind" fn execution_slot(how: Pointer) -> c_int {
    // With what is executed it is oneTBB's own headers that ask.
    if how.is_null() && followed() {
        ask();
    }
    original!(c"_ZN3tbb6detail2r114execution_slotEPKNS0_2d114execution_dataE", fn(Pointer) -> c_int, how)
}
