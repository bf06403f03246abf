//! The shared memory: chunks of a trace, handed from the plugin to `workspan` and back.
//!
//! A chunk is free, being filled by one virtual processor, or published. Which are free stands in a bit mask; published ones
//! stand in a queue in the order of publication, which is the order of execution: the plugin lets one virtual processor run
//! at a time. Whoever finds nothing waits by a futex for the other side.
//!
//! **Invariant.** A chunk's words are written by the one processor that took it, before it is published, and read after;
//! unused words are zero, which no record begins with. So `workspan` can also read what a program left that was killed.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::system;

/// Chunks in the ring.
pub const CHUNKS: usize = 64;
/// Words in a chunk.
pub const WORDS: usize = 8192;
/// The newest version of the plugin interface that the plugin is for; the oldest is 1.
pub const NEWEST: u32 = 6;
/// Stands for a processor where a chunk holds code.
pub const CODE: u32 = u32::MAX - 1;
/// Size of the memory.
pub const BYTES: usize = size_of::<Shared>();
/// The first word, by which both sides know that they mean the same layout.
const MAGIC: u64 = 0x6c69_6d69_7473_0001;

/// A chunk's owner and length.
#[derive(Debug)]
#[repr(C)]
struct Chunk {
    /// Virtual processor that fills or filled it, plus one; 0 if it is free.
    owner: AtomicU32,
    /// Words that are in it, once it is published.
    len: AtomicU32,
}

/// The layout.
#[derive(Debug)]
#[repr(C)]
struct Shared {
    magic: AtomicU64,
    /// A bit for each free chunk.
    free: AtomicU64,
    /// Changes when a chunk becomes free.
    freed: AtomicU32,
    /// Chunks published so far.
    published: AtomicU32,
    /// Set when nobody reads any more.
    stopped: AtomicU32,
    /// Times that processors ran side by side, so that their order is not known.
    disordered: AtomicU32,
    /// Processes that the program made; they are not traced.
    children: AtomicU32,
    /// Set while the program tries to become another one, which is not traced either.
    replaced: AtomicU32,
    /// Version of the plugin interface.
    interface: AtomicU32,
    /// Virtual processors that there were.
    processors: AtomicU32,
    /// Chunks by order of publication, plus one; 0 where none is.
    queue: [AtomicU32; CHUNKS],
    chunks: [Chunk; CHUNKS],
    words: [[AtomicU64; WORDS]; CHUNKS],
}

/// The memory, mapped.
#[derive(Debug)]
pub struct Ring {
    shared: *const Shared,
}

// SAFETY: all of it is atomic, and whoever writes words is determined by the protocol.
unsafe impl Send for Ring {}
// SAFETY: the same.
unsafe impl Sync for Ring {}

/// What happened that a trace does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Times that processors ran side by side, so that their order is not known.
    pub disordered: u32,
    /// Processes that the program made.
    pub children: u32,
    /// True if the program became another one.
    pub replaced: bool,
    /// Version of the emulator's plugin interface; 0 if the plugin was never called.
    pub interface: u32,
    /// Virtual processors that there were.
    pub processors: u32,
}

impl Ring {
    /// Maps the memory that a file descriptor names; it has [`BYTES`]. `None` if that fails.
    fn map(fd: i32) -> Option<Ring> {
        let at = system::map_shared(fd, BYTES);
        (!at.is_null()).then_some(Ring { shared: at.cast() })
    }

    /// `workspan`'s side, of memory that is all zero.
    pub fn create(fd: i32) -> Option<Ring> {
        let ring = Ring::map(fd)?;
        ring.shared().free.store(u64::MAX, Ordering::Relaxed);
        ring.shared().magic.store(MAGIC, Ordering::Release);
        Some(ring)
    }

    /// The plugin's side.
    pub fn join(fd: i32) -> Option<Ring> {
        Ring::map(fd).filter(|ring| ring.shared().magic.load(Ordering::Acquire) == MAGIC)
    }

    fn shared(&self) -> &Shared {
        // SAFETY: it is mapped as long as this lives, is large enough, and has nothing but atomics, for which all bytes are valid.
        unsafe { &*self.shared }
    }

    /// Takes a free chunk for a virtual processor; waits for one. `None` if nobody reads any more.
    pub fn take(&self, processor: u32) -> Option<usize> {
        let shared = self.shared();
        loop {
            if shared.stopped.load(Ordering::Acquire) != 0 {
                return None;
            }
            let freed = shared.freed.load(Ordering::Acquire);
            let free = shared.free.load(Ordering::Acquire);
            if free == 0 {
                system::wait(&shared.freed, freed, 100);
                continue;
            }
            let chunk = free.trailing_zeros() as usize;
            let rest = free & (free - 1);
            if shared.free.compare_exchange(free, rest, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                shared.chunks[chunk].owner.store(processor + 1, Ordering::Release);
                return Some(chunk);
            }
        }
    }

