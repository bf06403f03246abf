//! Batches of tasks: the last holder frees, whoever it is.

use loom::sync::Arc;
use loom::thread;

use crate::batch::{self, Added, Kind};
use crate::check;
use crate::path;
use crate::shared::{Shared, Whole};
use crate::shm::{NODE, OWNED};
use crate::sync::Ordering;

fn kind(node: u32) -> Kind {
    Kind {
        group: std::ptr::null(),
        owner: std::ptr::null(),
        path: node,
        path_since: 0,
        forked_in: 0,
        context: 1,
        recursive: false,
        burden: 0,
        identity: crate::origin::Identity::NONE,
    }
}

fn ends(shared: Shared, word: u64, ticks: i64) {
    // SAFETY: each word is used as often as it has copies.
    let added = unsafe { Added::of(word) };
    let origin = added.origin();
    assert_eq!(origin.span, ticks);
    assert_eq!(shared.node(origin.path).ticks[0].get(), 5);
    added.end();
}

/// A strand adds two tasks to a batch and closes it, while they run and end on two other threads: the batch's path is
/// whole until the last of them has ended, and is released once, by whoever comes last.
#[test]
fn the_last_holder_frees() {
    check("batch", 3, || {
        let memory = Arc::new(Whole::new(2, 0));
        let shared = memory.shared();
        let thread = shared.thread();
        let path = path::add(shared, 0, 1, 5);
        let kind = kind(path & NODE);
        let first = batch::add(&thread, &kind, 10, 1);
        let one = thread::spawn(move || ends(shared, first, 10));
        let second = batch::add(&thread, &kind, 13, 1);
        let two = thread::spawn(move || ends(shared, second, 13));
        batch::close_all(&thread);
        // The strand goes on, and gives its path up.
        path::release(shared, path | OWNED);
        one.join().expect("no panic");
        two.join().expect("no panic");
        assert_eq!(shared.nodes_in_use(), 0);
        assert_eq!(shared.header().dropped_nodes.load(Ordering::Relaxed), 0);
    });
}
