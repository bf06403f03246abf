//! Callbacks about waits: for children, for groups, at barriers.

use core::ffi::{c_int, c_void};

use workspan_wire::shm::Thread;

use super::abi::{sync, Data, BEGIN};
use super::events::{done, frame_in, frame_or_leaving, leave_team, now, team_in, tick};
use crate::dag::frame::Frame;
use crate::dag::{group, pieces, task, team};

/// A wait or a group begins or ends.
pub extern "C" fn sync_region(
    kind: c_int,
    endpoint: c_int,
    region_data: *const Data,
    task_data: *const Data,
    _after: *const c_void,
) {
    if kind == sync::REDUCTION {
        return;
    }
    let Some(task) = frame_or_leaving(task_data) else { return };
    let Some(thread) = task.running_on() else { return };
    match (kind, endpoint == BEGIN) {
        (sync::TASKWAIT, true) => {
            // Without open children the runtime has nothing to do, and neither have we.
            if task.has_open_children() {
                stop_and_wait(thread);
            }
        }
        (sync::TASKWAIT, false) => {
            let at = tick(thread);
            go_on(thread, at, || task::wait_children(thread, task));
        }
        (sync::TASKGROUP, true) => group::open(thread, task),
        (sync::TASKGROUP, false) => {
            let at = Some(now(thread));
            go_on(thread, at, || group::close(thread, task));
        }
        (_, true) => {
            if let Some(team) = team_in(region_data) {
                if thread.task.waiting.get() == 0 {
                    let at = now(thread);
                    task::stop(thread, Some(at));
                    pieces::leave_inlined(thread, task);
                    team::barrier(thread, task, team, kind == sync::LAST_BARRIER);
                    task::wait(thread, at);
                }
            }
            if kind == sync::LAST_BARRIER {
                leave_team(task, task_data);
            }
        }
        (_, false) => {
            // A member's last barrier may return when the region is long over: then there is nothing to go on with.
            if let Some(team) = team_in(region_data) {
                let at = now(thread);
                task::stop(thread, Some(at));
                task::wait_over(thread, at);
                team::pass(thread, task, team);
                task::go_long(thread, at);
            }
        }
    }
    done(thread);
}

/// A taskgroup's body is over; its tasks are waited for.
pub extern "C" fn sync_region_wait(
    kind: c_int,
    endpoint: c_int,
    _region_data: *const Data,
    task_data: *const Data,
    _after: *const c_void,
) {
    if kind == sync::TASKGROUP && endpoint == BEGIN {
        if let Some(thread) = frame_in(task_data).and_then(Frame::running_on) {
            stop_and_wait(thread);
            done(thread);
        }
    }
}

fn stop_and_wait(thread: &'static Thread) {
    let at = now(thread);
    task::stop(thread, Some(at));
    task::wait(thread, at);
}

/// The strand, waiting or not, goes on at `at` after what `join` says.
#[inline(always)]
fn go_on(thread: &'static Thread, at: Option<u64>, join: impl FnOnce()) {
    task::stop(thread, at);
    if let Some(at) = at {
        task::wait_over(thread, at);
    }
    join();
    task::go(thread, at);
}
