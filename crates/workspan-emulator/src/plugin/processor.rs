//! Virtual processors: the words that they write, and which of them runs.
//!
//! One processor runs at a time, the one that holds the turn, so that the order of chunks is the order of execution. It
//! gives the turn up when its chunk is full, and during a system call. The emulator sometimes stops all processors; one that
//! waits for its turn would keep it waiting. Hence who has waited long for a processor that makes no progress runs beside
//! it: that is counted, and only the order of the two is lost, for each writes into a chunk of its own.

use std::cell::UnsafeCell;
use std::ffi::{c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use workspan_wire::trace;

use super::state::{asleep, ring};
use super::{api, sent};
use crate::ring::WORDS;
use crate::system;

/// Virtual processors that are distinguished.
const MOST: usize = 1024;
/// Milliseconds that one waits before it looks again.
const LOOK: i64 = 5;
/// Looks without progress of who holds the turn, before the turn is taken.
const PATIENCE: u32 = 20;
/// Sizes and kinds of accesses that are remembered.
const SEEN: usize = 64;

/// One virtual processor; only its own thread touches it, but for the end.
struct Processor {
    /// Where the next word goes. Null: no chunk is held.
    at: UnsafeCell<*mut u64>,
    /// Behind the last word.
    end: UnsafeCell<*mut u64>,
    /// Where the record of the block that runs is; null if it is in no chunk of the plugin.
    block: UnsafeCell<*mut u64>,
    /// The chunk.
    chunk: UnsafeCell<usize>,
    /// Emulator's description of an access, and its word.
    seen: UnsafeCell<[(u32, u64); SEEN]>,
    /// Words written so far, in units of chunks; others look at it.
    progress: AtomicU32,
}

// SAFETY: each is used by its own thread alone; at the end by the thread that ends the process, when no other runs.
unsafe impl Sync for Processor {}

static PROCESSORS: [Processor; MOST] = [const {
    Processor {
        at: UnsafeCell::new(ptr::null_mut()),
        end: UnsafeCell::new(ptr::null_mut()),
        block: UnsafeCell::new(ptr::null_mut()),
        chunk: UnsafeCell::new(0),
        seen: UnsafeCell::new([(u32::MAX, 0); SEEN]),
        progress: AtomicU32::new(0),
    }
}; MOST];

/// Words that nobody reads: of a process that is not traced, or when nobody listens any more.
static NOWHERE: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];
/// The chunk of a processor that writes there.
const NO_CHUNK: usize = usize::MAX;

/// Who holds the turn, plus one; 0 if nobody does.
static TURN: AtomicU32 = AtomicU32::new(0);
/// How many wait for it.
static WAITING: AtomicU32 = AtomicU32::new(0);
/// Set while the holder waits for `workspan`.
static STALLED: AtomicU32 = AtomicU32::new(0);
/// Processors that run; with one there is no turn to give up.
static RUNNING: AtomicU32 = AtomicU32::new(0);

fn at_index(processor: c_uint) -> &'static Processor {
    &PROCESSORS[processor as usize % MOST]
}

/// A block begins to run.
pub(super) extern "C" fn on_block(index: c_uint, id: *mut c_void) {
    let processor = at_index(index);
    // SAFETY: this thread's own.
    let mut at = unsafe { *processor.at.get() };
    // SAFETY: as above.
    if at == unsafe { *processor.end.get() } {
        renew(processor, index, false);
        // SAFETY: as above.
        at = unsafe { *processor.at.get() };
    }
    // SAFETY: `at` lies in the chunk that this processor holds, before its end.
    unsafe { *at = trace::record(trace::BLOCK, id.addr() as u64) };
    // SAFETY: this thread's own.
    unsafe { *processor.block.get() = at };
    // SAFETY: as above; at most the end.
    unsafe { *processor.at.get() = at.add(1) };
}

