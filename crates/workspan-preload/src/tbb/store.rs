//! What strands have left for others, of which each is taken once: by a key.
//!
//! A slot is taken for writing or for reading by one exchange; nobody waits for anybody. Who finds no free slot does without, and
//! so does who looks for what another thread just writes: that is none that has to be there, since libtbb hands an item on only after the
//! strand before has left what is here.
//!
//! **Cost:** one exchange where the first slot is free, or is the one; for the least of N, a look at each.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use workspan_collect::shared::Shared;

use crate::sync::waiters::Left;

const FREE: u32 = 0;
const BUSY: u32 = 1;
const FULL: u32 = 2;

/// At most `N` at a time.
#[derive(Debug)]
pub struct Store<const N: usize>([Slot; N]);

#[derive(Debug)]
struct Slot {
    state: AtomicU32,
    key: AtomicU64,
    left: Cell<Option<Left>>,
}

impl Slot {
    fn claim(&self, from: u32) -> bool {
        self.state.load(Ordering::Relaxed) == from
            && self.state.compare_exchange(from, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn give_back(&self, to: u32) {
        self.state.store(to, Ordering::Release);
    }
}

impl<const N: usize> Store<N> {
    /// An empty one.
    pub const fn new() -> Store<N> {
        Store([const { Slot { state: AtomicU32::new(FREE), key: AtomicU64::new(0), left: Cell::new(None) } }; N])
    }

    fn slots(&self, near: u64) -> impl Iterator<Item = &Slot> {
        let at = near as usize % N;
        self.0[at..].iter().chain(&self.0[..at])
    }

    /// Keeps `left` for who has `key`, in a slot near `near`.
    pub fn put(&self, shared: Shared, near: u64, key: u64, left: Left) {
        match self.slots(near).find(|slot| slot.claim(FREE)) {
            Some(slot) => {
                slot.key.store(key, Ordering::Relaxed);
                slot.left.set(Some(left));
                slot.give_back(FULL);
            }
            None => left.release(shared),
        }
    }

    /// One of `key`, looked for from `near` on.
    pub fn take(&self, near: u64, key: u64) -> Option<Left> {
        self.take_where(near, |kept| kept == key)
    }

    /// That with the least key of the first `most` slots, which [`put`](Store::put) fills first.
    pub fn take_least(&self, most: usize) -> Option<Left> {
        let slots = || self.0.iter().take(most).filter(|slot| slot.state.load(Ordering::Acquire) == FULL);
        // Whoever is sooner at one leaves the others.
        for _ in 0..most {
            let least = slots().min_by_key(|slot| slot.key.load(Ordering::Relaxed))?;
            if least.claim(FULL) {
                let left = least.left.take();
                least.give_back(FREE);
                return left;
            }
        }
        None
    }

    /// Any.
    pub fn take_any(&self) -> Option<Left> {
        self.take_where(0, |_| true)
    }

    fn take_where(&self, near: u64, wanted: impl Fn(u64) -> bool) -> Option<Left> {
        let has = |slot: &Slot| wanted(slot.key.load(Ordering::Relaxed));
        // Others' are not taken, not for a moment: who looks for them finds them.
        for slot in self.slots(near).filter(|slot| has(slot) && slot.claim(FULL)) {
            if has(slot) {
                let left = slot.left.take();
                slot.give_back(FREE);
                return left;
            }
            slot.give_back(FULL);
        }
        None
    }
}
