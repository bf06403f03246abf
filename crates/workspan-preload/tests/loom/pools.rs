//! Batches of blocks that threads pass to each other.

use loom::sync::Arc;
use loom::thread;

use crate::check;
use crate::shm::Candidate;
use crate::stack;
use crate::sync::{AtomicI64, AtomicU64, Cell, Ordering};

struct Blocks {
    top: Candidate,
    next: [AtomicU64; 3],
    /// What only who has taken a batch may touch.
    content: [Cell<u64>; 3],
}

// SAFETY: what the model checks.
unsafe impl Send for Blocks {}
// SAFETY: as above.
unsafe impl Sync for Blocks {}

impl Blocks {
    fn push(&self, batch: u64) {
        stack::push(&self.top, batch, |next| self.next[batch as usize - 1].store(next, Ordering::Relaxed));
    }

    fn pop(&self) -> Option<u64> {
        stack::pop(&self.top, |batch| self.next[batch as usize - 1].load(Ordering::Relaxed))
    }
}

/// Two threads take batches and give them back, so that the same one is on top again while another looks (ABA).
#[test]
fn a_batch_is_one_threads_alone() {
    check("stack of batches", 3, || {
        let blocks = Arc::new(Blocks {
            top: Candidate { span: AtomicI64::new(0), path: AtomicU64::new(0) },
            next: std::array::from_fn(|_| AtomicU64::new(0)),
            content: std::array::from_fn(|_| Cell::new(0)),
        });
        blocks.push(1);
        blocks.push(2);
        let other = thread::spawn({
            let blocks = Arc::clone(&blocks);
            move || {
                let (first, second) = (blocks.pop(), blocks.pop());
                for batch in [first, second].into_iter().flatten() {
                    blocks.content[batch as usize - 1].set(1);
                }
                if let Some(first) = first {
                    blocks.push(first);
                }
                second
            }
        });
        let mine = blocks.pop();
        if let Some(batch) = mine {
            blocks.content[batch as usize - 1].set(2);
        }
        let kept = other.join().expect("no panic");
        let mut all: Vec<u64> = mine.into_iter().chain(kept).collect();
        while let Some(batch) = blocks.pop() {
            all.push(batch);
        }
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
    });
}
