//! Tables of which elements are taken and given back: a Treiber stack of the free ones, by number. Its head carries a counter,
//! so that an element that was taken and given back meanwhile (ABA) is noticed.

use workspan_wire::sync::{AtomicU32, AtomicU64, Ordering};

/// What is free of a table; element 0 stands for "none".
#[expect(missing_debug_implementations, reason = "a closure, used where it is made")]
pub struct Free<'a, N> {
    /// Low half: the first free one; high half: the counter.
    pub head: &'a AtomicU64,
    /// Elements handed out for the first time so far.
    pub used: &'a AtomicU32,
    /// Elements of the table.
    pub count: usize,
    /// Where a free one keeps which one is next.
    pub next: N,
}

impl<'a, N: Fn(u32) -> &'a AtomicU32> Free<'a, N> {
    /// Takes one. `None`: there are no more.
    pub fn take(&self) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        while head as u32 != 0 {
            let id = head as u32;
            let next = (self.next)(id).load(Ordering::Relaxed);
            let new = ((head >> 32).wrapping_add(1) << 32) | u64::from(next);
            match self.head.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(id),
                Err(found) => head = found,
            }
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
        let next = (self.next)(id);
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            next.store(head as u32, Ordering::Relaxed);
            let new = ((head >> 32).wrapping_add(1) << 32) | u64::from(id);
            match self.head.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => head = found,
            }
        }
    }
}
