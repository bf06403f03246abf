//! Layout of the shared memory: an anonymous, sparse file that `workspan` makes and the program maps.
//!
//! Header, a [`Chunk`] for each buffer, the buffers. Each buffer has one owner at a time, by its [`state`]: free, then a
//! thread of the program, then `workspan`, which empties it and fills it with zeros before it is free again. A buffer
//! that a thread still owned when the process died is therefore read up to the first id 0.
//!
//! **Memory** in use is bounded by one buffer for each running thread plus [`Header::budget`] full ones: a thread that
//! fills a buffer while as many wait for `workspan` waits itself. It waits for `workspan` alone, never for another
//! thread, so that a thread that waits while it holds a lock cannot stop the others for good.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// Names the file to the program.
pub const ENV: &str = "WORKSPAN_TRACE";
/// First word of the file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"wsptrace");
/// Bytes of a buffer: it stays in the cache of who fills it, and then of who empties it.
pub const CHUNK_BYTES: usize = 1 << 18;
/// Buffers; most are never touched.
pub const CHUNKS: usize = 4096;
/// Bytes at the end of a buffer that the last event may use: a thread requests another buffer once they are reached.
pub const SLACK: usize = 4096;
/// Where the descriptions of buffers begin.
pub const CHUNK_TABLE: usize = 4096;
/// Where the buffers begin.
pub const DATA: usize = CHUNK_TABLE + CHUNKS * size_of::<Chunk>();
/// Bytes of the file.
pub const SIZE: usize = DATA + CHUNKS * CHUNK_BYTES;

/// States of a buffer.
pub mod state {
    /// Zeroed, nobody's.
    pub const FREE: u32 = 0;
    /// A thread of the program fills it.
    pub const OWNED: u32 = 1;
    /// `workspan` may take it.
    pub const FULL: u32 = 2;
    /// `workspan` reads it.
    pub const TAKEN: u32 = 3;
}

/// What is in a buffer.
pub mod kind {
    /// Events of a context.
    pub const EVENTS: u32 = 0;
    /// A part of the description of a module.
    pub const MODULE: u32 = 1;
}

/// First page.
#[derive(Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`], then [`crate::VERSION`].
    pub magic: AtomicU64,
    /// Version of `workspan`.
    pub version: AtomicU32,
    /// Full buffers that may wait for `workspan`.
    pub budget: AtomicU32,
    /// Process that `workspan` is.
    pub runner: AtomicU32,
    /// `workspan` takes nothing any more.
    pub closed: AtomicU32,
    /// Process that writes: the first instrumented one that came.
    pub claimed: AtomicU32,
    /// Version of the process that came, if it is not ours.
    pub other_version: AtomicU32,
    /// Instrumented processes that came later or were forked, and are not recorded.
    pub refused: AtomicU32,
    /// Contexts that have a number.
    pub contexts: AtomicU32,
    /// Next free id of a segment.
    pub next_id: AtomicU32,
    /// Modules, and parts of their descriptions that are full buffers or were.
    pub modules: AtomicU32,
    /// Parts of descriptions published so far.
    pub parts: AtomicU32,
    /// Buffers in state [`state::FULL`] that hold events.
    pub full: AtomicU32,
    /// Raised by the program when a buffer is full: a futex.
    pub doorbell: AtomicU32,
    /// Raised by `workspan` when a buffer is free again: a futex.
    pub room: AtomicU32,
    /// Threads that wait for room.
    pub waiting: AtomicU32,
    /// Threads of `workspan` that wait for the doorbell.
    pub sleeping: AtomicU32,
    /// One more than the highest buffer ever owned.
    pub high: AtomicU32,
    /// Times that a thread found no buffer and went on without.
    pub gave_up: AtomicU32,
    /// Objects (threads, barriers) that did not fit into a table of the run-time.
    pub untracked: AtomicU32,
    /// Cycle counter when the run-time started; times of events count from it.
    pub start: AtomicU64,
    /// Rate of that counter, in Hz; 0: it is the processor's, which `workspan` knows.
    pub rate: AtomicU64,
}

/// Description of a buffer.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Chunk {
    /// [`state`].
    pub state: AtomicU32,
    /// [`kind`].
    pub kind: AtomicU32,
    /// Context that wrote it, or number of the module.
    pub context: AtomicU32,
    /// Which of the context's buffers, or of the module's parts, from 0.
    pub sequence: AtomicU32,
    /// Bytes in use, once full.
    pub length: AtomicU32,
    /// [`Header::parts`] when it became full: its ids are of modules published by then.
    pub parts: AtomicU32,
    /// For a module: its first id, and parts in all.
    pub base: AtomicU32,
    /// Parts in all of the module.
    pub of: AtomicU32,
}

const _: () = assert!(size_of::<Header>() <= CHUNK_TABLE && size_of::<Chunk>() == 64);
const _: () = assert!(crate::ID_BYTES + (crate::MOST_SLOTS + 1) * crate::SLOT_BYTES + 8 <= SLACK);
