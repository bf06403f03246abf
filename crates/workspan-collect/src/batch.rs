//! What tasks that one strand creates in a row have in common: a *batch*, so that each of them is no more than a word.
//!
//! A strand may create millions of tasks before it waits for any ([`super::group`]), and the runtime keeps each of them
//! until it runs. All that tells such tasks apart is the span at which they were created; the rest of their origin is in
//! the batch. A task's word ([`pack`]) is the batch's address and the ticks since the batch began.
//!
//! **When.** A thread keeps a few batches open, by the tasks' context, and adds to one of them as long as the origin is
//! the same, and the ticks fit into [`TICKS`] bits. Which strand adds does not matter, nor whether there was another one in
//! between, unless more steals lie before it: an equal path handle is an equal path, since a batch holds the node, and a node that somebody else holds does
//! not change. Where strands are logged, each task has an identity, hence a batch of its own.
//!
//! **Bound.** A batch takes some 100 bytes and lives as long as its tasks, besides the few that a thread has open. One that is full
//! has lasted 2^[`TICKS`] ticks, 0.1 to 0.2 milliseconds. So a loop that spawns as fast as it can adds a tenth of a byte a
//! task, one that takes its time less than a megabyte a second; tasks that all come from different strands take a batch
//! for each strand.
//!
//! **Holders.** Each task that has not ended holds its batch, and so does the thread that may add to it. The thread
//! counts, in a cell of its own, how many it has added, and settles that when it closes the batch; a task takes one off
//! the shared count at its end. The last one frees it. So a task costs one atomic subtraction, and its creation none.
//!
//! **Addresses.** Whoever may be the last holder has a batch by its address, as the allocator gave it, and never by a reference:
//! a reference to what is freed under it is undefined, and a shared one must not be freed through at all. References
//! last for a read, while their maker is a holder.
//!
//! Batches come from the system's allocator, never from one that the program has made its own: the runtime is about to
//! allocate the job.

use core::ptr;
use std::alloc::{GlobalAlloc, Layout, System};

use super::ends::Ends;
use super::origin::Origin;
use super::path;
use super::shared::Shared;
use super::tables::ContextId;
use workspan_wire::shm::{Thread, NODE, OPEN_BATCHES};
use workspan_wire::sync::{AtomicI64, Cell, Ordering};

/// Bits of a word for the ticks since the batch began.
pub const TICKS: u32 = 64 - ADDRESS - 1;
/// Bits of a word for the address: of 48, the lowest four are zero.
const ADDRESS: u32 = 48 - 4;
/// What a batch that may be added to has for tasks not yet counted: more than there can be.
const OPEN: i64 = 1 << 62;

/// What the tasks of a batch have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Null for detached tasks.
    pub group: *const Ends,
    /// Whatever the adapter wants to know of the task when it starts.
    pub owner: *const (),
    /// The path of the strand that creates them: a node.
    pub path: u32,
    /// Absolute span up to which `path` accounts.
    pub path_since: i64,
    /// Context of the strand.
    pub forked_in: ContextId,
    /// Context of the tasks.
    pub context: ContextId,
    /// The tasks' site is already active around them.
    pub recursive: bool,
    /// What a task's absolute span has more at its begin, with steals.
    pub burden: i64,
    /// By which the log knows the task; 0 if its creation was not logged.
    pub identity: u64,
}

/// A batch.
#[derive(Debug)]
#[repr(align(16))]
pub struct Batch {
    kind: Kind,
    shared: Shared,
    /// The batch's own.
    path: u32,
    /// Absolute span when it began.
    span: i64,
    /// Tasks added; the thread's that adds.
    added: Cell<i64>,
    /// Tasks that have not ended, less those not yet counted; [`OPEN`] more while the batch is open.
    holders: AtomicI64,
}

const LAYOUT: Layout = Layout::new::<Batch>();

/// A task of `kind`, or `copies` of it, at absolute span `span`. Returns its word: odd; 0 if there is no memory.
#[inline]
pub fn add(thread: &Thread, kind: &Kind, span: i64, copies: usize) -> u64 {
    let slot = slot(thread, kind);
    if let Some(batch) = opened(slot) {
        let ticks = span.wrapping_sub(batch.span) as u64;
        if ticks >> TICKS == 0 && kind.identity == 0 && batch.kind == *kind {
            batch.added.set(batch.added.get() + copies as i64);
            return pack(slot.get(), ticks);
        }
    }
    begin(thread, kind, span, copies)
}