/// An instruction has accessed memory.
pub(super) extern "C" fn on_access(index: c_uint, info: u32, address: u64, place: *mut c_void) {
    let processor = at_index(index);
    // SAFETY: this thread's own.
    let seen = unsafe { &mut *processor.seen.get() };
    let entry = &mut seen[(info ^ info >> 7 ^ info >> 13) as usize % SEEN];
    if entry.0 != info {
        let (size, store) = api::access(info);
        *entry = (info, trace::access(0, size, store, 0));
    }
    let word = entry.1 | (place.addr() as u64 & 0x1ff) << trace::PLACE_SHIFT | address & trace::ADDRESS;
    // SAFETY: this thread's own.
    let mut at = unsafe { *processor.at.get() };
    // SAFETY: as above.
    if at == unsafe { *processor.end.get() } {
        renew(processor, index, true);
        // SAFETY: as above.
        at = unsafe { *processor.at.get() };
    }
    // SAFETY: `at` lies in the chunk that this processor holds, before its end.
    unsafe { *at = word };
    // SAFETY: as above; at most the end.
    unsafe { *processor.at.get() = at.add(1) };
}

/// The program calls the system.
#[expect(clippy::too_many_arguments, reason = "the emulator's interface")]
pub(super) extern "C" fn on_call(
    _: u64,
    index: c_uint,
    number: i64,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    e: u64,
    f: u64,
    _: u64,
    _: u64,
) {
    if asleep() {
        return;
    }
    const EXECVE: i64 = 59;
    const EXECVEAT: i64 = 322;
    if matches!(number, EXECVE | EXECVEAT) {
        ring().remark(|remarks| remarks.replaced = true);
    }
    const CLONE: i64 = 56;
    const FORK: i64 = 57;
    const VFORK: i64 = 58;
    const SHARES_MEMORY: u64 = 0x100;
    const WAITS: u64 = 0x4000;
    if matches!(number, FORK | VFORK) || number == CLONE && (a & SHARES_MEMORY == 0 || a & WAITS != 0) {
        ring().remark(|remarks| remarks.children += 1);
    }
    write(index, trace::CALL, &[number as u64, a, b, c, d, e, f]);
    if RUNNING.load(Ordering::Relaxed) > 1 {
        // It may wait for another processor.
        publish(at_index(index));
        give_up(index);
    }
}

/// The system call is over.
pub(super) extern "C" fn on_return(_: u64, index: c_uint, number: i64, result: i64) {
    if asleep() {
        return;
    }
    if ring().remarks().replaced {
        ring().remark(|remarks| remarks.replaced = false);
    }
    write(index, trace::RETURN, &[number as u64, result as u64]);
}

fn write(index: c_uint, kind: u64, words: &[u64]) {
    let processor = at_index(index);
    let needed = words.len() + 1;
    // SAFETY: this thread's own.
    let (at, end) = unsafe { (*processor.at.get(), *processor.end.get()) };
    if (end.addr() - at.addr()) / 8 < needed {
        renew(processor, index, false);
    }
    // SAFETY: this thread's own.
    let at = unsafe { *processor.at.get() };
    // SAFETY: there is room for `needed` words, less than a chunk has.
    unsafe { *at = trace::record(kind, words.len() as u64) };
    // SAFETY: as above.
    unsafe { ptr::copy_nonoverlapping(words.as_ptr(), at.add(1), words.len()) };
    // SAFETY: as above.
    unsafe { *processor.at.get() = at.add(needed) };
}