    /// The words of a chunk that was taken.
    pub fn words(&self, chunk: usize) -> &[AtomicU64; WORDS] {
        &self.shared().words[chunk % CHUNKS]
    }

    /// Publishes a chunk with this number of words.
    pub fn publish(&self, chunk: usize, len: usize) {
        let shared = self.shared();
        let chunk = chunk % CHUNKS;
        shared.chunks[chunk].len.store(u32::try_from(len).unwrap_or(0), Ordering::Relaxed);
        let ticket = shared.published.fetch_add(1, Ordering::AcqRel) as usize;
        // There are as many places as chunks, so that this one is free.
        shared.queue[ticket % CHUNKS].store(u32::try_from(chunk + 1).unwrap_or(0), Ordering::Release);
        system::wake(&shared.published);
    }

    /// The next published chunk: moves its words behind `into`, frees it, and returns its processor. `taken` is how many
    /// were read so far. Waits for this number of milliseconds if there is none.
    pub fn read(&self, taken: &mut u32, into: &mut Vec<u64>, millis: i64) -> Option<u32> {
        let shared = self.shared();
        let place = &shared.queue[*taken as usize % CHUNKS];
        if place.load(Ordering::Acquire) == 0 {
            let published = shared.published.load(Ordering::Acquire);
            if published == *taken {
                system::wait(&shared.published, published, millis);
            }
        }
        let chunk = place.swap(0, Ordering::AcqRel).checked_sub(1)? as usize;
        *taken = taken.wrapping_add(1);
        let len = shared.chunks[chunk].len.load(Ordering::Relaxed) as usize;
        Some(self.empty(chunk, len.min(WORDS), into))
    }

    /// What a program that has ended left unpublished: a chunk of it, with its processor.
    pub fn read_rest(&self, into: &mut Vec<u64>) -> Option<u32> {
        let shared = self.shared();
        let owned = |code: bool| {
            let owner = |chunk: &Chunk| chunk.owner.load(Ordering::Acquire);
            shared.chunks.iter().position(|chunk| owner(chunk) != 0 && (owner(chunk) == CODE + 1) == code)
        };
        let chunk = owned(true).or_else(|| owned(false))?;
        let words = &shared.words[chunk];
        let last = words.iter().rposition(|word| word.load(Ordering::Relaxed) != 0);
        let len = last.map_or(0, |last| last + 1);
        Some(self.empty(chunk, len, into))
    }

    fn empty(&self, chunk: usize, len: usize, into: &mut Vec<u64>) -> u32 {
        let shared = self.shared();
        for word in &shared.words[chunk][..len] {
            into.push(word.load(Ordering::Relaxed));
            word.store(0, Ordering::Relaxed);
        }
        let owner = shared.chunks[chunk].owner.swap(0, Ordering::AcqRel);
        shared.free.fetch_or(1 << chunk, Ordering::AcqRel);
        shared.freed.fetch_add(1, Ordering::AcqRel);
        system::wake(&shared.freed);
        owner.saturating_sub(1)
    }

    /// From now on nobody reads: the program runs on, untraced.
    pub fn stop(&self) {
        self.shared().stopped.store(1, Ordering::Release);
        self.shared().freed.fetch_add(1, Ordering::AcqRel);
        system::wake(&self.shared().freed);
    }

    /// Notes something that a trace does not show.
    pub fn remark(&self, change: impl FnOnce(&mut Remarks)) {
        let mut remarks = self.remarks();
        change(&mut remarks);
        let shared = self.shared();
        shared.disordered.store(remarks.disordered, Ordering::Relaxed);
        shared.children.store(remarks.children, Ordering::Relaxed);
        shared.replaced.store(u32::from(remarks.replaced), Ordering::Relaxed);
        shared.interface.store(remarks.interface, Ordering::Relaxed);
        shared.processors.store(remarks.processors, Ordering::Relaxed);
    }

    /// What was noted.
    pub fn remarks(&self) -> Remarks {
        let shared = self.shared();
        Remarks {
            disordered: shared.disordered.load(Ordering::Relaxed),
            children: shared.children.load(Ordering::Relaxed),
            replaced: shared.replaced.load(Ordering::Relaxed) != 0,
            interface: shared.interface.load(Ordering::Relaxed),
            processors: shared.processors.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and references to it do not outlive `self`.
        unsafe { system::unmap(self.shared.cast_mut().cast(), BYTES) };
    }
}
