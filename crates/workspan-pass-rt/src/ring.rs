//! Buffers in the shared memory: taken, handed over, waited for.

use core::ffi::c_void;
use core::ptr::null;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};

use workspan_trace::shm::{kind, state, Chunk, Header, CHUNKS, CHUNK_BYTES, CHUNK_TABLE, DATA};

use crate::thread::{limit, Thread};
use crate::{c, shared};

/// How long a thread sleeps before it looks whether `workspan` is still there.
static PATIENCE: c::Timespec = c::Timespec { seconds: 0, nanos: 100_000_000 };

/// A number for a new context.
pub fn new_context() -> u32 {
    shared::header().map_or(0, |header| header.contexts.fetch_add(1, Relaxed))
}

/// Description of a buffer.
fn chunk(index: usize) -> &'static Chunk {
    let table = shared::memory().wrapping_add(CHUNK_TABLE).cast::<Chunk>();
    // SAFETY: the shared memory is mapped for good, and has this number.
    let chunk = unsafe { table.add(index) };
    // SAFETY: as above.
    unsafe { &*chunk }
}

fn data(index: usize) -> *mut u8 {
    shared::memory().wrapping_add(DATA + index * CHUNK_BYTES)
}

/// Hands over the thread's buffer, and takes another; nothing if there is none.
pub fn change(thread: &Thread) -> Option<*mut u8> {
    publish(thread);
    let header = shared::header()?;
    wait_for_room(header)?;
    let index = take(header)?;
    let chunk = chunk(index);
    chunk.kind.store(kind::EVENTS, Relaxed);
    chunk.context.store(thread.context.get().wrapping_sub(1), Relaxed);
    chunk.sequence.store(thread.sequence.replace(thread.sequence.get() + 1), Relaxed);
    chunk.length.store(0, Relaxed);
    // Only now may whoever finds the process dead look inside.
    chunk.parts.store(header.parts.load(Acquire), Release);
    thread.chunk.set(u32::try_from(index).unwrap_or(0) + 1);
    limit(thread, data(index), CHUNK_BYTES);
    Some(data(index))
}

/// Hands over the thread's buffer, if it has one.
pub fn publish(thread: &Thread) {
    let (Some(index), Some(header)) = (thread.chunk.replace(0).checked_sub(1), shared::header()) else {
        return;
    };
    let used = thread.next.get() as usize - data(index as usize) as usize;
    header.full.fetch_add(1, AcqRel);
    hand_over(header, index as usize, used);
}

fn hand_over(header: &Header, index: usize, used: usize) {
    let chunk = chunk(index);
    chunk.length.store(u32::try_from(used).unwrap_or(0), Relaxed);
    chunk.parts.store(header.parts.load(Acquire), Relaxed);
    chunk.state.store(state::FULL, Release);
    header.doorbell.fetch_add(1, SeqCst);
    // Who is about to sleep has said so before it compares the doorbell.
    if header.sleeping.load(SeqCst) > 0 {
        wake(&header.doorbell);
    }
}

/// Hands over a part of a module's description. False if there is no room for it.
pub fn publish_part(module: u32, base: u32, (part, of): (u32, u32), bytes: &[u8]) -> bool {
    let Some(header) = shared::header() else {
        return false;
    };
    let Some(index) = wait_for_room(header).and_then(|()| take(header)) else {
        return false;
    };
    let chunk = chunk(index);
    chunk.kind.store(kind::MODULE, Relaxed);
    chunk.context.store(module, Relaxed);
    chunk.sequence.store(part, Relaxed);
    chunk.base.store(base, Relaxed);
    chunk.of.store(of, Relaxed);
    // SAFETY: the buffer is ours, and a part is no longer than it.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), data(index), bytes.len().min(CHUNK_BYTES)) };
    header.full.fetch_add(1, AcqRel);
    header.parts.fetch_add(1, AcqRel);
    hand_over(header, index, bytes.len());
    true
}

/// Waits while too many full buffers wait for `workspan`. Nothing if it is gone.
fn wait_for_room(header: &Header) -> Option<()> {
    loop {
        let room = header.room.load(Acquire);
        if header.closed.load(Acquire) != 0 {
            break;
        }
        if header.full.load(SeqCst) < header.budget.load(Relaxed) {
            return Some(());
        }
        header.waiting.fetch_add(1, SeqCst);
        if header.full.load(SeqCst) >= header.budget.load(Relaxed) {
            // SAFETY: a word of the shared memory, and a constant.
            unsafe {
                c::syscall(c::SYS_FUTEX, header.room.as_ptr(), c::FUTEX_WAIT, room, &raw const PATIENCE);
            }
        }
        header.waiting.fetch_sub(1, SeqCst);
        let runner = header.runner.load(Relaxed).cast_signed();
        // SAFETY: no signal is sent.
        if unsafe { c::kill(runner, 0) } != 0 && c::errno() == c::ESRCH {
            header.closed.store(1, Release);
            break;
        }
    }
    header.gave_up.fetch_add(1, Relaxed);
    None
}

/// Takes a free buffer: one that is in memory already, if there is one.
fn take(header: &Header) -> Option<usize> {
    let found = (0..CHUNKS).find(|index| {
        let state = &chunk(*index).state;
        state.load(Relaxed) == state::FREE && state.compare_exchange(state::FREE, state::OWNED, AcqRel, Relaxed).is_ok()
    });
    match found {
        Some(index) => {
            header.high.fetch_max(u32::try_from(index + 1).unwrap_or(u32::MAX), AcqRel);
        }
        None => {
            header.gave_up.fetch_add(1, Relaxed);
        }
    }
    found
}

fn wake(word: &AtomicU32) {
    // SAFETY: a word of the shared memory.
    unsafe { c::syscall(c::SYS_FUTEX, word.as_ptr(), c::FUTEX_WAKE, 1, null::<c_void>()) };
}
