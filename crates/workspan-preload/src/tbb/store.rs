//! What strands have left for others, of which each is taken once: by a key, the least span first.
//!
//! A slot is taken for writing or for reading by one exchange; nobody waits for anybody. Who finds no free slot does without, and
//! so does who looks for what another thread just writes: that is none that has to be there, since libtbb hands an item on only after the
//! strand before has left what is here.
//!
//! **Cost:** one exchange, and a look at each slot that is in use, from that on where the key belongs; one load where there is none.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use workspan_collect::shared::Shared;

use crate::sync::waiters::Left;

const FREE: u32 = 0;
const BUSY: u32 = 1;
const FULL: u32 = 2;

/// At most `N` at a time.
#[derive(Debug)]
pub struct Store<const N: usize> {
    slots: [Slot; N],
    /// How many are full, or were just now: never fewer than are.
    kept: AtomicU32,
}

#[derive(Debug)]
struct Slot {
    state: AtomicU32,
    key: AtomicU64,
    /// The span of `left`.
    span: AtomicU64,
    left: Cell<Option<Left>>,
}

impl Slot {
    const fn new() -> Slot {
        let [key, span] = [AtomicU64::new(0), AtomicU64::new(0)];
        Slot { state: AtomicU32::new(FREE), key, span, left: Cell::new(None) }
    }

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
        Store { slots: [const { Slot::new() }; N], kept: AtomicU32::new(0) }
    }

    fn from(&self, key: u64) -> impl Iterator<Item = &Slot> {
        let at = key as usize % N;
        self.slots[at..].iter().chain(&self.slots[..at])
    }

    /// Keeps `left` for who has `key`.
    pub fn put(&self, shared: Shared, key: u64, left: Left) {
        match self.from(key).find(|slot| slot.claim(FREE)) {
            Some(slot) => {
                slot.key.store(key, Ordering::Relaxed);
                slot.span.store(left.actual(), Ordering::Relaxed);
                slot.left.set(Some(left));
                self.kept.fetch_add(1, Ordering::Relaxed);
                slot.give_back(FULL);
            }
            None => left.release(shared),
        }
    }

    /// That of `key` whose span is least: several may look alike.
    pub fn take(&self, key: u64) -> Option<Left> {
        self.take_where(key, |kept| kept == key)
    }

    /// That whose span is least, of all.
    pub fn take_least(&self) -> Option<Left> {
        self.take_where(0, |_| true)
    }

    fn take_where(&self, near: u64, wanted: impl Fn(u64) -> bool) -> Option<Left> {
        let has = |slot: &Slot| wanted(slot.key.load(Ordering::Relaxed));
        // As many as there are, from where it belongs on. If others put theirs there meanwhile, or are sooner at one: all.
        let kept = self.kept.load(Ordering::Relaxed) as usize;
        if kept == 0 {
            return None;
        }
        for looks in core::iter::once(kept).chain(core::iter::repeat_n(N, N)) {
            let full = self.from(near).filter(|slot| slot.state.load(Ordering::Acquire) == FULL).take(looks);
            let least = full.filter(|slot| has(slot)).min_by_key(|slot| slot.span.load(Ordering::Relaxed));
            let Some(slot) = least else {
                if looks < N {
                    continue;
                }
                return None;
            };
            // Others' are not taken, not for a moment: who looks for them finds them.
            if slot.claim(FULL) {
                let left = if has(slot) { slot.left.take() } else { None };
                slot.give_back(if left.is_some() { FREE } else { FULL });
                if left.is_some() {
                    self.kept.fetch_sub(1, Ordering::Relaxed);
                    return left;
                }
            }
        }
        None
    }
}
