//! The other side of the shared memory: where full buffers are taken out.
//!
//! Whoever takes a buffer copies it, fills it with zeros and gives it back, so that the program waits for no analysis.

#![expect(unsafe_code, reason = "memory that another process writes")]

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

use crate::shm::{kind, state, Chunk, Header, CHUNKS, CHUNK_BYTES, CHUNK_TABLE, DATA, MAGIC, SIZE};
use crate::VERSION;

const PROT_READ_WRITE: i32 = 3;
const MAP_SHARED_NORESERVE: i32 = 0x4001;
const FUTEX_WAIT: i32 = 0;
const FUTEX_WAKE: i32 = 1;
#[cfg(target_arch = "x86_64")]
const SYS_FUTEX: i64 = 202;
#[cfg(not(target_arch = "x86_64"))]
const SYS_FUTEX: i64 = 98;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanos: i64,
}

extern "C" {
    fn mmap(address: *mut c_void, length: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut c_void;
    fn munmap(address: *mut c_void, length: usize) -> i32;
    fn syscall(number: i64, ...) -> i64;
}

/// The shared memory, mapped.
#[derive(Debug)]
pub struct Memory {
    first: *mut u8,
}

// SAFETY: all that is shared is atomic, but for the contents of buffers, which have one owner at a time.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// A buffer that was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// True for a part of a module's description, false for events.
    pub is_module: bool,
    /// Context, or number of the module.
    pub context: u32,
    /// Which of the context's buffers, or of the module's parts.
    pub sequence: u32,
    /// Parts of descriptions that were published before it.
    pub parts: u32,
    /// First id of the module.
    pub base: u32,
    /// Parts of the module in all.
    pub of: u32,
    /// The thread still wrote it when the process ended: the last event may lack its slots.
    pub unfinished: bool,
    /// The contents, with room for some bytes more ([`SPARE`]).
    pub bytes: Vec<u8>,
}

/// Bytes that may be added to what was taken without moving it.
pub const SPARE: usize = 16;

impl Memory {
    /// Maps an empty file and writes the first page. `mib`: how much may wait to be taken.
    pub fn new(file: &File, mib: u32) -> io::Result<Memory> {
        file.set_len(SIZE as u64)?;
        // SAFETY: new memory.
        let first = unsafe { mmap(null_mut(), SIZE, PROT_READ_WRITE, MAP_SHARED_NORESERVE, file.as_raw_fd(), 0) };
        if first as isize == -1 {
            return Err(io::Error::last_os_error());
        }
        let memory = Memory { first: first.cast() };
        let header = memory.header();
        header.version.store(VERSION, Relaxed);
        let buffers = u32::try_from((1 << 20) / CHUNK_BYTES).unwrap_or(1);
        header.budget.store(mib.saturating_mul(buffers), Relaxed);
        header.runner.store(std::process::id(), Relaxed);
        header.magic.store(MAGIC, Release);
        Ok(memory)
    }

    /// The first page.
    pub fn header(&self) -> &Header {
        // SAFETY: mapped as long as this lives; zero is a valid header.
        unsafe { &*self.first.cast::<Header>() }
    }

    fn chunk(&self, index: usize) -> &Chunk {
        assert!(index < CHUNKS);
        // SAFETY: there are `CHUNKS`.
        let table = unsafe { self.first.add(CHUNK_TABLE) }.cast::<Chunk>();
        // SAFETY: as above.
        let chunk = unsafe { table.add(index) };
        // SAFETY: as above.
        unsafe { &*chunk }
    }

    /// Takes a part of a module's description. `dead`: the process has ended, so that all it had is full.
    pub fn take_part(&self, dead: bool) -> Option<Taken> {
        self.take(true, dead)
    }

    /// Takes a buffer of events. Parts of descriptions as many as [`Taken::parts`] are, or were, there to be taken.
    pub fn take_events(&self, dead: bool) -> Option<Taken> {
        self.take(false, dead)
    }

