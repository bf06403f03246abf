//! What the members of a team share: instances of worksharing constructs, and the slots of barriers.

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use crate::candidate::offer;
use crate::check;
use crate::path;
use crate::share::{Left, Share};
use crate::shared::{Shared, Whole};
use crate::shm::{Candidate, NODE};
use crate::sync::{AtomicI64, AtomicU64, Ordering};

/// Two members leave three instances in the same place, each as soon as it likes: an instance that is counted has the longest of its
/// own parts, and of no other instance's.
#[test]
fn an_instance_has_its_own_parts_alone() {
    check("worksharing", 2, || {
        let share = Arc::new(Share::new());
        let member = |parts: [(u32, i64); 3]| {
            let share = Arc::clone(&share);
            move || {
                parts.map(|(ordinal, span)| {
                    let left = share.leave(ordinal, 2, [span; 3], u64::from(ordinal) + 1, || {});
                    if let Left::Last(spans, of) = left {
                        let longest = [20, 400, 5][ordinal as usize / 4];
                        assert_eq!((spans, of), ([longest; 3], u64::from(ordinal) + 1));
                    }
                    left
                })
            }
        };
        let other = thread::spawn(member([(0, 10), (4, 400), (8, 5)]));
        let here = member([(0, 20), (4, 300), (8, 3)])();
        let there = other.join().expect("no panic");
        let first = [here[0], there[0]];
        assert!(first.iter().filter(|left| matches!(left, Left::Last(..))).count() <= 1);
        if first.contains(&Left::Among) && !first.contains(&Left::Apart) {
            assert!(first.iter().any(|left| matches!(left, Left::Last(..))), "{first:?}");
        }
    });
}

/// A barrier of two, as a runtime's: whoever passes it is behind both arrivals.
struct Barrier {
    arrived: Mutex<u32>,
    all: Condvar,
}

impl Barrier {
    fn wait(&self, round: u32) {
        let mut arrived = self.arrived.lock().expect("no panic");
        *arrived += 1;
        self.all.notify_one();
        while *arrived < 2 * (round + 1) {
            arrived = self.all.wait(arrived).expect("no panic");
        }
    }
}

/// Members offer their spans at barriers to two slots in turn, which are never emptied, and go on after the latest.
#[test]
fn two_slots_are_enough() {
    check("slots of barriers", 1, || {
        let memory = Arc::new(Whole::new(9, 0));
        let shared: Shared = memory.shared();
        let slots: Arc<[Candidate; 2]> =
            Arc::new(std::array::from_fn(|_| Candidate { span: AtomicI64::new(i64::MIN), path: AtomicU64::new(0) }));
        let barrier = Arc::new(Barrier { arrived: Mutex::new(0), all: Condvar::new() });
        let seen = Arc::new(Mutex::new(Vec::new()));
        let member = |parts: [i64; 3]| {
            let (slots, barrier, seen) = (Arc::clone(&slots), Arc::clone(&barrier), Arc::clone(&seen));
            move || {
                let mut span = 0;
                for (round, part) in (0..).zip(parts) {
                    span += part;
                    // As `team::arrive` and `team::pass`.
                    let slot = &slots[round as usize % 2];
                    if span > slot.span.load(Ordering::Relaxed) {
                        offer(shared, slot, span, path::add(shared, 0, 1, span));
                    }
                    barrier.wait(round);
                    let (latest, path) = (slot.span.load(Ordering::Acquire), slot.path.load(Ordering::Acquire));
                    if latest > span {
                        let path = path::own(shared, path as u32);
                        assert_eq!(shared.node(path & NODE).ticks[0].get(), latest);
                        path::release(shared, path);
                        span = latest;
                    }
                }
                seen.lock().expect("no panic").push(span);
            }
        };
        let other = thread::spawn(member([5, 1, 9]));
        member([3, 8, 2])();
        other.join().expect("no panic");
        assert_eq!(*seen.lock().expect("no panic"), [22, 22]);
        slots.iter().for_each(|slot| path::release(shared, slot.path.load(Ordering::Relaxed) as u32));
        assert_eq!(shared.nodes_in_use(), 0);
    });
}
