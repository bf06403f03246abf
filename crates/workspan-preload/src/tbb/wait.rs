//! Waits of the program for all tasks of a context.

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
    let at = events::now(thread);
    rules::stop(thread, Some(at));
    rules::wait(thread, at);
    rules::go(thread, Some(at));
    Waiting(Some(Open { waiter, context, gather }))
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(Open { waiter, context, gather }) = self.0.take() else { return };
        let Some((thread, here)) = state::current() else { return };
        if !core::ptr::eq(here, waiter) {
            return state::lost(thread);
        }
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
        // It has waited until here.
        let at = events::now(thread);
        rules::wait_over(thread, at);
        rules::go_late(thread, at);
    }
}
