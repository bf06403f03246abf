//! The logs of a running program, on disk until they are converted.
//!
//! A thread of the runner empties the threads' logs while the program runs. What it takes goes to a file that has no name any
//! more, in blocks that each belong to one thread; so nothing is left behind, however we end. When the disk is full the
//! program is made to stop logging, and goes on; the first half of what was logged is kept.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use workspan_collect::drain::Drain;
use workspan_read::log::Logs;
use workspan_wire::log::{Record, RECORD};
use workspan_wire::shm::{LOG_RECORDS, MAX_THREADS};

use super::memory::SharedMemory;

/// Records of a block.
const BLOCK: usize = 4096;
/// Between two looks, unless a log fills quickly.
const PAUSE: Duration = Duration::from_millis(4);

/// Logs on disk.
#[derive(Debug)]
pub struct Spool {
    file: File,
    blocks: u64,
    slots: Vec<Slot>,
    failed: Option<io::Error>,
}

/// The log of one thread.
#[derive(Debug, Default)]
struct Slot {
    /// Where its blocks are, in blocks.
    blocks: Vec<u64>,
    /// What does not fill one yet.
    rest: Vec<Record>,
}

impl Spool {
    /// A spool in `folder`.
    pub fn new(folder: &Path) -> io::Result<Spool> {
        let file = tempfile::tempfile_in(folder)?;
        Ok(Spool { file, blocks: 0, slots: Vec::new(), failed: None })
    }

    /// What kept the spool from taking more.
    pub fn failed(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }

    /// Records of all threads.
    pub fn len(&self) -> u64 {
        (0..self.slots.len()).map(|slot| self.records(slot)).sum()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs `program` and takes what it logs in `memory`.
    pub fn during<R>(&mut self, memory: &SharedMemory, program: impl FnOnce() -> R) -> io::Result<R> {
        let path = CString::new(memory.path().into_vec())?;
        let drain = Drain::map(&path).ok_or_else(io::Error::last_os_error)?;
        let ended = AtomicBool::new(false);
        Ok(thread::scope(|scope| {
            let taker = scope.spawn(|| self.take_until(&ended, &drain));
            let result = program();
            ended.store(true, Ordering::Release);
            taker.thread().unpark();
            result
        }))
    }

    fn take_until(&mut self, ended: &AtomicBool, drain: &Drain) {
        loop {
            // In this order: what was logged before the end is taken after it.
            let last = ended.load(Ordering::Acquire);
            let slots = if last { MAX_THREADS - 1 } else { drain.slots() };
            let most = (0..slots).map(|slot| self.take(drain, slot)).max().unwrap_or(0);
            if self.failed.is_some() {
                drain.stop();
                self.make_room();
                return;
            }
            if last {
                return;
            }
            if most < LOG_RECORDS / 8 {
                thread::park_timeout(PAUSE);
            }
        }
    }

    fn take(&mut self, drain: &Drain, slot: usize) -> usize {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Slot::default);
        }
        let rest = &mut self.slots[slot].rest;
        let count = drain.take(slot, |record| rest.push(record));
        while self.slots[slot].rest.len() >= BLOCK && self.failed.is_none() {
            self.failed = self.write_block(slot).err();
        }
        count
    }

    /// Gives up the later half of what there is: what comes of the rest needs a place, too.
    fn make_room(&mut self) {
        self.blocks /= 2;
        for slot in &mut self.slots {
            let kept = slot.blocks.partition_point(|block| *block < self.blocks);
            if kept < slot.blocks.len() {
                slot.blocks.truncate(kept);
                slot.rest.clear();
            }
        }
        if let Err(error) = self.file.set_len(self.blocks * (BLOCK * RECORD) as u64) {
            self.failed = Some(error);
        }
    }

    fn write_block(&mut self, slot: usize) -> io::Result<()> {
        let slot = &mut self.slots[slot];
        let mut bytes = Vec::with_capacity(BLOCK * RECORD);
        for record in slot.rest.drain(..BLOCK) {
            bytes.extend_from_slice(&record.0.to_ne_bytes());
            bytes.extend_from_slice(&record.1.to_ne_bytes());
        }
        self.file.write_all_at(&bytes, self.blocks * (BLOCK * RECORD) as u64)?;
        slot.blocks.push(self.blocks);
        self.blocks += 1;
        Ok(())
    }
}

impl Logs for Spool {
    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn records(&self, slot: usize) -> u64 {
        self.slots.get(slot).map_or(0, |slot| (slot.blocks.len() * BLOCK + slot.rest.len()) as u64)
    }

    fn read(&self, slot: usize, at: u64, count: usize, into: &mut Vec<Record>) -> io::Result<()> {
        let Some(log) = self.slots.get(slot) else {
            return Ok(());
        };
        let (mut at, mut count) = (usize::try_from(at).unwrap_or(usize::MAX), count);
        while count > 0 {
            let (block, within) = (at / BLOCK, at % BLOCK);
            let Some(place) = log.blocks.get(block) else {
                let from = at - log.blocks.len() * BLOCK;
                into.extend(log.rest.iter().skip(from).take(count));
                return Ok(());
            };
            let now = count.min(BLOCK - within);
            let mut bytes = vec![0; now * RECORD];
            self.file.read_exact_at(&mut bytes, place * (BLOCK * RECORD) as u64 + (within * RECORD) as u64)?;
            into.extend(bytes.chunks_exact(RECORD).map(from_bytes));
            at += now;
            count -= now;
        }
        Ok(())
    }
}

fn from_bytes(bytes: &[u8]) -> Record {
    let word = |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes);
    Record(word(0), word(RECORD / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_leaves_the_first_half() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path()).unwrap();
        spool.slots.resize_with(3, Slot::default);
        for slot in [0, 1, 0, 1, 1, 1] {
            spool.slots[slot].rest = vec![Record(slot as u64, 0); BLOCK + 1];
            spool.write_block(slot).unwrap();
        }
        spool.slots[2].rest.push(Record::default());
        spool.make_room();
        assert_eq!([0, 1, 2].map(|slot| spool.records(slot)), [2 * BLOCK as u64 + 1, BLOCK as u64, 1]);
        assert_eq!(spool.file.metadata().unwrap().len(), 3 * (BLOCK * RECORD) as u64);
    }

    #[test]
    fn blocks_are_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path()).unwrap();
        spool.slots.resize_with(2, Slot::default);
        let count = 2 * BLOCK + 100;
        for (number, slot) in (0..).zip(&mut spool.slots) {
            slot.rest = (0..count as u64).map(|i| Record(i, number)).collect();
        }
        for slot in [0, 1, 1, 0] {
            spool.write_block(slot).unwrap();
        }
        for (slot, at, wanted) in [(0, 0, count), (1, BLOCK - 3, 6), (1, 2 * BLOCK + 90, 50), (0, count, 1), (7, 0, 1)]
        {
            let mut found = Vec::new();
            spool.read(slot, at as u64, wanted, &mut found).unwrap();
            let there = if slot < 2 { count.saturating_sub(at).min(wanted) } else { 0 };
            let expected: Vec<_> = (at..at + there).map(|i| Record(i as u64, slot as u64)).collect();
            assert_eq!(found, expected);
        }
        assert_eq!(spool.records(1), count as u64);
    }
}
