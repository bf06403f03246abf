//! Blocks of memory for frames, groups, teams and tables of dependences.
//!
//! The program's own allocator is left alone. A thread takes blocks from its own list and gives freed ones to it, whoever
//! allocated them; a list that has grown too long passes a batch on to a shared stack, from which an empty one is filled.
//! So memory is bounded by the blocks in use at a time plus [`KEPT`] for each thread. Fresh blocks come from the kernel,
//! [`FRESH`] at a time.
//!
//! **Cost** of taking or giving a block: a few instructions; once in [`BATCH`] blocks, a 128-bit exchange ([`stack`]).
//!
//! **References.** Blocks are kept by address, and a pointer to one is made of that: so it reaches all of the block, whatever the
//! reference through which it was given back. A block is memory for ever, of which users see nothing but cells and atomics, and
//! plain fields that are written before anybody else knows of the block. So references to what is in it last for ever, too (`&'static`);
//! what they lead to is the user's only as long as it holds the block, and nobody looks through one, or passes it on, after
//! the block was given back. The tests of this crate hold the rules to that, under Miri.

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use workspan_collect::exclude::exclude_next;
use workspan_collect::platform;
use workspan_collect::stack;
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
    /// The next one's address; 0 for none.
    next: Cell<u64>,
    /// In the first block of a batch on the shared stack: the next batch.
    next_batch: AtomicU64,
    /// Not to be read: what a user left there may not all have been written.
    _rest: [MaybeUninit<u64>; BLOCK / 8 - 2],
}

/// A thread's free blocks. Used by that thread alone.
#[repr(align(64))]
struct List {
    first: Cell<u64>,
    len: Cell<u32>,
}

// SAFETY: a list is used by the thread in its slot only.
unsafe impl Sync for List {}

static LISTS: [List; MAX_THREADS] = [const { List { first: Cell::new(0), len: Cell::new(0) } }; MAX_THREADS];

/// Batches that threads have passed on.
static SHARED: Candidate = Candidate { span: AtomicI64::new(0), path: AtomicU64::new(0) };

/// The block at `address`.
fn block(address: u64) -> &'static Block {
    // SAFETY: callers pass addresses of free blocks that are theirs, or (`fill`) of one that another may take meanwhile: there
    // they look at an atomic alone. Blocks are never unmapped, and nothing but cells and atomics is at a block's begin.
    unsafe { &*(address as *const Block) }
}

/// A block for a `T`, not initialised. `None`: the kernel has no memory.
#[inline(always)]
pub fn take<T>(thread: &Thread) -> Option<*mut T> {
    const { assert!(size_of::<T>() <= BLOCK && align_of::<T>() <= align_of::<Block>()) };
    let list = list(thread);
    let mut first = list.first.get();
    if first == 0 {
        first = exclude_next(thread, || fill(list))?;
    }
    let block = block(first);
    list.first.set(block.next.get());
    list.len.set(list.len.get().wrapping_sub(1));
    Some(first as *mut T)
}

/// Gives a block back.
///
/// # Safety
///
/// `at` came from [`take`] and nobody uses it any more.
#[inline(always)]
pub unsafe fn give<T>(thread: &Thread, at: *const T) {
    let list = list(thread);
    let free = block(at as u64);
    debug_assert!(!is_among_last(list, at as u64), "given back twice");
    free.next.set(list.first.get());
    list.first.set(at as u64);
    list.len.set(list.len.get() + 1);
    if list.len.get() > KEPT {
        pass_on(list);
    }
}

/// True if the block at `address` is one of those given back last.
fn is_among_last(list: &List, address: u64) -> bool {
    let mut at = list.first.get();
    for _ in 0..8 {
        if at == address || at == 0 {
            break;
        }
        at = block(at).next.get();
    }
    at == address
}

#[inline(always)]
fn list(thread: &Thread) -> &'static List {
    // SAFETY: 0 or the address of a list, from `find_list`.
    match unsafe { (thread.blocks.get() as *const List).as_ref() } {
        Some(list) => list,
        None => find_list(thread),
    }
}

#[cold]
fn find_list(thread: &Thread) -> &'static List {
    // The slot follows from the address; threads lie one area apart.
    let area = thread as *const Thread as usize - thread.base.get() as usize - workspan_wire::shm::THREADS;
    let list = &LISTS[(area / size_of::<ThreadArea>()).min(MAX_THREADS - 1)];
    thread.blocks.set(ptr::from_ref(list).expose_provenance() as u64);
    list
}

/// Gets blocks for a thread in advance, so that no strand pays for the kernel's work.
pub fn prepare(thread: &Thread) {
    let list = list(thread);
    if list.first.get() == 0 {
        fill(list);
    }
}

#[cold]
fn fill(list: &List) -> Option<u64> {
    let passed_on = stack::pop(&SHARED, |batch| block(batch).next_batch.load(Ordering::Relaxed));
    let (batch, count) = match passed_on {
        Some(batch) => (batch, BATCH),
        None => (fresh()?, FRESH as u32),
    };
    list.first.set(batch);
    list.len.set(count);
    Some(batch)
}

fn fresh() -> Option<u64> {
    // With its pages: one call instead of a fault for each.
    let blocks = platform::map_private(FRESH * BLOCK, true)?.cast::<Block>().as_ptr();
    let first = blocks.expose_provenance() as u64;
    // Zeroes are a block, and the last one's next.
    for i in 0..FRESH as u64 - 1 {
        block(first + i * BLOCK as u64).next.set(first + (i + 1) * BLOCK as u64);
    }
    Some(first)
}

#[cold]
fn pass_on(list: &List) {
    let first = list.first.get();
    // The list is longer than a batch.
    let last = (1..BATCH).fold(block(first), |last, _| block(last.next.get()));
    list.first.set(last.next.get());
    list.len.set(list.len.get() - BATCH);
    last.next.set(0);
    stack::push(&SHARED, first, |next| block(first).next_batch.store(next, Ordering::Relaxed));
}

const _: () = assert!(size_of::<Block>() == BLOCK);
