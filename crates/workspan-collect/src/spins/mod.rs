//! Loops of machine code that do nothing but look: who is in one waits for another thread, whatever its clocks say.
//!
//! From an address that a sample was taken at, ways back to it are followed through the instructions. A way *polls* if going it any
//! number of times changes nothing but what has been read:
//!
//! * it stores nothing and calls nothing ([`operands`] refuses what it does not know); an attempt to take a lock (`xchg`, `cmpxchg`)
//!   is a look;
//! * what it reads lies at the same place each time: a walk through an array or a list is none;
//! * of registers that keep a value from one time to the next, only counters by fixed steps change;
//! * it reads something and compares it, or contains `pause`.
//!
//! **Bias:** all else is work: loops of unoptimised code, which store on their stack; loops that read a clock, or call a function. What
//! reads through a pointer that another thread moves is found only from the head of the loop.

mod operands;
#[cfg(test)]
mod tests;

use operands::{Registers, Step};

/// Instructions of a way.
const MOST_STEPS: usize = 40;
/// Conditional branches of a way.
const MOST_BRANCHES: u32 = 5;

/// True if a thread that is at `address` may be in a loop that polls.
///
/// # Safety
///
/// There is code at `address`, whole, with all to which it jumps.
pub unsafe fn is_polling(address: u64) -> bool {
    let mut taken = 0u32;
    loop {
        let mut way = Way::new(address, taken);
        // SAFETY: the caller's promise.
        let leads_back = unsafe { way.leads_back() };
        // SAFETY: as above.
        if leads_back && unsafe { way.polls() } {
            return true;
        }
        // The next way: the last branch that was not taken is.
        let Some(last) = (0..way.branches).rev().find(|branch| taken & 1 << branch == 0) else { return false };
        taken = (taken & ((1 << last) - 1)) | 1 << last;
    }
}

/// A way through the code.
struct Way {
    from: u64,
    /// Which conditional branches are taken, by bit.
    taken: u32,
    /// How many it has.
    branches: u32,
    /// Its lowest address: the loop's head.
    head: u64,
}

impl Way {
    fn new(from: u64, taken: u32) -> Way {
        Way { from, taken, branches: 0, head: from }
    }

    /// # Safety
    ///
    /// As for [`is_polling`].
    unsafe fn leads_back(&mut self) -> bool {
        let mut registers = Registers::loose();
        let mut at = self.from;
        for _ in 0..MOST_STEPS {
            // SAFETY: the caller's promise.
            let Some(next) = (unsafe { self.next(&mut registers, at) }) else { return false };
            if next == self.from {
                return true;
            }
            at = next;
            self.head = self.head.min(at);
        }
        false
    }

    /// The instruction behind that at `at`.
    ///
    /// # Safety
    ///
    /// As for [`is_polling`].
    unsafe fn next(&mut self, registers: &mut Registers, at: u64) -> Option<u64> {
        // SAFETY: the caller's promise.
        Some(match unsafe { registers.step(at) }? {
            Step::On(next) => next,
            Step::Branch { next, to } => {
                if self.branches == MOST_BRANCHES {
                    return None;
                }
                let taken = self.taken & 1 << self.branches != 0;
                self.branches += 1;
                if taken {
                    to
                } else {
                    next
                }
            }
        })
    }

    /// Goes it twice from its head: what the first time leaves in registers is there the second time.
    ///
    /// # Safety
    ///
    /// As for [`is_polling`].
    unsafe fn polls(&self) -> bool {
        // Branches of the way from its head on are others in number.
        let mut targets = [0u64; MOST_STEPS];
        let mut again = Way::new(self.from, self.taken);
        let mut registers = Registers::loose();
        let mut at = self.from;
        let mut length = 0;
        loop {
            let Some(slot) = targets.get_mut(length) else { return false };
            *slot = at;
            length += 1;
            // SAFETY: the caller's promise.
            let Some(next) = (unsafe { again.next(&mut registers, at) }) else { return false };
            if next == self.from {
                break;
            }
            at = next;
        }
        let Some(way) = targets.get_mut(..length) else { return false };
        let head = way.iter().position(|at| *at == self.head).unwrap_or(0);
        way.rotate_left(head);
        let mut registers = Registers::strict();
        for _ in 0..2 {
            registers.begin();
            for at in way.iter() {
                // SAFETY: the caller's promise.
                if unsafe { registers.step(*at) }.is_none() {
                    return false;
                }
            }
        }
        self.branches > 0 && registers.looks()
    }
}
