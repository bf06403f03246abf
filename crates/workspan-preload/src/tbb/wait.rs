//! Waits of the program for all tasks of a context.
//!
//! **Brief waits.** As a rule the one task that a wait is for is the one that the thread has created last, and runs at once. Where readings of
//! the clock are skipped ([`workspan_collect::clock`]), so are those of such a wait: its strand goes on, less what libtbb
//! takes as a rule ([`state::between`]), which counts as waited. If it was none, because another thread has taken the task, the next hook
//! finds more time passed than a batch takes, and takes it for a wait ([`deepen`]).

use workspan_collect::clock;
use workspan_wire::shm::Thread;

use super::abi::Context;
use super::{context, state};
use crate::dag::frame::Frame;
use crate::dag::gather::{self, Gather};
use crate::dag::task as rules;
use crate::ompt::events;

/// A wait; over with this, also if it throws an exception.
#[derive(Debug)]
pub struct Waiting(Option<Open>);

#[derive(Debug)]
struct Open {
    waiter: &'static Frame,
    context: &'static Context,
    /// None: nothing that is known.
    gather: Option<&'static Gather>,
}

/// The calling thread is about to wait for the tasks of `context`.
///
/// # Safety
///
/// What a program passes to libtbb.
pub unsafe fn begin(context: *const Context) -> Waiting {
    state::goes_on();
    let Some((thread, waiter)) = state::current() else { return Waiting(None) };
    if thread.task.waiting.get() != 0 {
        return Waiting(None);
    }
    // SAFETY: alive until the wait is over.
    let context = unsafe { &*context };
    let gather = context::gathered(context).inspect(|gather| gather.hold());
    let next = gather.filter(|gather| state::has_next(gather));
    let at = if next.is_some() { events::tick(thread) } else { Some(events::now(thread)) };
    match (at, next) {
        (None, Some(gather)) => {
            waiter.wait_briefly(gather);
            rules::go(thread, None);
        }
        (None, None) => {}
        (Some(at), next) => {
            rules::stop(thread, Some(at));
            rules::wait(thread, at);
            rules::go(thread, Some(at));
            if next.is_some() {
                state::measure(waiter, at);
            }
        }
    }
    Waiting(Some(Open { waiter, context, gather }))
}

/// `waiter` was to wait briefly, but no task has begun at once, or another one than was to: from when it has waited then.
#[cold]
pub fn deepen(thread: &'static Thread, waiter: &Frame) {
    waiter.end_brief();
    let since = clock::idle_since(thread).unwrap_or_else(|| events::now(thread));
    rules::stop(thread, Some(since));
    rules::wait(thread, since);
}

/// `waiter` was to wait briefly, and its task has ended, but there are others: it waits from now on.
#[cold]
pub fn goes_on(thread: &'static Thread, waiter: &Frame) {
    waiter.end_brief();
    let at = events::now(thread);
    rules::stop(thread, Some(at));
    rules::wait(thread, at);
    rules::go(thread, Some(at));
}

/// What a brief wait, which is over, has taken.
#[inline]
fn count_brief(thread: &Thread) {
    let ticks = state::between();
    thread.start.set(thread.start.get().wrapping_add(ticks as u64));
    thread.waited.set(thread.waited.get() + ticks);
    if thread.is_worker.get() != 0 {
        thread.idle.set(thread.idle.get() + ticks);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(Open { waiter, context, gather }) = self.0.take() else { return };
        let Some((thread, here)) = state::current() else { return };
        if !core::ptr::eq(here, waiter) {
            return state::lost(thread);
        }
        if waiter.waits_briefly().is_some() && !waiter.has_brief_run() {
            deepen(thread, waiter);
        }
        let brief = waiter.waits_briefly().is_some();
        let tick = if brief { events::tick(thread) } else { None };
        rules::stop(thread, tick);
        // Tasks may have come only while it waited.
        let gather = gather.or_else(|| context::gathered(context).inspect(|gather| gather.hold()));
        if let Some(gather) = gather {
            // The context's hold is this wait's now.
            let holders = 1 + u64::from(context::taken(context, gather));
            if gather::settle(thread, gather) {
                gather::join(thread, waiter, gather);
            }
            gather::release_some(thread, gather, holders);
        }
        if brief {
            waiter.end_brief();
            rules::go(thread, tick);
            count_brief(thread);
            return;
        }
        // It has waited until here.
        let at = events::now(thread);
        rules::wait_over(thread, at);
        rules::go_late(thread, at);
        state::measured(thread, waiter, at);
    }
}
