//! Blocks of memory for frames, groups, teams and tables of dependences.
//!
//! The program's own allocator is left alone. A thread takes blocks from its own list and gives freed ones to it, whoever
//! allocated them; a list that has grown too long passes a batch on to a shared stack, from which an empty one is filled.
//! So memory is bounded by the blocks in use at a time plus [`KEPT`] for each thread. Fresh blocks come from the kernel,
//! [`FRESH`] at a time.
//!
//! **Cost** of taking or giving a block: a few instructions; once in [`BATCH`] blocks, a 128-bit exchange.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};

use workspan_collect::platform::exchange_pair;
use workspan_collect::strand;
use workspan_wire::shm::{Candidate, Thread, ThreadArea, MAX_THREADS};

/// Bytes of a block.
pub const BLOCK: usize = 448;
/// Blocks passed on at a time.
const BATCH: u32 = 64;
/// Blocks that a thread keeps at most.
const KEPT: u32 = 4 * BATCH;
/// Fresh blocks at a time.
const FRESH: usize = 64;

/// A free block.
#[repr(C, align(64))]
struct Block {
    next: Cell<*const Block>,
    /// In the first block of a batch on the shared stack: the next batch.
    next_batch: AtomicPtr<Block>,
    /// [`FREE`] in a free block, to notice what is given back twice (debug builds).
    mark: Cell<u64>,
    _rest: [u64; BLOCK / 8 - 3],
}

const FREE: u64 = 0x05ee_d0b1_0c0f_f4ee;

/// A thread's free blocks. Used by that thread alone.
#[repr(align(64))]
struct List {
    first: Cell<*const Block>,
    len: Cell<u32>,
}

// SAFETY: a list is used by the thread in its slot only.
unsafe impl Sync for List {}

static LISTS: [List; MAX_THREADS] = [const { List { first: Cell::new(ptr::null()), len: Cell::new(0) } }; MAX_THREADS];

/// Batches that threads have passed on: address of the first block of the first batch (as the "span"), and a count
/// against ABA.
static SHARED: Candidate = Candidate { span: AtomicI64::new(0), path: AtomicU64::new(0) };

extern "C" {
    fn mmap(at: *mut c_void, length: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut c_void;
}

/// A block for a `T`, not initialised. `None`: the kernel has no memory.
pub fn take<T>(thread: &Thread) -> Option<*mut T> {
    const { assert!(size_of::<T>() <= BLOCK && align_of::<T>() <= align_of::<Block>()) };
    let list = list(thread);
    let mut first = list.first.get();
    if first.is_null() {
        first = strand::away(thread, || fill(list))?;
    }
    // SAFETY: blocks on the list are free, initialised as blocks, and this thread's.
    let block = unsafe { &*first };
    list.first.set(block.next.get());
    list.len.set(list.len.get().wrapping_sub(1));
    if cfg!(debug_assertions) {
        block.mark.set(0);
    }
    Some(first.cast_mut().cast())
}

/// Gives a block back.
///
/// # Safety
///
/// `at` came from [`take`] and nobody uses it any more.
pub unsafe fn give<T>(thread: &Thread, at: *const T) {
    let list = list(thread);
    let block = at.cast::<Block>();
    // SAFETY: the block is free, hence ours.
    let free = unsafe { &*block };
    debug_assert_ne!(free.mark.get(), FREE, "given back twice");
    if cfg!(debug_assertions) {
        free.mark.set(FREE);
    }
    free.next.set(list.first.get());
    list.first.set(block);
    list.len.set(list.len.get() + 1);
    if list.len.get() > KEPT {
        pass_on(list);
    }
}

fn list(thread: &Thread) -> &'static List {
    // The slot follows from the address; threads lie one area apart.
    let area = thread as *const Thread as usize - thread.base.get() as usize - workspan_wire::shm::THREADS;
    &LISTS[(area / size_of::<ThreadArea>()).min(MAX_THREADS - 1)]
}

/// Gets blocks for a thread in advance, so that no strand pays for the kernel's work.
pub fn prepare(thread: &Thread) {
    let list = list(thread);
    if list.first.get().is_null() {
        fill(list);
    }
}

#[cold]
fn fill(list: &List) -> Option<*const Block> {
    let (batch, count) = match pop() {
        Some(batch) => (batch, BATCH),
        None => (fresh()?, FRESH as u32),
    };
    list.first.set(batch);
    list.len.set(count);
    Some(batch)
}

fn fresh() -> Option<*const Block> {
    const READ_WRITE: i32 = 3;
    // With its pages: one call instead of a fault for each.
    const PRIVATE_ANONYMOUS_POPULATED: i32 = 0x8022;
    // SAFETY: asks for a fresh mapping at an address of the kernel's choice.
    let at = unsafe { mmap(ptr::null_mut(), FRESH * BLOCK, READ_WRITE, PRIVATE_ANONYMOUS_POPULATED, -1, 0) };
    if at as isize == -1 {
        return None;
    }
    let blocks = at.cast::<Block>();
    for i in 0..FRESH - 1 {
        // SAFETY: within the mapping.
        let this = unsafe { blocks.add(i) };
        // SAFETY: within the mapping.
        let next = unsafe { blocks.add(i + 1) };
        // SAFETY: zeroes are a block, and nobody else knows of it.
        unsafe { &*this }.next.set(next);
    }
    Some(blocks)
}

#[cold]
fn pass_on(list: &List) {
    let first = list.first.get();
    let mut last = first;
    for _ in 1..BATCH {
        // SAFETY: the list is longer than a batch, and its blocks are this thread's.
        last = unsafe { (*last).next.get() };
    }
    // SAFETY: as above.
    let last = unsafe { &*last };
    list.first.set(last.next.get());
    list.len.set(list.len.get() - BATCH);
    last.next.set(ptr::null());
    let mut seen = (SHARED.span.load(Ordering::Relaxed), SHARED.path.load(Ordering::Relaxed));
    loop {
        // SAFETY: the first block of the batch is this thread's until the exchange publishes it.
        unsafe { (*first).next_batch.store(seen.0 as *mut Block, Ordering::Relaxed) };
        match exchange_pair(&SHARED, seen, (first as i64, seen.1.wrapping_add(1))) {
            Ok(()) => return,
            Err(found) => seen = found,
        }
    }
}

fn pop() -> Option<*const Block> {
    let mut seen = (SHARED.span.load(Ordering::Relaxed), SHARED.path.load(Ordering::Relaxed));
    loop {
        let first = seen.0 as *const Block;
        if first.is_null() {
            return None;
        }
        // SAFETY: blocks are never unmapped. If another thread has taken the batch meanwhile, what is read here is of no
        // use, and the exchange fails because of the count.
        let next = unsafe { (*first).next_batch.load(Ordering::Relaxed) };
        match exchange_pair(&SHARED, seen, (next as i64, seen.1.wrapping_add(1))) {
            Ok(()) => return Some(first),
            Err(found) => seen = found,
        }
    }
}
