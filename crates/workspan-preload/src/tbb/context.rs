//! Which tasks are waited for together: a word in the context that they share ([`Context`]).
//!
//! A context is known from its begin ([`begun`]): of one that is not, the words are whatever was there before.

use core::sync::atomic::Ordering;

use workspan_collect::thread;
use workspan_wire::shm::Thread;

use super::abi::Context;
use crate::dag::frame::Frame;
use crate::dag::gather::{self, Gather};
use crate::dag::solo;

/// Says that the word is ours; different for each context, so that copies are none.
fn mark(context: &Context) -> u64 {
    (context as *const Context as u64) ^ 0x5bd1_e995_9d74_a3c1
}

/// `context` begins.
pub fn begun(context: &Context) {
    context.mark.set(mark(context));
    context.word.store(0, Ordering::Relaxed);
}

/// What is gathered by `context`.
pub fn gathered(context: &Context) -> Option<&'static Gather> {
    if context.mark.get() != mark(context) {
        return None;
    }
    // SAFETY: 0 or a gather that the word holds.
    unsafe { (context.word.load(Ordering::Acquire) as *const Gather).as_ref() }
}

/// The same; `opener` opens one if there is none. `None`: no memory, or a context that began before us.
pub fn gather(thread: &Thread, opener: &Frame, context: &Context) -> Option<&'static Gather> {
    if let Some(known) = gathered(context) {
        return Some(known);
    }
    if context.mark.get() != mark(context) {
        return None;
    }
    let new = gather::open(thread, opener, context as *const Context as u64)?;
    let word = new as *const Gather as u64;
    match solo::exchange(&context.word, 0, word) {
        Ok(()) => Some(new),
        Err(found) => {
            gather::release(thread, new);
            // SAFETY: as in `gathered`.
            unsafe { (found as *const Gather).as_ref() }
        }
    }
}

/// Who waits takes what is gathered; what comes later is another wait's. The word's hold is the caller's.
pub fn taken(context: &Context, gather: &Gather) -> bool {
    let word = gather as *const Gather as u64;
    context.mark.get() == mark(context) && solo::exchange(&context.word, word, 0).is_ok()
}

/// `context` ends: nobody will wait for what is gathered by it.
#[inline]
pub fn over(context: &Context) {
    if let Some(gather) = gathered(context) {
        forget(context, gather);
    }
    context.mark.set(0);
}

#[cold]
fn forget(context: &Context, gather: &'static Gather) {
    if let Some(thread) = thread::current() {
        if taken(context, gather) {
            gather::release(thread, gather);
        }
    }
}
