//! A table of what handles stand for: fixed, without locks.
//!
//! A handle may be in it several times: libraries use one for all requests that were complete at once. The one with the
//! lowest order is found. **Cost:** a look at [`WINDOW`] places.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Acquire, Release},
};

/// Places that a handle may be at.
const WINDOW: usize = 64;
/// Of a place that is being filled.
const BUSY: usize = usize::MAX - 1;

/// A table with places for `N` values.
#[expect(missing_debug_implementations, reason = "large")]
pub struct Table<T, const N: usize> {
    /// Handle + 1; 0: free.
    keys: [AtomicUsize; N],
    values: [UnsafeCell<MaybeUninit<T>>; N],
}

// SAFETY: a value is written before its key is, and read by whoever has the handle: MPI has one thread use it at a time.
unsafe impl<T: Copy + Send, const N: usize> Sync for Table<T, N> {}

impl<T: Copy, const N: usize> Table<T, N> {
    /// Empty.
    pub const fn new() -> Table<T, N> {
        Table {
            keys: [const { AtomicUsize::new(0) }; N],
            values: [const { UnsafeCell::new(MaybeUninit::uninit()) }; N],
        }
    }

    fn places(handle: usize) -> impl Iterator<Item = usize> {
        let first = (handle as u64 >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 16;
        (0..WINDOW).map(move |step| (first + step) % N)
    }

    /// Adds a value. False if there is no room.
    pub fn insert(&self, handle: usize, value: T) -> bool {
        for place in Self::places(handle) {
            if self.keys[place].load(Acquire) == 0
                && self.keys[place].compare_exchange(0, BUSY, AcqRel, Acquire).is_ok()
            {
                // SAFETY: the place is ours until the key is there.
                unsafe { (*self.values[place].get()).write(value) };
                self.keys[place].store(handle.wrapping_add(1), Release);
                return true;
            }
        }
        false
    }

    /// Where the value of a handle is: the one that comes first in an order.
    pub fn find(&self, handle: usize, order: impl Fn(&T) -> u64) -> Option<usize> {
        let found = Self::places(handle).filter(|place| self.keys[*place].load(Acquire) == handle.wrapping_add(1));
        found.min_by_key(|place| order(&self.get(*place)))
    }

    /// The value at a place that was found.
    pub fn get(&self, place: usize) -> T {
        // SAFETY: whoever has the handle is alone with it.
        let value = unsafe { *self.values[place].get() };
        // SAFETY: written before the key was.
        unsafe { value.assume_init() }
    }

    /// Changes the value at a place that was found.
    pub fn set(&self, place: usize, value: T) {
        // SAFETY: as above.
        unsafe { (*self.values[place].get()).write(value) };
    }

    /// Frees a place.
    pub fn free(&self, place: usize) {
        self.keys[place].store(0, Release);
    }
}
