//! Tables that only grow, shared by all threads: an array of records, and an open-addressing index of them.
//!
//! To intern, a thread looks for the key along its probe sequence; at an empty slot it writes a fresh record, whole, and then
//! publishes it by a compare and swap of the slot from 0 to record + 1 (release), so whoever sees the slot (acquire) sees
//! the record, and nobody writes to a record that others may see. If another thread was first, the slot is examined again;
//! a record that was written in vain is marked as unused. Nobody waits for anybody.
//!
//! Modelled with all orders of steps in `crates/workspan-preload/tests/loom`.

use workspan_wire::sync::{AtomicU32, Ordering};

/// Result of a search along a probe sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It was there.
    Known(u32),
    /// The caller has written it.
    New(u32),
    /// There is no room.
    Full,
}

/// A table.
#[expect(missing_debug_implementations, reason = "a closure, used where it is made")]
pub struct Table<'a, I> {
    /// The slots of the index: 0, or record + 1.
    pub index: I,
    /// How many there are.
    pub slots: usize,
    /// Records handed out so far.
    pub used: &'a AtomicU32,
    /// Records that there are.
    pub capacity: usize,
}

impl<'s, I: Fn(usize) -> &'s AtomicU32> Table<'_, I> {
    /// The record for which `same` is true; none is made.
    pub fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<u32> {
        let first = hash as usize % self.slots;
        for slot in (first..self.slots).chain(0..first) {
            match (self.index)(slot).load(Ordering::Acquire) {
                0 => return None,
                entry if same(entry - 1) => return Some(entry - 1),
                _ => {}
            }
        }
        None
    }

    /// Finds the record for which `same` is true, or has `write` make one; `unused` is called with one that was made in vain.
    pub fn intern(
        &self,
        hash: u64,
        same: impl Fn(u32) -> bool,
        mut write: impl FnMut(u32),
        unused: impl FnOnce(u32),
    ) -> Found {
        let mut slot = hash as usize % self.slots;
        let mut fresh = None;
        for _ in 0..self.slots {
            let mut entry = (self.index)(slot).load(Ordering::Acquire);
            if entry == 0 {
                let id = match fresh {
                    Some(id) => id,
                    None => {
                        let id = self.used.fetch_add(1, Ordering::Relaxed);
                        if id as usize >= self.capacity {
                            self.used.store(self.capacity as u32, Ordering::Relaxed);
                            return Found::Full;
                        }
                        write(id);
                        fresh = Some(id);
                        id
                    }
                };
                match (self.index)(slot).compare_exchange(0, id + 1, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return Found::New(id),
                    Err(other) => entry = other,
                }
            }
            if same(entry - 1) {
                if let Some(fresh) = fresh {
                    unused(fresh);
                }
                return Found::Known(entry - 1);
            }
            slot = (slot + 1) % self.slots;
        }
        Found::Full
    }
}
