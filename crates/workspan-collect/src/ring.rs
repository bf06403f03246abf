//! A thread's ring of records: one thread fills it, one thread of the runner's empties it, in another process.
//!
//! `published` is stored (release) after the record is written, so that whoever reads it (acquire) may read as many records;
//! `taken` is stored (release) after the records are read, so that whoever reads it (acquire) may write over as many. Each
//! of the two is written by one side alone. A side's own counter is never behind; the other's may be, which costs a look.
//!
//! Modelled with all orders of steps in `crates/workspan-preload/tests/loom`.

use workspan_wire::log::Record;
use workspan_wire::shm::{ThreadLog, LOG_RECORDS};
use workspan_wire::sync::Ordering;

/// Records written so far; asked by the thread that writes.
#[inline]
pub fn written(log: &ThreadLog) -> u64 {
    log.published.load(Ordering::Relaxed)
}

/// Up to which record the one that writes has room, as far as it knows.
pub fn room(log: &ThreadLog) -> u64 {
    log.taken.load(Ordering::Acquire) + LOG_RECORDS as u64
}

/// Writes record `at`, which is the next and has room.
#[inline]
pub fn put(log: &ThreadLog, at: u64, record: Record) {
    let place = &log.records[at as usize % LOG_RECORDS];
    place[0].set(record.0);
    place[1].set(record.1);
    log.published.store(at + 1, Ordering::Release);
}

/// Gives `keep` what was written since the last call, and makes room for more. Returns the number of records.
pub fn take(log: &ThreadLog, mut keep: impl FnMut(Record)) -> usize {
    let taken = log.taken.load(Ordering::Relaxed);
    // Of what a broken program writes there, no more than a log holds is believed.
    let count = log.published.load(Ordering::Acquire).wrapping_sub(taken).min(LOG_RECORDS as u64);
    for at in taken..taken.wrapping_add(count) {
        let [first, second] = &log.records[at as usize % LOG_RECORDS];
        keep(Record(first.get(), second.get()));
    }
    log.taken.store(taken.wrapping_add(count), Ordering::Release);
    count as usize
}
