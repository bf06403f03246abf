//! One task of the OpenMP runtime, for calibration.

use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;

use super::abi::{status, sync, task, Data, BEGIN};
use super::{tasks, waits};

/// Callbacks with a reading of the clock in [`task()`].
pub(super) const READINGS: u32 = 4;
/// Flags of a task.
const CREATED: c_int = task::CALIBRATION as c_int;

/// What the callbacks do for a task below the one whose frame is in `root`.
pub(super) fn task(root: &Data) {
    let made: Data = Cell::new(0);
    let nowhere = ptr::null();
    tasks::task_create(root, nowhere, &made, CREATED, 0, nowhere);
    tasks::task_schedule(root, status::YIELD, &made);
    tasks::task_schedule(&made, status::COMPLETE, root);
    waits::sync_region(sync::TASKWAIT, BEGIN, ptr::null(), root, nowhere);
    waits::sync_region(sync::TASKWAIT, BEGIN + 1, ptr::null(), root, nowhere);
}
