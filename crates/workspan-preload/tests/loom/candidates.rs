//! Candidates for the longest chain, entries left under addresses, and tables that only grow.

use loom::sync::Arc;
use loom::thread;

use crate::candidate::{offer, raise};
use crate::check;
use crate::intern::{Found, Table as Interned};
use crate::left::Table;
use crate::path;
use crate::shared::Whole;
use crate::shm::{Candidate, Spans, NODE, OWNED};
use crate::sync::{AtomicI64, AtomicU32, AtomicU64, Cell, Ordering};

/// Tasks end on two threads; the longest is left, with its own path, and no other node.
#[test]
fn the_longest_is_left_with_its_path() {
    check("candidate", 2, || {
        let memory = Arc::new(Whole::new(3, 0));
        let shared = memory.shared();
        let candidate = Arc::new(Candidate { span: AtomicI64::new(i64::MIN), path: AtomicU64::new(0) });
        let most = Arc::new(AtomicI64::new(i64::MIN));
        let end = |span: i64| {
            let (candidate, most) = (Arc::clone(&candidate), Arc::clone(&most));
            move || {
                raise(&most, span);
                if span > candidate.span.load(Ordering::Relaxed) {
                    offer(shared, &candidate, span, path::add(shared, 0, 1, span));
                }
            }
        };
        let other = thread::spawn(end(30));
        end(10)();
        end(20)();
        other.join().expect("no panic");
        let left = candidate.path.load(Ordering::Relaxed) as u32;
        assert_eq!((candidate.span.load(Ordering::Relaxed), most.load(Ordering::Relaxed)), (30, 30));
        assert_eq!(shared.node(left & NODE).ticks[0].get(), 30);
        assert_eq!(shared.nodes_in_use(), 1);
        path::release(shared, left);
        assert_eq!(shared.nodes_in_use(), 0);
    });
}

/// An entry is left; one thread leaves one under another address that shares the slot, and both look for the first. Whatever comes
/// when, each path is released once, and nobody takes what is another's.
#[test]
fn what_is_left_under_an_address_is_taken_once() {
    const HERE: u64 = 8;
    const ELSEWHERE: u64 = 16;
    check("entries under addresses", 3, || {
        let memory = Arc::new(Whole::new(3, 0));
        let shared = memory.shared();
        let table = Arc::new(Table::of([Candidate { span: AtomicI64::new(i64::MIN), path: AtomicU64::new(0) }]));
        let leave = |address: u64, span: i64| {
            let table = Arc::clone(&table);
            move || table.put(shared, address, Spans::all(span), path::add(shared, 0, 1, span))
        };
        let take = || {
            let table = Arc::clone(&table);
            move || {
                if let Some((spans, found)) = table.take(HERE) {
                    assert_eq!((spans.actual, shared.node(found & NODE).ticks[0].get()), (10, 10));
                    table.put_back(shared, HERE, spans, path::own(shared, found));
                    path::release(shared, found);
                }
            }
        };
        leave(HERE, 10)();
        let (look, put) = (take(), leave(ELSEWHERE, 20));
        let other = thread::spawn(move || {
            look();
            put();
        });
        take()();
        other.join().expect("no panic");
        let left = [HERE, ELSEWHERE].into_iter().filter_map(|address| table.take(address));
        left.for_each(|(_, path)| path::release(shared, path));
        assert_eq!(shared.nodes_in_use(), 0);
    });
}

struct Records {
    index: Vec<AtomicU32>,
    used: AtomicU32,
    keys: [Cell<u32>; 3],
    ready: [AtomicU32; 3],
}

// SAFETY: what the model checks.
unsafe impl Send for Records {}
// SAFETY: as above.
unsafe impl Sync for Records {}

/// Threads intern the same key and others, which meet in one slot: each key has one record, which is whole for whoever finds it.
#[test]
fn each_key_has_one_record() {
    check("interning", 3, || {
        let records = Arc::new(Records {
            index: (0..3).map(|_| AtomicU32::new(0)).collect(),
            used: AtomicU32::new(0),
            keys: std::array::from_fn(|_| Cell::new(0)),
            ready: std::array::from_fn(|_| AtomicU32::new(0)),
        });
        let intern = |key: u32| {
            let records = Arc::clone(&records);
            move || {
                let found = Interned { index: |slot| &records.index[slot], slots: 3, used: &records.used, capacity: 3 }
                    .intern(
                        0,
                        |id| records.keys[id as usize].get() == key,
                        |id| {
                            records.keys[id as usize].set(key);
                            records.ready[id as usize].store(1, Ordering::Release);
                        },
                        |id| records.ready[id as usize].store(0, Ordering::Relaxed),
                    );
                let (Found::Known(id) | Found::New(id)) = found else { panic!("there is room") };
                assert_eq!(records.keys[id as usize].get(), key);
                id
            }
        };
        let threads = [thread::spawn(intern(7)), thread::spawn(intern(9))];
        let here = intern(7)();
        let [same, other] = threads.map(|thread| thread.join().expect("no panic"));
        assert!(here == same && here != other);
        let ready = records.ready.iter().filter(|ready| ready.load(Ordering::Relaxed) != 0).count();
        assert_eq!(ready, 2, "a record that was written in vain says so");
    });
}

/// `Candidate` and paths agree on what a handle is.
const _: () = assert!(OWNED > NODE);
