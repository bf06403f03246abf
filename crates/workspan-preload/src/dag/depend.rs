//! Dependences between the children of one task (`depend` clauses).
//!
//! The creator keeps, for every address its children name, the current set of tasks and the one before it. A task that
//! reads joins a set of readers; one that writes is a set of its own; the set kinds of OpenMP 5 (`mutexinoutset`,
//! `inoutset`) collect their like. Everyone depends on the set before its own. Tasks of a `mutexinoutset` exclude one
//! another but are not ordered: as with locks, the sum of them bounds the span.
//!
//! The runtime's own matching is not used: it reports only predecessors that happen to be unfinished.
//!
//! **Cost:** linear in the addresses, plus one edge for each predecessor. All of it is done by the creator, so there is
//! nothing to synchronise. Tables grow from the block pool, without the program's allocator.

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::Ordering;

use workspan_collect::path;
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::ROOT;
use workspan_wire::shm::Thread;

use super::frame::{Frame, Stage};
use super::log;
use super::pool;
pub use super::state::depend::Use;
use super::state::depend::{Entry, List, Table, SLOTS};
use super::state::lock::is_under;
use super::state::Start;

/// `task`, a child of `creator` just created, uses `address`. `creator`'s strand runs on `thread`.
pub fn depend(thread: &'static Thread, creator: &Frame, task: &'static Frame, address: u64, how: Use) {
    if !task.depended_on.replace(true) && log::on(thread) {
        log::has_dependences(thread, task);
    }
    if how == Use::Exclusive {
        excludes(thread, task, address);
    }
    let Some(slot) = entry(thread, creator, address) else {
        return;
    };
    if slot.get().current.is_null() && slot.get().before.is_null() && address != ALL {
        if let Some(all) = known(creator, ALL) {
            // SAFETY: null or a cell that this table holds.
            if let Some(cell) = unsafe { all.get().current.as_ref() } {
                let current = push(thread, cell.task, ptr::null_mut());
                slot.set(Entry { current, how: Use::Write, ..slot.get() });
            }
        }
    }
    let mut entry = slot.get();
    let joins = entry.how == how && how != Use::Write && !entry.current.is_null();
    if !joins {
        drop_list(thread, entry.before);
        entry.before = entry.current;
        entry.current = ptr::null_mut();
        entry.how = how;
    }
    let mut at = entry.before;
    // SAFETY: null or a cell that this table holds.
    while let Some(cell) = unsafe { at.as_ref() } {
        if !ptr::eq(cell.task, task) {
            let list = push(thread, cell.task, task.predecessors.get());
            task.predecessors.set(list);
            if log::on(thread) {
                log::comes_after(thread, task, cell.task);
            }
        }
        at = cell.next;
    }
    entry.current = push(thread, task, entry.current);
    slot.set(entry);
}

/// `task` runs when no other task does that excludes `lock`, too.
fn excludes(thread: &Thread, task: &Frame, lock: u64) {
    let context = task.start.get().context;
    // Without a context of its own, the code of the task is not distinguished from others'.
    if context != ROOT && context != strand::context(thread) {
        is_under(Shared::of(thread).account(thread, context), lock);
    }
}

/// `task`, a child of `creator` just created, uses all memory (`omp_all_memory`): it comes after everyone before it, and
/// before everyone after it.
pub fn depend_on_all(thread: &'static Thread, creator: &Frame, task: &'static Frame) {
    let mut table = creator.dependences.get();
    // SAFETY: null or a block of this frame's chain, which lives as long as the frame is open.
    while let Some(block) = unsafe { table.as_ref() } {
        for slot in &block.entries[..block.used.get().min(SLOTS)] {
            depend(thread, creator, task, slot.get().address, Use::Write);
        }
        table = block.next.get();
    }
    depend(thread, creator, task, ALL, Use::Write);
}

/// Stands for all memory, as an address: addresses that are named for the first time come after its tasks.
const ALL: u64 = u64::MAX;

/// `task` begins no sooner than its predecessors have ended.
#[inline(always)]
pub fn after_predecessors(thread: &'static Thread, task: &Frame) {
    let first = task.predecessors.get();
    if !first.is_null() {
        task.predecessors.set(ptr::null_mut());
        after_list(thread, task, first);
    }
}

