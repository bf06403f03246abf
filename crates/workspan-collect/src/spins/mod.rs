//! Loops of machine code that do nothing but look: who is in one waits for another thread, whatever its clocks say.
//!
//! From an address that a sample was taken at, ways back to it are followed through the instructions, into functions that are called and
//! back to their callers. A way *polls* if going it any number of times changes nothing but what has been read:
//!
//! * it stores nothing that others see: only in places of its own stack, which count as registers ([`values`]); an attempt to take a lock
//!   (`xchg`, `cmpxchg`) is a look; what [`operands`] does not know is work;
//! * what it reads lies at the same place each time: a walk through an array or a list is none;
//! * of registers that keep a value from one time to the next, only counters by fixed steps change;
//! * it reads something and compares it, or contains `pause`.
//!
//! **Bias:** all else is work: longer ways, loops that read a clock, or call what an object has. What reads through a pointer that another
//! thread moves is found only from the head of the loop.

mod operands;
#[cfg(all(test, not(miri)))]
mod tests;
mod values;

use operands::{Reader, Step};
use values::{Value, Values};

/// Instructions of a way.
const MOST_STEPS: usize = 128;
/// Conditional branches of a way.
const MOST_BRANCHES: u32 = 5;
/// Calls within each other.
const MOST_CALLS: usize = 4;
/// Words of the stack that a sample has.
pub const WORDS: usize = 9;

/// Where a thread was, and what lay uppermost on its stack.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The instruction.
    pub at: u64,
    /// The frame pointer, which may be used for something else.
    pub frame: u64,
    /// The stack pointer.
    pub stack: u64,
    /// What lay there, from the stack pointer up.
    pub words: [u64; WORDS],
}

/// What the code at a place does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// A thread there may be in a loop that polls.
    pub polls: bool,
    /// That depends on who called.
    pub by_caller: bool,
}

/// What a thread at `spot` may be in. `is_code` says whether there is code where a call leads, or a word of the stack.
///
/// # Safety
///
/// There is code at `spot.at`, whole, with all to which it jumps, and wherever `is_code` says so.
pub unsafe fn look(spot: &Spot, is_code: fn(u64) -> bool) -> Found {
    let mut taken = 0u32;
    let mut by_caller = false;
    loop {
        let mut way = Way::new(spot, is_code, taken);
        // SAFETY: the caller's promise.
        let leads_back = unsafe { way.leads_back() };
        by_caller |= way.by_caller;
        // SAFETY: as above.
        if leads_back && unsafe { way.polls() } {
            return Found { polls: true, by_caller };
        }
        // The next way: the last branch that was not taken is.
        let branches = way.branches;
        let Some(last) = (0..branches).rev().find(|branch| taken & 1 << branch == 0) else {
            return Found { polls: false, by_caller };
        };
        taken = (taken & ((1 << last) - 1)) | 1 << last;
    }
}

/// A way through the code.
struct Way<'s> {
    spot: &'s Spot,
    is_code: fn(u64) -> bool,
    /// Which conditional branches are taken, by bit.
    taken: u32,
    /// How many it has.
    branches: u32,
    /// Its instructions, and within how many calls more than the first they are.
    steps: [(u64, i32); MOST_STEPS],
    length: usize,
    /// Stack pointer and frame pointer at the loop's head.
    pointers: [Value; 2],
    reader: Reader,
    /// Where the functions go on that were called on the way.
    calls: [u64; MOST_CALLS],
    depth: usize,
    /// How many functions it has left that it did not call.
    left: i32,
    /// It was led by who called these.
    by_caller: bool,
}

impl<'s> Way<'s> {
    fn new(spot: &'s Spot, is_code: fn(u64) -> bool, taken: u32) -> Way<'s> {
        /// Bytes of a frame, at most.
        const FRAME: u64 = 4096;
        let frame = Some(spot.frame.wrapping_sub(spot.stack)).filter(|far| *far < FRAME);
        let reader = Reader::new(Values::loose(frame.map(|far| far as i64)));
        let pointers = reader.values.pointers();
        let (steps, calls) = ([(0, 0); MOST_STEPS], [0; MOST_CALLS]);
        let (branches, length, depth, left) = (0, 0, 0, 0);
        Way { spot, is_code, taken, branches, steps, length, pointers, reader, calls, depth, left, by_caller: false }
    }

    /// True if it comes back to where it began; its steps begin at the loop's head then: the lowest address outside of functions that
    /// it calls.
    ///
    /// # Safety
    ///
    /// As for [`look`].
    unsafe fn leads_back(&mut self) -> bool {
        let mut head = 0;
        let mut at = self.spot.at;
        loop {
            let level = self.depth as i32 - self.left;
            let Some(step) = self.steps.get_mut(self.length) else { return false };
            *step = (at, level);
            let (lowest, outermost) = self.steps[head];
            if self.length == 0 || level < outermost || level == outermost && at < lowest {
                head = self.length;
                self.pointers = self.reader.values.pointers();
            }
            self.length += 1;
            // SAFETY: the caller's promise.
            let Some(next) = (unsafe { self.next(at) }) else { return false };
            if next == self.spot.at && self.reader.values.pointers()[0] == Value::Stack(0) {
                break;
            }
            at = next;
        }
        self.steps[..self.length].rotate_left(head);
        true
    }

    /// The instruction behind that at `at`.
    ///
    /// # Safety
    ///
    /// As for [`look`].
    unsafe fn next(&mut self, at: u64) -> Option<u64> {
        let [before, _] = self.reader.values.pointers();
        // SAFETY: the caller's promise.
        match unsafe { self.reader.step(at) }? {
            Step::On(next) => Some(next),
            Step::Branch { next, to } => {
                if self.branches == MOST_BRANCHES {
                    return None;
                }
                let taken = self.taken & 1 << self.branches != 0;
                self.branches += 1;
                Some(if taken { to } else { next })
            }
            Step::Call { next, to } => {
                *self.calls.get_mut(self.depth)? = next;
                self.depth += 1;
                Some(to).filter(|to| (self.is_code)(*to))
            }
            Step::Far(to) => Some(to).filter(|to| (self.is_code)(*to)),
            Step::Return => {
                if let Some(depth) = self.depth.checked_sub(1) {
                    self.depth = depth;
                    return Some(self.calls[depth]);
                }
                let Value::Stack(at) = before else { return None };
                self.by_caller = true;
                self.left += 1;
                let word = usize::try_from(at).ok().filter(|at| at % 8 == 0)? / 8;
                let caller = *self.spot.words.get(word)?;
                Some(caller).filter(|to| (self.is_code)(*to))
            }
        }
    }

    /// Goes it twice: what the first time leaves in registers is there the second time.
    ///
    /// # Safety
    ///
    /// As for [`look`].
    unsafe fn polls(&mut self) -> bool {
        let mut reader = Reader::new(self.reader.values.strict(self.pointers));
        for time in 0..2 {
            if time > 0 {
                reader.values.begin();
            }
            for (at, _) in &self.steps[..self.length] {
                // SAFETY: the caller's promise.
                if unsafe { reader.step(*at) }.is_none() {
                    return false;
                }
            }
        }
        self.branches > 0 && reader.looks()
    }
}
