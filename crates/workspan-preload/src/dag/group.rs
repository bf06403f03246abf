//! Taskgroups: one task waits for everything created below it since.

use core::cell::Cell;
use core::ptr;

use workspan_collect::log::{go_on, mark};
use workspan_collect::path::Tail;
use workspan_wire::shm::Thread;

use super::alt_spans::AltSpans;
use super::frame::Frame;
use super::state::group::Group;
use super::{latest, log, pool, taskloop};

/// `task` opens a group.
pub fn open(thread: &Thread, task: &Frame) {
    let Some(at) = pool::take::<Group>(thread) else {
        return;
    };
    // SAFETY: a fresh block, large and aligned enough.
    unsafe { at.write(Group { ends: latest::none(), outer: Cell::new(task.own_group.get()) }) };
    task.own_group.set(at);
    if log::on(thread) {
        log::group(thread);
    }
    // Whatever took long is in no strand.
    go_on(thread);
}

/// All tasks of the innermost group have ended; the strand, stopped, goes on after the latest.
pub fn close(thread: &'static Thread, task: &'static Frame) {
    // SAFETY: null or a group that `open` made.
    let Some(group) = (unsafe { task.own_group.get().as_ref() }) else {
        return;
    };
    task.own_group.set(group.outer.get());
    let logged = log::on(thread);
    if logged {
        log::wait(thread);
    }
    let (span, path) = latest::taken(&group.ends);
    super::task::join(thread, Tail { span, path, since: span }, AltSpans::seen(&group.ends));
    if logged {
        mark(thread);
    }
    taskloop::group_closed(thread, task, group);
    // SAFETY: made by `open`; its tasks have ended and nobody else refers to it.
    unsafe { pool::give(thread, ptr::from_ref(group)) };
}