#[inline(never)]
fn after_list(thread: &'static Thread, task: &Frame, first: *mut List<Frame>) {
    let mut at = first;
    let mut start = task.start.get();
    let mut latest: Option<&'static Frame> = None;
    // SAFETY: null or a cell of this task's list.
    while let Some(cell) = unsafe { at.as_ref() } {
        at = cell.next;
        if cell.task.stage() != Stage::Ended {
            // Its end was skipped (`task::await_saved`).
            continue;
        }
        let end = cell.task.end();
        start.alt = start.alt.max(end.alt.burdened_by(task.kind.get().steal(thread)));
        if end.span > start.span {
            start.span = end.span;
            latest = Some(cell.task);
        }
    }
    if let Some(latest) = latest {
        let shared = Shared::of(thread);
        path::release(shared, start.path);
        let path = path::own(shared, latest.end().path);
        start = Start { path, since: start.span, forked_in: start.context, ..start };
    }
    task.start.set(start);
    drop_list(thread, first);
}

/// `creator` has closed: nobody will depend on its children any more.
#[inline(always)]
pub fn forget(thread: &'static Thread, creator: &Frame) {
    let table = creator.dependences.get();
    if !table.is_null() {
        creator.dependences.set(ptr::null_mut());
        forget_chain(thread, table);
    }
}

#[inline(never)]
fn forget_chain(thread: &'static Thread, first: *mut Table<Frame>) {
    let mut table = first;
    // SAFETY: null or a block of this frame's chain.
    while let Some(block) = unsafe { table.as_ref() } {
        for slot in &block.entries[..block.used.get().min(SLOTS)] {
            drop_list(thread, slot.get().current);
            drop_list(thread, slot.get().before);
        }
        let next = block.next.get();
        // SAFETY: taken from the pool by `entry`, and no longer reachable.
        unsafe { pool::give(thread, table) };
        table = next;
    }
}

/// The entry of `address`, if there is one.
fn known(creator: &Frame, address: u64) -> Option<&Cell<Entry<Frame>>> {
    let mut table = creator.dependences.get();
    // SAFETY: null or a block of this frame's chain, which lives as long as the frame is open.
    while let Some(block) = unsafe { table.as_ref() } {
        let used = &block.entries[..block.used.get().min(SLOTS)];
        if let Some(found) = used.iter().find(|slot| slot.get().address == address) {
            return Some(found);
        }
        table = block.next.get();
    }
    None
}

/// The entry of `address`, made if need be. `None`: no memory.
fn entry<'a>(thread: &Thread, creator: &'a Frame, address: u64) -> Option<&'a Cell<Entry<Frame>>> {
    if let Some(known) = known(creator, address) {
        return Some(known);
    }
    let mut end = &creator.dependences;
    // SAFETY: null or a block of this frame's chain, which lives as long as the frame is open.
    while let Some(block) = unsafe { end.get().cast_const().as_ref::<'a>() } {
        if block.used.get() < SLOTS {
            return Some(add(block, address));
        }
        end = &block.next;
    }
    let new = pool::take::<Table<Frame>>(thread)?;
    let empty = Table {
        used: Cell::new(0),
        next: Cell::new(ptr::null_mut()),
        entries: [const { Cell::new(Entry::NONE) }; SLOTS],
    };
    // SAFETY: a fresh block, large and aligned enough.
    unsafe { new.write(empty) };
    end.set(new);
    // SAFETY: just written, and part of the chain now.
    Some(add(unsafe { &*new }, address))
}

fn add(block: &Table<Frame>, address: u64) -> &Cell<Entry<Frame>> {
    let slot = &block.entries[block.used.get()];
    slot.set(Entry { address, ..Entry::NONE });
    block.used.set(block.used.get() + 1);
    slot
}

fn push(thread: &Thread, task: &'static Frame, list: *mut List<Frame>) -> *mut List<Frame> {
    let Some(cell) = pool::take::<List<Frame>>(thread) else {
        return list;
    };
    task.holders.fetch_add(1, Ordering::Relaxed);
    // SAFETY: a fresh block, large and aligned enough.
    unsafe { cell.write(List { task, next: list }) };
    cell
}

fn drop_list(thread: &'static Thread, list: *mut List<Frame>) {
    let mut at = list;
    // SAFETY: null or a cell of the list, which the caller has unlinked.
    while let Some(cell) = unsafe { at.as_ref() } {
        let next = cell.next;
        cell.task.release(thread);
        // SAFETY: taken from the pool by `push`, and no longer reachable.
        unsafe { pool::give(thread, at) };
        at = next;
    }
}
