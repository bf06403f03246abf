//! Locks and critical sections: how long they are held and waited for.
//!
//! They are not part of the order of strands: which of two tasks takes a lock first is accident, and a recording of one
//! run would make it law. But what is done under one lock is serial in every schedule, so the sum of it bounds the span
//! from below; and the time that strands waited shows where they did.
//!
//! Code under a lock has a context of its own, the place where the lock is taken. Waiting is in neither work nor span.

use workspan_collect::region::{self, CallSite};
use workspan_collect::shared::{current_account, Shared};
use workspan_collect::strand;
use workspan_collect::tables::ROOT;
use workspan_collect::task::{enter_idle, leave_idle};
use workspan_wire::shm::Thread;

use super::frame::Frame;
use super::state::call::Open;
use super::state::lock::{is_under, Hold, DEPTH, NONE};
use super::{call, log, task};

/// `task` wants a lock at tick `now`, which somebody has if it is `held`; its strand is stopped.
pub fn wait(thread: &Thread, task: &Frame, now: u64, held: bool) {
    if let Some(extra) = task.extra(thread) {
        extra.locks.waits_since.set(if held { now } else { 0 });
    }
    enter_idle(thread, now);
}

/// `task` has taken `lock` at tick `now`, at `site`; its strand is still stopped.
pub fn taken(thread: &Thread, task: &Frame, now: u64, lock: u64, site: &CallSite) {
    let Some(locks) = task.extra(thread).map(|extra| &extra.locks) else {
        task::wait_over(thread, now);
        return;
    };
    let mut waited = 0;
    if thread.task.waiting.get() != 0 {
        leave_idle(thread, now);
        let since = locks.waits_since.get();
        waited = if since == 0 { 0 } else { now.wrapping_sub(since) as i64 };
    }
    hold(thread, task, lock, site, waited);
}

/// `task`, whose strand is stopped, runs code in an order that the model has, and of which `label` says which, from here on.
pub(super) fn in_order(thread: &Thread, task: &Frame, label: u64, site: &CallSite) {
    hold_as(thread, task, (label, NONE), site, 0);
}

/// `task`, whose strand is stopped, has `lock` from here on, taken at `site` after it has waited for so long. False: nobody
/// will say when it is given back.
pub fn hold(thread: &Thread, task: &Frame, lock: u64, site: &CallSite, waited: i64) -> bool {
    hold_as(thread, task, (lock, lock), site, waited)
}

fn hold_as(thread: &Thread, task: &Frame, (lock, known_as): (u64, u64), site: &CallSite, waited: i64) -> bool {
    let Some(locks) = task.extra(thread).map(|extra| &extra.locks) else {
        return false;
    };
    let depth = locks.depth.get();
    locks.depth.set(depth + 1);
    let Some(slot) = locks.held.get(depth as usize) else {
        return true;
    };
    let before = strand::context(thread);
    // At the root, code under a lock stays part of the serial code.
    let target = if before == ROOT { None } else { region::target(thread, site) };
    let mut call = Open::NONE;
    if let Some(target) = target {
        workspan_collect::path::settle(thread);
        if log::on(thread) {
            log::enter(thread, before, target.context);
        }
        region::shift(thread, target.context);
        if !target.recursive && target.context != before {
            call = call::enter(thread, task, target.context);
        }
        let account = Shared::of(thread).account(thread, target.context);
        account.entries.set(account.entries.get() + 1);
        account.instances.set(account.instances.get() + 1);
        account.contended.set(account.contended.get() + waited);
        if known_as != NONE {
            is_under(account, known_as);
        }
    }
    slot.set(Hold { lock, before, given_back: false, shown: target.is_some(), call });
    true
}

/// True if `task` can have one more lock that [`hold`] keeps separate.
pub fn has_room(task: &Frame) -> bool {
    task.known_extra().is_none_or(|extra| (extra.locks.depth.get() as usize) < DEPTH)
}

/// True if `task` has `lock`, as far as [`hold`] knows.
pub fn holds(task: &Frame, lock: u64) -> bool {
    let Some(locks) = task.known_extra().map(|extra| &extra.locks) else {
        return false;
    };
    let depth = (locks.depth.get() as usize).min(DEPTH);
    locks.held[..depth].iter().any(|slot| slot.get().lock == lock && !slot.get().given_back)
}

/// True if `task` has any lock, as far as [`hold`] knows.
pub fn holds_any(task: &Frame) -> bool {
    let Some(locks) = task.known_extra().map(|extra| &extra.locks) else { return false };
    let depth = (locks.depth.get() as usize).min(DEPTH);
    locks.held[..depth].iter().any(|slot| !slot.get().given_back)
}

/// `task` has given `lock` back; its strand is stopped.
pub fn given_back(thread: &Thread, task: &Frame, lock: u64) {
    let Some(locks) = task.known_extra().map(|extra| &extra.locks) else {
        return;
    };
    let mut depth = locks.depth.get() as usize;
    if depth == 0 {
        return;
    }
    if depth > DEPTH {
        locks.depth.set(depth as u32 - 1);
        return;
    }
    let held = &locks.held[..depth];
    let Some(slot) = held.iter().rev().find(|slot| slot.get().lock == lock && !slot.get().given_back) else {
        return;
    };
    slot.set(Hold { given_back: true, ..slot.get() });
    // Given back in another order than taken, a lock ends with those around it.
    while depth > 0 && locks.held[depth - 1].get().given_back {
        depth -= 1;
        let hold = locks.held[depth].get();
        if hold.shown && log::on(thread) {
            log::leave(thread);
        }
        let account = current_account(thread);
        account.span.set(account.span.get() + call::leave(thread, task, hold.call));
        region::shift(thread, hold.before);
    }
    locks.depth.set(depth as u32);
}
