//! What the hooks add to a strand, by the hooks themselves: a task that is spawned, runs, and does nothing.

use core::cell::Cell;
use core::ffi::c_void;
use core::hint::black_box;
use core::ptr;

use workspan_collect::shared::Shared;
use workspan_collect::thread;
use workspan_wire::shm::Thread;

use super::abi::{Before, Execution, Slots, Task};
use super::{class, run};
use crate::calibrate::{self, Rehearsal};
use crate::dag::frame::{Frame, Kind};
use crate::dag::{gather, task as rules};
use crate::ompt::events;

/// Hooks with a reading of the clock to a task: spawn, begin, end.
const HOOKS: u32 = 3;

unsafe extern "C-unwind" fn nothing(_: *const Task, _: *const Execution) -> *const Task {
    ptr::null()
}

#[repr(C)]
struct Table {
    before: Before,
    slots: Slots,
}

// SAFETY: constant.
unsafe impl Sync for Table {}

static TABLE: Table = Table {
    before: Before { offset: 0, type_info: ptr::null() },
    slots: Slots { destroy: [ptr::null::<c_void>(); 2], execute: nothing, cancel: nothing },
};

/// Measures, and stores the result in the header.
pub fn run(shared: Shared) {
    let known = Cell::new(None);
    let task = |root: &Cell<u64>| {
        // SAFETY: the frame of the calibration.
        let root: &'static Frame = unsafe { &*(root.get() as *const Frame) };
        let Some(thread) = root.running_on() else { return };
        let gather = known.get().or_else(|| gather::open(thread, root, 0));
        known.set(gather);
        if let Some(gather) = gather {
            thread::with_slot(thread, true, || one_task(thread, root, gather));
        }
    };
    calibrate::run(shared, &Rehearsal { task, readings: HOOKS });
}

fn one_task(thread: &'static Thread, root: &'static Frame, gather: &'static gather::Gather) {
    let task = Task::of(&raw const TABLE.slots);
    let at = events::tick(thread);
    rules::stop(thread, at);
    // SAFETY: a table like that of a task.
    if let Some(class) = unsafe { class::of(thread, task.vtable.get()) } {
        let kind = Kind { recursive: true, ..Kind::default() };
        if let Some(frame) = gather::create(thread, root, Some(gather), workspan_collect::tables::ROOT, kind) {
            class::hand_over(&task, class, frame);
            rules::go(thread, at);
            // SAFETY: it has the stand-in.
            unsafe { run::execute(black_box(&raw const task), ptr::null()) };
        }
    }
}
