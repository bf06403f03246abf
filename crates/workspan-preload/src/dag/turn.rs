//! Whose turn it is, of threads of which one at a time is to run: a word with the one who has it.
//!
//! Whoever finds it taken says so in the word and sleeps; whoever gives it back wakes one sleeper, who says so again, as it
//! does not know of others. Only who has the turn gives it back: the word says who, so that nobody gives what another
//! has.
//!
//! **Patience.** Who has the turn may never give it back: it waits for another in a way that nobody sees, or is gone. A thread
//! that has waited for the same one until its patience was over takes the turn from it. From then on the turn is
//! as any other: a thread that is gone costs one wait, not one for each that comes later.
//!
//! Modelled with all orders of steps in `crates/workspan-preload/tests/loom`.

use workspan_wire::sync::{AtomicU32, Ordering};

/// Set while somebody may sleep; the other bits are who has the turn, 0 for nobody.
const SLEEPERS: u32 = 1 << 31;

/// How threads sleep.
pub trait Sleep {
    /// Sleeps while `word` is `seen`, unless woken. False: for as long as its patience lasts.
    fn sleep(&self, word: &AtomicU32, seen: u32) -> bool;
    /// Wakes one that sleeps.
    fn wake(&self, word: &AtomicU32);
}

/// How somebody came by its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was free.
    InTurn,
    /// From this one, which did not give it back.
    From(u32),
}

/// The turn.
#[derive(Debug)]
pub struct Turn(AtomicU32);

impl Turn {
    /// A turn by `word`: 0 for nobody's.
    pub const fn of(word: AtomicU32) -> Turn {
        Turn(word)
    }

    /// True if it is the turn of `who`, who asks.
    pub fn is_of(&self, who: u32) -> bool {
        self.0.load(Ordering::Relaxed) & !SLEEPERS == who
    }

    /// `who`, not 0, which has not got it, waits for its turn.
    pub fn take(&self, who: u32, how: &impl Sleep) -> Taken {
        let mut slept = 0;
        loop {
            let seen = self.0.load(Ordering::Relaxed);
            let holder = seen & !SLEEPERS;
            if holder == 0 {
                if self.replace(seen, who | slept | seen & SLEEPERS) {
                    return Taken::InTurn;
                }
                continue;
            }
            let told = seen | SLEEPERS;
            if seen != told && !self.replace(seen, told) {
                continue;
            }
            slept = SLEEPERS;
            // From another than the one it has waited for it takes nothing: things go on.
            if !how.sleep(&self.0, told) && self.replace(told, who | SLEEPERS) {
                return Taken::From(holder);
            }
        }
    }

    fn replace(&self, seen: u32, by: u32) -> bool {
        self.0.compare_exchange(seen, by, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// `who` gives its turn back, if it has it.
    pub fn give(&self, who: u32, how: &impl Sleep) {
        let mut seen = self.0.load(Ordering::Relaxed);
        while seen & !SLEEPERS == who {
            match self.0.compare_exchange(seen, 0, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => {
                    if seen & SLEEPERS != 0 {
                        how.wake(&self.0);
                    }
                    return;
                }
                Err(found) => seen = found,
            }
        }
    }
}
