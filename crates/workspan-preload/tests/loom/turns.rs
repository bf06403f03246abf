//! Threads of which one at a time is to run.

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use crate::check;
use crate::sync::{AtomicU32, Cell, Ordering};
use crate::turn::{Sleep, Taken, Turn};

/// A futex.
struct Futex {
    lock: Mutex<()>,
    woken: Condvar,
}

impl Sleep for Futex {
    fn sleep(&self, word: &AtomicU32, seen: u32) -> bool {
        let lock = self.lock.lock().expect("no panic");
        if word.load(Ordering::SeqCst) == seen {
            drop(self.woken.wait(lock).expect("no panic"));
        }
        true
    }

    fn wake(&self, _word: &AtomicU32) {
        let _lock = self.lock.lock().expect("no panic");
        self.woken.notify_one();
    }
}

struct All {
    turn: Turn,
    how: Futex,
    /// Of whoever has the turn.
    own: Cell<u32>,
}

// SAFETY: what the model checks.
unsafe impl Send for All {}
// SAFETY: as above.
unsafe impl Sync for All {}

/// Three threads take turns: no two at a time, and nobody sleeps for ever.
#[test]
fn one_at_a_time() {
    check("turns", 2, || {
        let all = Arc::new(All {
            turn: Turn::of(AtomicU32::new(0)),
            how: Futex { lock: Mutex::new(()), woken: Condvar::new() },
            own: Cell::new(0),
        });
        let run = |who: u32| {
            let all = Arc::clone(&all);
            move || {
                assert_eq!(all.turn.take(who, &all.how), Taken::InTurn);
                assert!(all.turn.is_of(who));
                all.own.set(all.own.get() + 1);
                all.turn.give(who, &all.how);
                assert!(!all.turn.is_of(who));
            }
        };
        let threads = [thread::spawn(run(1)), thread::spawn(run(2))];
        run(3)();
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!(all.own.get(), 3);
    });
}

/// Whose patience is over at once.
struct Impatient;

impl Sleep for Impatient {
    fn sleep(&self, _word: &AtomicU32, _seen: u32) -> bool {
        thread::yield_now();
        false
    }

    fn wake(&self, _word: &AtomicU32) {}
}

/// One thread is gone with the turn: the first of two that want it takes it from that one, the other in turn or from the
/// first; and who has lost its turn gives nothing back that is another's.
#[test]
fn a_turn_that_is_lost_is_taken_once() {
    const GONE: u32 = 7;
    check("lost turn", 3, || {
        let turn = Arc::new(Turn::of(AtomicU32::new(0)));
        assert_eq!(turn.take(GONE, &Impatient), Taken::InTurn);
        let run = |who: u32| {
            let turn = Arc::clone(&turn);
            move || {
                let taken = turn.take(who, &Impatient);
                turn.give(who, &Impatient);
                taken
            }
        };
        let other = thread::spawn(run(1));
        let here = run(2)();
        let there = other.join().expect("no panic");
        let from_gone = [here, there].iter().filter(|taken| **taken == Taken::From(GONE)).count();
        assert_eq!(from_gone, 1, "{here:?} {there:?}");
        turn.give(GONE, &Impatient);
        assert!(turn.is_of(0));
    });
}