    fn take(&self, modules: bool, dead: bool) -> Option<Taken> {
        let high = (self.header().high.load(Acquire) as usize).min(CHUNKS);
        let ready = |index: usize| {
            let chunk = self.chunk(index);
            let found = chunk.state.load(Acquire);
            let is_ready = (found == state::FULL || dead && found == state::OWNED)
                && (chunk.kind.load(Relaxed) == kind::MODULE) == modules;
            is_ready.then(|| (chunk.sequence.load(Relaxed), index, found))
        };
        // The first one that was filled: a program that fills the lowest buffer again and again would let the others wait for ever.
        let index = loop {
            let (_, index, found) = (0..high).filter_map(ready).min()?;
            if self.chunk(index).state.compare_exchange(found, state::TAKEN, AcqRel, Relaxed).is_ok() {
                break index;
            }
        };
        let chunk = self.chunk(index);
        let length = chunk.length.load(Relaxed) as usize;
        // One that a thread owned to the end does not say how long it is: its end is an id of 0.
        let unfinished = length == 0;
        let used = if unfinished { CHUNK_BYTES } else { length.min(CHUNK_BYTES) };
        let taken = Taken {
            is_module: chunk.kind.load(Relaxed) == kind::MODULE,
            context: chunk.context.load(Relaxed),
            sequence: chunk.sequence.load(Relaxed),
            parts: chunk.parts.load(Relaxed),
            base: chunk.base.load(Relaxed),
            of: chunk.of.load(Relaxed),
            unfinished,
            bytes: self.empty(index, used),
        };
        let header = self.header();
        chunk.state.store(state::FREE, Release);
        if !unfinished {
            header.full.fetch_sub(1, SeqCst);
        }
        header.room.fetch_add(1, SeqCst);
        // Who waits is woken once there is room for a while: it would else wake for each buffer.
        let is_room = header.full.load(SeqCst) <= header.budget.load(Relaxed) / 2;
        if header.waiting.load(SeqCst) > 0 && (is_room || dead) {
            // SAFETY: a word of the shared memory.
            unsafe { syscall(SYS_FUTEX, header.room.as_ptr(), FUTEX_WAKE, i32::MAX, null_mut::<c_void>()) };
        }
        Some(taken)
    }

    fn empty(&self, index: usize, used: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(used + SPARE);
        // SAFETY: within the map.
        let data = unsafe { self.first.add(DATA + index * CHUNK_BYTES) };
        // SAFETY: the buffer is ours, both are so long, and they do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(data, bytes.as_mut_ptr(), used) };
        // SAFETY: `used` bytes were just written.
        unsafe { bytes.set_len(used) };
        // The last store of an event is two bytes longer than its slot.
        // SAFETY: as above.
        unsafe { data.write_bytes(0, (used + 8).min(CHUNK_BYTES)) };
        bytes
    }

    /// Half of what may wait for `workspan` does: the program may have to wait soon.
    pub fn is_behind(&self) -> bool {
        let header = self.header();
        header.full.load(Relaxed).saturating_mul(2) >= header.budget.load(Relaxed)
    }

    /// A count that changes when there may be something to take.
    pub fn doorbell(&self) -> u32 {
        self.header().doorbell.load(SeqCst)
    }

    /// Waits until that count is no longer `seen`, or for some time.
    pub fn wait(&self, seen: u32, time: Duration) {
        let nanos = i64::from(time.subsec_nanos());
        let time = Timespec { seconds: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), nanos };
        let header = self.header();
        header.sleeping.fetch_add(1, SeqCst);
        // SAFETY: a word of the shared memory, and a time.
        unsafe { syscall(SYS_FUTEX, header.doorbell.as_ptr(), FUTEX_WAIT, seen, &raw const time) };
        header.sleeping.fetch_sub(1, SeqCst);
    }

    /// Wakes all who [wait](Memory::wait).
    pub fn ring(&self) {
        let word = &self.header().doorbell;
        word.fetch_add(1, SeqCst);
        // SAFETY: a word of the shared memory.
        unsafe { syscall(SYS_FUTEX, word.as_ptr(), FUTEX_WAKE, i32::MAX, null_mut::<c_void>()) };
    }

    /// Nothing is taken any more: whoever waits need not.
    pub fn close(&self) {
        let header = self.header();
        header.closed.store(1, SeqCst);
        header.room.fetch_add(1, SeqCst);
        // SAFETY: a word of the shared memory.
        unsafe { syscall(SYS_FUTEX, header.room.as_ptr(), FUTEX_WAKE, i32::MAX, null_mut::<c_void>()) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`; nobody has a reference any more.
        unsafe { munmap(self.first.cast(), SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_filled_first_is_taken_first() {
        let file = tempfile::tempfile().expect("a file");
        let memory = Memory::new(&file, 32).expect("mapped");
        for (index, sequence) in [(0, 9), (1, 4), (3, 6)] {
            let chunk = memory.chunk(index);
            chunk.kind.store(kind::EVENTS, Relaxed);
            chunk.sequence.store(sequence, Relaxed);
            chunk.length.store(8, Relaxed);
            chunk.state.store(state::FULL, Release);
            memory.header().full.fetch_add(1, SeqCst);
        }
        memory.header().high.store(4, Release);
        let taken = std::iter::from_fn(|| memory.take_events(false)).map(|taken| taken.sequence);
        assert_eq!(taken.collect::<Vec<_>>(), [4, 6, 9]);
        assert_eq!(memory.header().full.load(SeqCst), 0);
    }
}
