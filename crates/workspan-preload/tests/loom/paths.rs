//! Nodes of critical paths: holders, additions in place, folding; and the free list under them.

use loom::sync::Arc;
use loom::thread;

use crate::calls;
use crate::check;
use crate::path::{self, Tail};
use crate::shared::{Shared, Whole};
use crate::shm::{NODE, OWNED};
use crate::sync::Ordering;

/// Sum of a chain's entries.
fn ticks(shared: Shared, path: u32) -> i64 {
    let (mut sum, mut at) = (0, path & NODE);
    while at != 0 {
        let node = shared.node(at);
        sum += (0..node.len.get() as usize).map(|i| node.ticks[i].get()).sum::<i64>();
        at = node.parent.load(Ordering::Relaxed);
    }
    sum
}

/// Nodes are taken and given back by several threads: none is anybody's twice.
#[test]
fn a_node_is_one_threads_alone() {
    check("free list", 3, || {
        let memory = Arc::new(Whole::new(4, 0));
        let shared = memory.shared();
        let work = move |context: u32| {
            for ticks in 1..3 {
                let path = path::add(shared, 0, context, ticks);
                assert_eq!(shared.node(path & NODE).ticks[0].get(), ticks);
                path::release(shared, path);
            }
        };
        let threads = [thread::spawn(move || work(1)), thread::spawn(move || work(2))];
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!(shared.nodes_in_use(), 0);
    });
}

/// Two branches borrow a path, add to it, and are joined: the longer one's is left, the other's nodes are free.
#[test]
fn branches_go_on_from_one_path() {
    check("branches", 3, || {
        let memory = Arc::new(Whole::new(4, 0));
        let shared = memory.shared();
        let from = path::add(shared, 0, 1, 5);
        let borrowed = from & !OWNED;
        let branch = move |context: u32, ticks: i64| {
            let path = path::add(shared, borrowed, context, ticks);
            Tail { span: 5 + ticks, path: path::add(shared, path, context + 1, 1), since: 6 + ticks }
        };
        let right = thread::spawn(move || branch(4, 20));
        let left = branch(2, 10);
        let right = right.join().expect("no panic");
        let longer = path::merge(shared, from, 5, left, right);
        assert_eq!((longer.span, ticks(shared, longer.path)), (25, 26));
        assert_eq!(shared.nodes_in_use(), 2);
        path::release(shared, longer.path);
        assert_eq!(shared.nodes_in_use(), 0);
    });
}

/// Two strands fold chains that share what lies behind, while a third that holds the shared part gives it up: entries move,
/// none is lost, and none is freed that somebody sees.
#[test]
fn folding_behind_what_others_hold() {
    check("folding", 2, || {
        let memory = Arc::new(Whole::new(9, 0));
        let shared = memory.shared();
        // Behind: two nodes of the same context, the newer one held by two strands and by a third.
        let oldest = path::add(shared, 0, 1, 1);
        let behind = path::add(shared, oldest & !OWNED, 1, 2);
        path::release(shared, oldest);
        for _ in 0..2 {
            path::own(shared, behind);
        }
        let fold = move |context: u32| {
            let mut path = path::add(shared, behind & !OWNED, context, 10);
            // The next one is a node of its own, as if the first were full, and long enough to be folded.
            let first = path;
            path = path::add(shared, first & !OWNED, context, 10);
            path::release(shared, first);
            shared.node(path & NODE).fold_at.set(1);
            path = path::add(shared, path, context, 0);
            path::release(shared, behind);
            path
        };
        let threads = [thread::spawn(move || fold(2)), thread::spawn(move || fold(3))];
        path::release(shared, behind);
        for path in threads.map(|thread| thread.join().expect("no panic")) {
            assert_eq!(ticks(shared, path), 23);
            path::release(shared, path);
        }
        assert_eq!(shared.nodes_in_use(), 0);
        assert_eq!(shared.header().folding.load(Ordering::Relaxed), 0);
    });
}

/// A call is known when its tasks are over, on whichever thread; whoever has it on its path finds the sums of all of them, or
/// that they are awaited.
#[test]
fn a_call_is_known_when_nothing_keeps_it_open() {
    check("calls", 3, || {
        let memory = Arc::new(Whole::new(2, 1));
        let shared = memory.shared();
        let thread = shared.thread();
        let call = calls::begin(shared, 0, 0, 1);
        let path = path::mark(shared, 0, call);
        let tasks = [7, 9].map(|work| {
            calls::keep_open(shared, call);
            thread::spawn(move || {
                let thread = shared.thread();
                calls::task_over(&thread, call, work);
            })
        });
        calls::add(shared, call, 4);
        calls::let_go(&thread, call);
        if let Some(sums) = calls::known(shared, call) {
            assert_eq!(sums.work, 20);
        }
        for thread in tasks {
            thread.join().expect("no panic");
        }
        assert_eq!(calls::known(shared, call).map(|sums| sums.work), Some(20));
        path::release(shared, path);
        assert_eq!(shared.nodes_in_use(), 0);
        assert_ne!(shared.header().free_calls.load(Ordering::Relaxed) as u32, 0, "it is free");
    });
}
