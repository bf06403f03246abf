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
use core::ffi::{c_int, c_ulong, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use workspan_collect::exclude::exclude_next;
use workspan_collect::platform::ErrnoGuard;
use workspan_collect::shared::Shared;
use workspan_collect::thread;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::abi::{Before, Task};
use super::body::{self, Body, Inside, Which};
use super::class::Class;
use super::order::Order;
use crate::dag::frame::Frame;
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

/// A task is in a node.
#[derive(Debug)]
pub struct Within {
    /// What it does there; over before its place is free.
    _body: Option<(Inside, Creates)>,
    _place: Option<Taken>,
}

/// The task of the calling thread runs the body of its node.
///
/// # Safety
///
/// `task` is of this class, whose tasks have nodes, and has not run.
#[inline(never)]
pub unsafe fn enter(task: *const Task, class: &'static Class) -> Within {
    // SAFETY: the caller's promise.
    let limit = unsafe { limited(task, class.node_word) };
    let place = limit.and_then(|(node, limit)| take(node, limit));
    let at_a_time = limit.map_or(0, |(_, limit)| limit as u32);
    let body = thread::current().and_then(|thread| {
        // SAFETY: the caller's promise.
        let body = unsafe { body_of(thread, task, class, at_a_time) }?;
        let inside = body::enter(body)?;
        Some((inside, Creates::of(thread)?))
    });
    Within { _body: body, _place: place }
}

/// The task that runs is in the body of a node: what it sends to other nodes is not part of that ([`spawn`](super::spawn)).
#[derive(Debug)]
struct Creates(&'static Frame);

impl Creates {
    fn of(thread: &Thread) -> Option<Creates> {
        let frame = Frame::on(thread)?;
        frame.set_word(IN_NODE);
        Some(Creates(frame))
    }
}

impl Drop for Creates {
    fn drop(&mut self) {
        self.0.set_word(0);
    }
}

/// In a task's word ([`Frame::word`]), and no address.
const IN_NODE: u64 = 3;

/// True if `task` runs the body of a node.
#[inline(always)]
pub fn is_in(task: &Frame) -> bool {
    task.word() == IN_NODE
}

/// In [`Class::body_at`]: nodes of this class have no body that is known.
const NONE: u32 = u32::MAX;

/// The body of `task`'s node. Where the node has its address is looked for once for a class: it is a pointer to an object whose class says that it
/// is a body.
///
/// # Safety
///
/// As of [`enter`].
unsafe fn body_of(thread: &Thread, task: *const Task, class: &Class, at_a_time: u32) -> Option<&'static Body> {
    // SAFETY: the caller's promise: the node's address.
    let node = unsafe { *task.cast::<*const *const BodyObject>().add(class.node_word) };
    let mut at = class.body_at.load(Ordering::Relaxed);
    if at == 0 {
        at = exclude_next(thread, || look_for_body(node as u64)).unwrap_or(NONE);
        class.body_at.store(at, Ordering::Relaxed);
    }
    if at == NONE {
        return None;
    }
    // SAFETY: nodes of this class have the address of their body there, and bodies virtual tables of this kind.
    unsafe {
        let body = &**node.add(at as usize);
        let info = (*body.vtable.cast::<Before>().sub(1)).type_info;
        let pointer = body::pointer(info, ptr::from_ref(body).add(1).cast());
        let which = Which { number: 0, at_a_time, any_order: false };
        body::of(thread, (SiteKind::Node, which), (*body.vtable).run as u64, pointer, info)
    }
}

/// `tbb::detail::d1::function_body` and its like.
#[repr(C)]
#[derive(Debug)]
struct BodyObject {
    vtable: *const BodySlots,
}

/// The functions of its virtual table.
#[repr(C)]
#[derive(Debug)]
struct BodySlots {
    destroy: [*const c_void; 2],
    /// `operator()`.
    run: *const c_void,
}

/// How many words behind `node` the address of its body lies. Whatever is there is read by the kernel, which says if it is none.
fn look_for_body(node: u64) -> Option<u32> {
    const REACH: u64 = 64;
    (1..REACH).find(|at| is_body(node + 8 * at).unwrap_or(false)).map(|at| at as u32)
}

/// True if the word at an address is that of an object whose class is that of a body. `None`: it leads nowhere.
fn is_body(address: u64) -> Option<bool> {
    let word = |address: u64| read::<8>(address).map(u64::from_ne_bytes);
    let info = word(word(word(address)?)?.wrapping_sub(8))?;
    let name = word(info.wrapping_add(8))?;
    // The begin alone; less where memory ends sooner.
    let name: [u8; 48] = read(name)?;
    Some(
        ["function_body_leafI", "input_body_leafI"]
            .iter()
            .any(|class| name.windows(class.len()).any(|part| part == class.as_bytes())),
    )
}

extern "C" {
    fn process_vm_readv(
        process: c_int,
        to: *const Piece,
        pieces: c_ulong,
        from: *const Piece,
        sources: c_ulong,
        flags: c_ulong,
    ) -> isize;
    fn getpid() -> c_int;
}

/// `struct iovec`.
#[repr(C)]
struct Piece {
    base: u64,
    length: usize,
}

/// What is at an address of this process, if anything is; zeros behind the end of memory.
pub(super) fn read<const N: usize>(address: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let to = Piece { base: bytes.as_mut_ptr() as u64, length: N };
    let from = Piece { base: address, length: N };
    let _errno = ErrnoGuard::new();
    // SAFETY: always succeeds.
    let process = unsafe { getpid() };
    // SAFETY: as many bytes as there is room for; an address that leads nowhere is an error.
    let got = unsafe { process_vm_readv(process, &raw const to, 1, &raw const from, 1, 0) };
    (got > 0).then_some(bytes)
}

/// One of the messages that a node takes at a time.
#[derive(Debug)]
struct Taken {
    entry: &'static Entry,
    at: usize,
}

/// A place of the node at this address, of `limit`. `None`: nobody follows it.
fn take(node: u64, limit: usize) -> Option<Taken> {
    let entry = Entry::of(node)?;
    let Some(at) = entry.take_place(limit) else {
        entry.users.fetch_sub(1, Ordering::Release);
        return None;
    };
    let taken = Taken { entry, at };
    in_task(|thread, now| {
        let order = &entry.places[at].order;
        if order.get().is_none() {
            order.set(Order::take(thread, true));
        }
        if let Some(order) = order.get() {
            order.begin(thread, now);
        }
    });
    Some(taken)
}

impl Drop for Taken {
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
