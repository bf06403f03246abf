//! Nodes of flow graphs that take a limited number of messages at a time.
//!
//! Whether a message waits at such a node is an accident of the schedule: one worker follows each message to its end before it takes
//! the next. So a node that takes N messages counts as N resources, each busy with one at a time ([`Order`]).
//!
//! **Table**: open addressing by the address of the node. An entry whose node nobody is in makes room for another one.
//!
//! **Invariant:** whoever has taken a place of a node has its order. libtbb lets the next message in a little before the task of the
//! one before has ended here, so who finds no free place waits for it, for as long as a task takes to end.
//!
//! **Cost:** a test for tasks of no node; a reading of a few words for those of nodes without a limit; a look-up, two readings of the clock
//! and a node of a path for the others.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use workspan_collect::shared::Shared;

use super::abi::Task;
use super::order::Order;
use crate::dag::patience::{patiently, BRIEF};
use crate::sync::wait::in_task;
use crate::sync::waiters::Left;

/// Nodes at a time; more are not followed.
const NODES: usize = 512;
/// Where a node may be, from where it belongs on.
const PROBES: usize = 16;
/// Nodes that take more messages at a time have no limit here.
const PLACES: usize = 8;
/// In [`Entry::users`]: it is another node's soon.
const MOVING: u32 = 1 << 31;

struct Entry {
    /// The address of the node; 0 for none yet.
    node: AtomicU64,
    users: AtomicU32,
    places: [Place; PLACES],
}

/// One of the messages that a node takes at a time.
struct Place {
    is_taken: AtomicBool,
    /// The span of the last message.
    ended: AtomicU64,
    /// Whoever has taken the place has this.
    order: Cell<Option<&'static Order>>,
}

// SAFETY: the cell is touched by whoever has taken the place, or the whole entry while it has no users.
unsafe impl Sync for Place {}

static TABLE: [Entry; NODES] = [const {
    Entry {
        node: AtomicU64::new(0),
        users: AtomicU32::new(0),
        places: [const { Place { is_taken: AtomicBool::new(false), ended: AtomicU64::new(0), order: Cell::new(None) } };
            PLACES],
    }
}; NODES];

/// The node of `task`, whose class says in which word its address is, and how many messages it takes at a time. `None`: any number.
///
/// # Safety
///
/// `task` is of such a class, and has not run.
unsafe fn limited(task: *const Task, word: usize) -> Option<(u64, usize)> {
    const GRAPH: usize = size_of::<Task>() / 8;
    // SAFETY: the caller's promise: the graph's address and the node's, both references.
    let [graph, node] = [GRAPH, word].map(|at| unsafe { *task.cast::<u64>().add(at) });
    // SAFETY: an object with a virtual table and more; if its second word is the graph's address, the next one is the limit of
    // `function_input_base`.
    let limit = unsafe {
        let words = node as *const u64;
        if words.is_null() || *words.add(1) != graph {
            0
        } else {
            *words.add(2)
        }
    };
    usize::try_from(limit).ok().filter(|limit| (1..=PLACES).contains(limit)).map(|limit| (node, limit))
}

/// A task is in a node that takes a limited number of messages at a time.
#[derive(Debug)]
pub struct Within {
    entry: &'static Entry,
    at: usize,
}

/// The task of the calling thread runs the body of its node. `None`: nothing limits that, or nobody follows it.
///
/// # Safety
///
/// As of [`limited`].
#[inline(never)]
pub unsafe fn enter(task: *const Task, word: usize) -> Option<Within> {
    // SAFETY: the caller's promise.
    let (node, limit) = unsafe { limited(task, word) }?;
    let entry = Entry::of(node)?;
    let Some(at) = entry.take_place(limit) else {
        entry.users.fetch_sub(1, Ordering::Release);
        return None;
    };
    let within = Within { entry, at };
    in_task(|thread, now| {
        let order = &entry.places[at].order;
        if order.get().is_none() {
            order.set(Order::take(thread, true));
        }
        if let Some(order) = order.get() {
            order.begin(thread, now);
        }
    });
    Some(within)
}

impl Drop for Within {
    fn drop(&mut self) {
        let place = &self.entry.places[self.at];
        in_task(|thread, now| {
            let left = Left::by(thread, now, self.entry.node.load(Ordering::Relaxed));
            let shared = Shared::of(thread);
            place.ended.store(left.actual(), Ordering::Relaxed);
            match place.order.get() {
                Some(order) => order.end(shared, left),
                None => left.release(shared),
            }
        });
        place.is_taken.store(false, Ordering::Release);
        self.entry.users.fetch_sub(1, Ordering::Release);
    }
}

impl core::fmt::Debug for Entry {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Entry").field("node", &self.node).finish_non_exhaustive()
    }
}

impl Entry {
    /// That of `node`, of which the caller is a user.
    fn of(node: u64) -> Option<&'static Entry> {
        let first = (node >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        let probed = || (0..PROBES).map(|by| &TABLE[(first as usize + by) % NODES]);
        for entry in probed() {
            let known = match entry.node.load(Ordering::Acquire) {
                0 => match entry.node.compare_exchange(0, node, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => node,
                    Err(known) => known,
                },
                known => known,
            };
            if known == node && entry.hold(node) {
                return Some(entry);
            }
        }
        probed().find(|entry| entry.move_to(node))
    }

    /// The caller is a user, if it is still the node's.
    fn hold(&self, node: u64) -> bool {
        let users = self.users.fetch_add(1, Ordering::AcqRel);
        let is_held = users & MOVING == 0 && self.node.load(Ordering::Acquire) == node;
        if !is_held {
            self.users.fetch_sub(1, Ordering::Release);
        }
        is_held
    }

    /// The entry is `node`'s from now on, and the caller a user, if nobody is in its node.
    fn move_to(&self, node: u64) -> bool {
        if self.users.compare_exchange(0, MOVING, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        self.node.store(node, Ordering::Release);
        if let (Some(thread), places) = (workspan_collect::thread::current(), &self.places) {
            places.iter().filter_map(|place| place.order.take()).for_each(|order| order.give(thread));
        }
        self.users.fetch_sub(MOVING - 1, Ordering::AcqRel);
        true
    }

    /// A place of the first `limit`: of the free ones that which has been free for longest.
    fn take_place(&self, limit: usize) -> Option<usize> {
        let places = &self.places[..limit];
        let take = || {
            let is_free = |place: &&Place| !place.is_taken.load(Ordering::Relaxed);
            let free = places.iter().filter(is_free).min_by_key(|place| place.ended.load(Ordering::Relaxed))?;
            let is_mine = !free.is_taken.swap(true, Ordering::Acquire);
            is_mine.then(|| places.iter().position(|place| core::ptr::eq(place, free))).flatten()
        };
        let mut taken = take();
        if taken.is_none() {
            patiently(BRIEF, || {
                taken = take();
                taken.is_some()
            });
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_full_makes_room() {
        for node in 1..=4 * NODES as u64 {
            let entry = Entry::of(node * 64).expect("nobody is in the others");
            entry.users.fetch_sub(1, Ordering::Release);
        }
        let entries: Vec<_> = (1..=2).map(|node| Entry::of(node << 40).expect("there is room")).collect();
        assert!(!core::ptr::eq(entries[0], entries[1]));
        let [first, again] = [0, 1].map(|_| entries[0].take_place(2).expect("one of two is free"));
        assert_ne!(first, again);
        for entry in entries {
            entry.users.fetch_sub(1, Ordering::Release);
        }
    }
}