#[cold]
#[inline(never)]
fn begin(thread: &Thread, kind: &Kind, span: i64, copies: usize) -> u64 {
    let slot = slot(thread, kind);
    close(slot);
    // SAFETY: the layout has a size above zero.
    let place = unsafe { System.alloc(LAYOUT) }.cast::<Batch>();
    // No system hands out addresses of more than 48 bits unasked.
    if place.is_null() || place as u64 >> 48 != 0 {
        return 0;
    }
    let shared = Shared::of(thread);
    let batch = Batch {
        kind: *kind,
        shared,
        // Not borrowed: a task may outlive the join, within the scope, that it was spawned in.
        path: path::own(shared, kind.path),
        span,
        added: Cell::new(copies as i64),
        holders: AtomicI64::new(OPEN),
    };
    // SAFETY: allocated with the layout of a batch, and nobody else knows of it.
    unsafe { place.write(batch) };
    slot.set(place as u64);
    pack(place as u64, 0)
}

/// Nothing more is added to the thread's batches.
pub fn close_all(thread: &Thread) {
    thread.batches.iter().for_each(close);
}

/// Nothing more is added to those of `group`.
pub fn close_of(thread: &Thread, group: *const Ends) {
    for slot in &thread.batches {
        if opened(slot).is_some_and(|batch| batch.kind.group == group) {
            close(slot);
        }
    }
}

fn close(slot: &Cell<u64>) {
    if let Some(batch) = opened(slot) {
        let added = batch.added.get();
        // The reference is not used below, where the batch may be freed.
        release(slot.replace(0) as *mut Batch, OPEN - added);
    }
}

/// Where a thread keeps the open batch of such tasks.
fn slot<'a>(thread: &'a Thread, kind: &Kind) -> &'a Cell<u64> {
    &thread.batches[kind.context as usize % OPEN_BATCHES]
}

fn opened(slot: &Cell<u64>) -> Option<&Batch> {
    // SAFETY: 0, or the address of a batch that the slot's thread began, and holds until it closes it.
    unsafe { (slot.get() as *const Batch).as_ref() }
}

/// Gives up `count` holders; of the last ones the batch is freed.
fn release(batch: *mut Batch, count: i64) {
    // SAFETY: the caller is a holder until the subtraction.
    let holders = unsafe { &(*batch).holders };
    if holders.fetch_sub(count, Ordering::Release) != count {
        return;
    }
    // As a fence would, which ThreadSanitizer does not know: behind all subtractions before this one.
    holders.load(Ordering::Acquire);
    // SAFETY: the last holder: nobody else has a reference any more.
    let Batch { shared, path, .. } = unsafe { ptr::read(batch) };
    path::release(shared, path);
    // SAFETY: allocated with this layout, and freed by the last holder only.
    unsafe { System.dealloc(batch.cast(), LAYOUT) };
}

fn pack(address: u64, ticks: u64) -> u64 {
    ticks << (ADDRESS + 1) | address >> 4 << 1 | 1
}

/// A task, by its word.
#[derive(Clone, Copy, Debug)]
pub struct Added {
    /// No reference: others may free it as soon as this task has ended.
    batch: *mut Batch,
    ticks: u64,
}

impl Added {
    /// # Safety
    ///
    /// `word` was returned by [`add`], is odd, and the task has not [`Added::end`]ed as often as it was to have copies.
    #[inline]
    pub unsafe fn of(word: u64) -> Added {
        let address = (word >> 1 & ((1 << ADDRESS) - 1)) << 4;
        Added { batch: address as *mut Batch, ticks: word >> (ADDRESS + 1) }
    }

    fn batch(&self) -> &Batch {
        // SAFETY: by `pack`, the address of a batch, which the task holds (`of`).
        unsafe { &*self.batch }
    }

    /// What it has in common with others.
    #[inline]
    pub fn kind(&self) -> &Kind {
        &self.batch().kind
    }

    /// The absolute span at which it was created.
    #[inline]
    pub fn span(&self) -> i64 {
        self.batch().span + self.ticks as i64
    }

    /// Where it starts. The path is the batch's.
    #[inline]
    pub fn origin(&self) -> Origin {
        let kind = &self.batch().kind;
        Origin {
            span: self.span(),
            burdened: self.span() + kind.burden,
            path: self.batch().path & NODE,
            path_since: kind.path_since,
            forked_in: kind.forked_in,
            context: kind.context,
            pending: 0,
            last_region: 0,
            identity: kind.identity,
        }
    }

    /// It has ended.
    #[inline]
    pub fn end(self) {
        release(self.batch, 1);
    }
}

const _: () = assert!(align_of::<Batch>() == 16);
