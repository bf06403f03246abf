//! Tables of which elements are taken and given back, by number: a [`stack`] of the free ones, and those never used.
//! A thread that gives some back keeps them for itself ([`Stash`]).

use super::stack;
use workspan_wire::stash::Stash;
use workspan_wire::sync::{AtomicU32, AtomicU64, Ordering};

/// What is free of a table; element 0 stands for "none".
#[expect(missing_debug_implementations, reason = "a closure, used where it is made")]
pub struct Free<'a, N> {
    /// The stack's top.
    pub head: &'a AtomicU64,
    /// Elements handed out for the first time so far.
    pub used: &'a AtomicU32,
    /// Elements of the table.
    pub count: usize,
    /// Where a free one keeps which one is next.
    pub next: N,
    /// What the calling thread keeps of it.
    pub stash: Option<&'a Stash>,
}

impl<'a, N: Fn(u32) -> &'a AtomicU32> Free<'a, N> {
    /// Takes one. `None`: there are no more.
    pub fn take(&self) -> Option<u32> {
        if let Some(id) = self.stash.and_then(Stash::take) {
            return Some(id);
        }
        let next_of = |id| u64::from((self.next)(id as u32).load(Ordering::Relaxed));
        if let Some(id) = stack::pop(self.head, next_of) {
            return Some(id as u32);
        }
        let id = self.used.fetch_add(1, Ordering::Relaxed) + 1;
        if (id as usize) < self.count {
            Some(id)
        } else {
            self.used.fetch_sub(1, Ordering::Relaxed);
            None
        }
    }

    /// Gives `id` back.
    pub fn give(&self, id: u32) {
        if self.stash.is_some_and(|stash| stash.give(id)) {
            return;
        }
        let next = (self.next)(id);
        stack::push(self.head, u64::from(id), |below| next.store(below as u32, Ordering::Relaxed));
    }
}
