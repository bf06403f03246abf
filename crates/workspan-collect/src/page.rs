//! Reading a counter in user space: from the page that the kernel shares, and the processor's instruction.
//!
//! The kernel writes the page, and says so by a number that changes with each writing: what was read between two equal numbers
//! belongs together. The processor's counter has fewer than 64 bits and wraps; the kernel's offset is chosen so that the counter,
//! extended by its sign, is to be added.
//!
//! This is the arithmetic; [`super::counters`] has the pages.

/// What a counter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Events.
    pub value: u64,
    /// Time that it was wanted, in nanoseconds.
    pub enabled: u64,
    /// Time that it counted.
    pub running: u64,
}

/// Why a counter is not read so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Programs may not read it.
    Hidden,
    /// It is always being written.
    Busy,
}

/// The page of a counter, and the processor's counters.
pub trait Page {
    /// The number that changes.
    fn lock(&self) -> u32;
    /// Which counter of the processor's, from 1; 0: none now. And whether programs may read it.
    fn index(&self) -> (u32, bool);
    /// What is to be added.
    fn offset(&self) -> i64;
    /// Bits of a counter.
    fn width(&self) -> u16;
    /// Time that it was wanted, and that it counted, in nanoseconds.
    fn times(&self) -> (u64, u64);
    /// A counter of the processor's, from 0.
    fn counter(&self, number: u32) -> u64;
}

/// How often a page that is being written is read again.
const TRIES: usize = 64;

/// What a counter says now.
#[inline]
pub fn read(page: &impl Page) -> Result<Reading, Unread> {
    for _ in 0..TRIES {
        let lock = page.lock();
        let (index, readable) = page.index();
        let (enabled, running) = page.times();
        let mut value = page.offset();
        if !readable {
            return Err(Unread::Hidden);
        }
        if let Some(number) = index.checked_sub(1) {
            value = value.wrapping_add(extended(page.counter(number), page.width()));
        }
        // Odd while the kernel writes on another processor.
        if page.lock() == lock {
            return Ok(Reading { value: value.max(0) as u64, enabled, running });
        }
    }
    Err(Unread::Busy)
}

/// A counter of this many bits as a signed number.
fn extended(counter: u64, width: u16) -> i64 {
    let unused = 64 - u32::from(width.clamp(1, 64));
    ((counter << unused) as i64) >> unused
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    struct Made {
        counter: u64,
        offset: i64,
        width: u16,
        index: u32,
        readable: bool,
        /// Times that the page will have changed while it was read.
        writings: Cell<u32>,
        lock: Cell<u32>,
    }

    impl Page for Made {
        fn lock(&self) -> u32 {
            self.lock.get()
        }

        fn index(&self) -> (u32, bool) {
            (self.index, self.readable)
        }

        fn offset(&self) -> i64 {
            self.offset
        }

        fn width(&self) -> u16 {
            self.width
        }

        fn times(&self) -> (u64, u64) {
            if self.writings.get() > 0 {
                self.writings.set(self.writings.get() - 1);
                self.lock.set(self.lock.get() + 2);
            }
            (10, 5)
        }

        fn counter(&self, number: u32) -> u64 {
            assert_eq!(number + 1, self.index);
            self.counter
        }
    }

    fn made(counter: u64, offset: i64, width: u16) -> Made {
        let (writings, lock) = (Cell::new(0), Cell::new(0));
        Made { counter, offset, width, index: 2, readable: true, writings, lock }
    }

    #[test]
    fn counters_wrap() {
        // The kernel starts a counter at minus its period: 48 bits, 5 before it wraps.
        let period = 1u64 << 47;
        let start = (1u64 << 48) - 5;
        for (step, expected) in [(0, 1000), (4, 1004), (5, 1005), (300, 1300)] {
            let counter = (start + step) & ((1 << 48) - 1);
            assert_eq!(read(&made(counter, 1005, 48)).map(|reading| reading.value), Ok(expected), "{step}");
        }
        assert_eq!(read(&made(period - 1, 0, 48)).map(|reading| reading.value), Ok(period - 1));
        assert_eq!(read(&made(u64::MAX, 7, 64)).map(|reading| reading.value), Ok(6));
        assert_eq!(read(&made((1 << 32) - 1, 7, 32)).map(|reading| reading.value), Ok(6));
    }

    #[test]
    fn what_is_written_meanwhile_is_read_again() {
        let page = Made { writings: Cell::new(3), ..made(1, 2, 48) };
        assert_eq!(read(&page), Ok(Reading { value: 3, enabled: 10, running: 5 }));
        assert_eq!(read(&Made { writings: Cell::new(1000), ..made(1, 2, 48) }), Err(Unread::Busy));
    }

    #[test]
    fn a_counter_that_is_off_or_hidden_is_not_read() {
        let off = Made { index: 0, ..made(99, 1000, 48) };
        assert_eq!(read(&off).map(|reading| reading.value), Ok(1000));
        assert_eq!(read(&Made { readable: false, ..made(1, 2, 48) }), Err(Unread::Hidden));
    }
}
