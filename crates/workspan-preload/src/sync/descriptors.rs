//! Which descriptors of the program are ends of something that its own threads fill: pipes, event counters, pairs of sockets.
//!
//! Known by number: functions that make and close them are defined here first. Who waits for the end `n` waits at `Source::address`; who
//! polls several ends waits at an address of its own, which is kept by end (`Source::polled_by`): of several pollers of one end the last.
//!
//! **Bias.** What `fcntl` duplicates, what came from another program, and numbers from [`MOST`] on are not known: waits there are for
//! the outside world. What the C library closes by itself (`fclose`) is known until its number is given out again by a function here.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Higher numbers are not followed.
const MOST: usize = 4096;

/// What is known of a descriptor, by number + 1; 0: nothing.
struct End {
    /// From which end one reads here.
    from: AtomicU32,
    /// Which end a write here fills.
    fills: AtomicU32,
    /// Where those wait who poll this end; 0 for nobody.
    polled: AtomicU64,
}

static ENDS: [End; MOST] =
    [const { End { from: AtomicU32::new(0), fills: AtomicU32::new(0), polled: AtomicU64::new(0) } }; MOST];

/// Addresses of no memory that a program has, so that nobody waits there for anything else.
const OF_ENDS: u64 = 1 << 62;
const OF_POLLS: u64 = OF_ENDS | 1 << 61;

fn end(descriptor: c_int) -> Option<&'static End> {
    ENDS.get(usize::try_from(descriptor).ok()?)
}

/// An end that can be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(u32);

impl Source {
    /// Where who waits for it waits.
    pub fn address(self) -> u64 {
        OF_ENDS | u64::from(self.0)
    }

    /// Where those wait who poll it; 0 for nobody.
    pub fn polled_by(self) -> u64 {
        ENDS[self.0 as usize].polled.load(Ordering::Acquire)
    }

    /// From now on, who polls it waits at `address`; 0: nobody.
    pub fn set_polled_by(self, address: u64) {
        ENDS[self.0 as usize].polled.store(address, Ordering::Release);
    }
}

/// From what one reads at `descriptor`, if a thread of the program may fill it.
#[inline(always)]
pub fn source(descriptor: c_int) -> Option<Source> {
    end(descriptor)?.from.load(Ordering::Relaxed).checked_sub(1).map(Source)
}

/// What a write to `descriptor` fills.
#[inline(always)]
pub fn filled(descriptor: c_int) -> Option<Source> {
    end(descriptor)?.fills.load(Ordering::Relaxed).checked_sub(1).map(Source)
}

/// Where threads wait that wait by the set of descriptors `set`, of `epoll_create`.
pub fn address_of_set(set: c_int) -> u64 {
    OF_POLLS | u64::from(set as u32)
}

fn know(descriptor: c_int, from: Option<c_int>, fills: Option<c_int>) {
    let number = |end: Option<c_int>| {
        end.and_then(|end| u32::try_from(end).ok()).filter(|end| (*end as usize) < MOST).map_or(0, |end| end + 1)
    };
    if let Some(end) = end(descriptor) {
        end.from.store(number(from), Ordering::Relaxed);
        end.fills.store(number(fills), Ordering::Relaxed);
        end.polled.store(0, Ordering::Relaxed);
    }
}

/// A pipe has been made.
pub fn made_pipe(read: c_int, write: c_int) {
    know(read, Some(read), None);
    know(write, None, Some(read));
}

/// A counter of events has been made.
pub fn made_counter(descriptor: c_int) {
    know(descriptor, Some(descriptor), Some(descriptor));
}

/// A pair of connected sockets has been made.
pub fn made_pair(one: c_int, other: c_int) {
    know(one, Some(one), Some(other));
    know(other, Some(other), Some(one));
}

/// `to` is now the same as `descriptor`.
pub fn duplicated(descriptor: c_int, to: c_int) {
    let number = |source: Option<Source>| source.and_then(|source| c_int::try_from(source.0).ok());
    if descriptor != to {
        know(to, number(source(descriptor)), number(filled(descriptor)));
    }
}

/// `descriptor` is about to be closed.
pub fn closed(descriptor: c_int) {
    if source(descriptor).is_some() || filled(descriptor).is_some() {
        know(descriptor, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_known_until_they_are_closed() {
        made_pipe(4000, 4001);
        assert_eq!(filled(4001), source(4000));
        assert_eq!((source(4001), filled(4000)), (None, None));
        duplicated(4001, 4002);
        closed(4001);
        assert_eq!((filled(4001), filled(4002)), (None, source(4000)));
        made_pair(4003, 4004);
        assert_eq!((filled(4003), filled(4004)), (source(4004), source(4003)));
        made_counter(4001);
        assert_eq!(filled(4001), source(4001));
        source(4001).unwrap().set_polled_by(address_of_set(7));
        assert_eq!(source(4001).unwrap().polled_by(), address_of_set(7));
        made_pipe(4001, 4000);
        assert_eq!(source(4001).unwrap().polled_by(), 0);
        // Too high, and none at all.
        made_pipe(1 << 20, 4005);
        assert_eq!((filled(4005), source(1 << 20), source(-1)), (None, None, None));
    }
}
