//! The log's ring, and what is taken from it at the end.

use loom::sync::Arc;
use loom::thread;

use crate::check;
use crate::log::Record;
use crate::ring;
use crate::shm::{ThreadLog, LOG_RECORDS};
use crate::sync::{AtomicBool, AtomicU64, Cell, Ordering};

fn log() -> ThreadLog {
    ThreadLog {
        published: AtomicU64::new(0),
        taken: AtomicU64::new(0),
        records: std::array::from_fn(|_| [Cell::new(0), Cell::new(0)]),
    }
}

struct Both {
    log: ThreadLog,
    ended: AtomicBool,
}

// SAFETY: what the model checks.
unsafe impl Send for Both {}
// SAFETY: as above.
unsafe impl Sync for Both {}

/// One thread writes more than fits, another one empties the ring until it knows of the end: all records come, in order,
/// the last one included.
#[test]
fn every_record_comes_once() {
    const RECORDS: u64 = LOG_RECORDS as u64 + 1;
    check("ring", 3, || {
        let both = Arc::new(Both { log: log(), ended: AtomicBool::new(false) });
        let program = thread::spawn({
            let both = Arc::clone(&both);
            move || {
                let mut room = LOG_RECORDS as u64;
                for number in 0..RECORDS {
                    let at = ring::written(&both.log);
                    while at >= room {
                        room = ring::room(&both.log);
                        thread::yield_now();
                    }
                    ring::put(&both.log, at, Record(number, number + 100));
                }
                // As the process's end, which the runner waits for.
                both.ended.store(true, Ordering::Release);
            }
        });
        let mut found = Vec::new();
        loop {
            let last = both.ended.load(Ordering::Acquire);
            ring::take(&both.log, |record| found.push(record));
            if last {
                break;
            }
            thread::yield_now();
        }
        let expected: Vec<Record> = (0..RECORDS).map(|number| Record(number, number + 100)).collect();
        assert_eq!(found, expected);
        program.join().expect("no panic");
    });
}