/// A chunk with room: publishes the one that is held. `inside`: a block runs, and stays in one chunk with its accesses.
#[cold]
fn renew(processor: &Processor, index: c_uint, inside: bool) {
    let mut kept: Vec<u64> = Vec::new();
    // SAFETY: this thread's own.
    let (at, block) = unsafe { (*processor.at.get(), *processor.block.get()) };
    if inside && !at.is_null() && !block.is_null() {
        let len = (at.addr() - block.addr()) / 8;
        // A block with more accesses than this is torn apart; what comes later has lost its block.
        if len <= WORDS / 2 {
            // SAFETY: both lie in the chunk that is held, and the words between were written.
            kept.extend_from_slice(unsafe { std::slice::from_raw_parts(block, len) });
            // SAFETY: as above; unused words are zero.
            unsafe { ptr::write_bytes(block, 0, len) };
            // SAFETY: this thread's own.
            unsafe { *processor.at.get() = block };
        }
    }
    if !at.is_null() {
        publish(processor);
        if WAITING.load(Ordering::Relaxed) > 0 {
            give_up(index);
            // Whoever waits wakes up and takes it.
            system::wait(&TURN, 0, 1);
        }
    }
    if !asleep() {
        take_turn(index);
    }
    STALLED.store(1, Ordering::Relaxed);
    let taken = if asleep() { None } else { ring().take(index) };
    STALLED.store(0, Ordering::Relaxed);
    let words: &[AtomicU64] = taken.map_or(&NOWHERE, |chunk| ring().words(chunk));
    let start = words.as_ptr().cast_mut().cast::<u64>();
    // SAFETY: the chunk has more words than were kept.
    unsafe { ptr::copy_nonoverlapping(kept.as_ptr(), start, kept.len()) };
    // SAFETY: this thread's own.
    unsafe { *processor.chunk.get() = taken.unwrap_or(NO_CHUNK) };
    // SAFETY: as above.
    unsafe { *processor.block.get() = start };
    // SAFETY: as above.
    unsafe { *processor.at.get() = start.add(kept.len()) };
    // SAFETY: as above; the end of the same chunk.
    unsafe { *processor.end.get() = start.add(WORDS) };
    processor.progress.fetch_add(1, Ordering::Relaxed);
}

/// Hands the chunk over, if one is held.
fn publish(processor: &Processor) {
    // SAFETY: this thread's own, or the process ends.
    let (at, end, chunk) = unsafe { (*processor.at.get(), *processor.end.get(), *processor.chunk.get()) };
    if !at.is_null() && chunk != NO_CHUNK {
        // Whoever reads must know the blocks that ran.
        sent::publish();
        ring().publish(chunk, WORDS - (end.addr() - at.addr()) / 8);
    }
    drop_chunk(processor);
}

fn drop_chunk(processor: &Processor) {
    // SAFETY: this thread's own, or the process ends.
    unsafe { *processor.at.get() = ptr::null_mut() };
    // SAFETY: as above.
    unsafe { *processor.end.get() = ptr::null_mut() };
    // SAFETY: as above.
    unsafe { *processor.block.get() = ptr::null_mut() };
}

/// Publishes everything: the process ends.
pub(super) fn publish_all() {
    PROCESSORS.iter().for_each(publish);
}

/// Lets go of all chunks: they are those of the process that made this one.
pub(super) fn forget_all() {
    PROCESSORS.iter().for_each(drop_chunk);
}

/// Another processor runs from now on.
pub(super) fn joined() {
    RUNNING.fetch_add(1, Ordering::Relaxed);
}

/// A processor is gone.
pub(super) fn left(index: c_uint) {
    RUNNING.fetch_sub(1, Ordering::Relaxed);
    if !asleep() {
        publish(at_index(index));
        give_up(index);
    }
}

fn give_up(index: c_uint) {
    if TURN.compare_exchange(index + 1, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        && WAITING.load(Ordering::Relaxed) > 0
    {
        system::wake(&TURN);
    }
}

fn take_turn(index: c_uint) {
    let mine = index + 1;
    if TURN.load(Ordering::Relaxed) == mine {
        return;
    }
    let mut looks = 0;
    let mut last = (0, 0);
    WAITING.fetch_add(1, Ordering::Relaxed);
    loop {
        let Err(holder) = TURN.compare_exchange(0, mine, Ordering::AcqRel, Ordering::Acquire) else { break };
        if holder == mine {
            break;
        }
        system::wait(&TURN, holder, LOOK);
        let now = (holder, progress(holder - 1));
        if now != last || STALLED.load(Ordering::Relaxed) != 0 {
            (last, looks) = (now, 0);
            continue;
        }
        looks += 1;
        if looks > PATIENCE && TURN.compare_exchange(holder, mine, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            ring().remark(|remarks| remarks.disordered += 1);
            break;
        }
    }
    WAITING.fetch_sub(1, Ordering::Relaxed);
}

/// How far a processor has come: its chunk, and where it writes in it.
fn progress(index: c_uint) -> usize {
    let processor = at_index(index);
    // SAFETY: the pointer is only compared. Its owner may change it meanwhile; a word is read whole on all systems.
    let at = unsafe { processor.at.get().read_volatile() };
    at.addr() ^ (processor.progress.load(Ordering::Relaxed) as usize) << 48
}
