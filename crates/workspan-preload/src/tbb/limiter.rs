//! How many messages there are at a time behind a `limiter_node` of a flow graph.
//!
//! With a limit of N, the first N messages begin at once, and each later one behind one that is through: of those that no message has begun
//! behind yet, the one whose end is least. Whether a message found the node at its limit is an accident of the schedule.
//!
//! The node is code of headers, and calls nothing of libtbb's. It is found in the list of nodes of its graph, when tasks of the graph are
//! spawned and the list has got longer; its class says what it is ([`walk`]). It then gets other virtual tables ([`Table`]) for the two
//! functions by which messages come to it, and by which it learns that one is through. The tasks that go on with a message are known by their
//! addresses until they run ([`Limiter::waits`]).
//!
//! **Bias:** a message that a node before keeps until there is room begins behind the one that made room in this run, too: when it came there is
//! not known. With fewer workers than N, there may then be no more messages at a time than workers.
//!
//! **Cost:** for each task of a graph that is spawned, three loads; for each that runs, one for each such node; for each message of such a node, a
//! reading of the clock and a node of a path at its end, and another one at its begin.

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use workspan_collect::exclude::exclude_next;
use workspan_collect::process;
use workspan_collect::thread;
use workspan_collect::waits::Wait;
use workspan_wire::shm::Thread;

use super::abi::Task;
use super::class::{self, Class};
use super::node::read;
use super::regulator::{decrementer, is_limiter, Number};
use super::store::Store;
use crate::sync::wait::in_task;
use crate::sync::waiters::Left;

/// Addresses of such nodes; further ones are not followed.
const LIMITERS: usize = 64;
/// Nodes that let more messages through have no limit here.
const MESSAGES: usize = 64;
/// Graphs whose lists are remembered.
const GRAPHS: usize = 16;
/// Nodes of a graph that are looked at at a time.
const NODES: usize = 1 << 16;
/// Words of a virtual table that are copied.
const SLOTS: usize = 12;

/// In which words of a graph's tasks and nodes the graph's address is.
const GRAPH_OF_TASK: usize = size_of::<Task>() / 8;
const GRAPH: usize = 1;
/// Words of a node: the next one and the one before in the list of its graph.
const NEXT: usize = 2;
const BEFORE: usize = 3;
/// Words of a `limiter_node`: the virtual tables of what it receives and sends; how many messages it lets through, has let through, and
/// is about to.
const RECEIVER: usize = 4;
const SENDER: usize = 5;
const THRESHOLD: usize = 6;
const COUNT: usize = 7;
const TRIES: usize = 8;
/// Where its decrementer may be.
const DECREMENTER: core::ops::Range<usize> = 10..64;
/// Functions of virtual tables: `try_put_task`; `execute` of a `continue_receiver`.
const PUT: usize = 2;
const EXECUTE: usize = 9;
/// Bytes from the virtual table of what it receives to the other one, in versions in which these are where they are said to be.
const BETWEEN: u64 = 80;

/// `SUCCESSFULLY_ENQUEUED`.
const ENQUEUED: usize = usize::MAX;

/// `try_put_task`: of whom, the message; the task to run next.
type Put = unsafe extern "C-unwind" fn(*const Object, *const c_void) -> *const Task;
/// `execute` of a `continue_receiver`.
type Execute = unsafe extern "C-unwind" fn(*const Object) -> *const Task;

/// What has a virtual table.
#[repr(C)]
struct Object {
    vtable: *const u64,
}

/// A virtual table.
#[repr(C)]
#[derive(Clone, Copy)]
struct Table {
    before: [u64; 2],
    slots: [u64; SLOTS],
    /// Whose it is.
    limiter: *const Limiter,
}

impl Table {
    const NONE: Table = Table { before: [0; 2], slots: [0; SLOTS], limiter: ptr::null() };
}

/// A `limiter_node`.
struct Limiter {
    /// Its address; 0 for none yet.
    node: AtomicU64,
    threshold: AtomicU64,
    entered: AtomicU64,
    /// What messages that are through have left, until another one begins.
    freed: Store<MESSAGES>,
    /// What tasks wait for that go on with messages, by their addresses.
    waits: Store<MESSAGES>,
    /// Bytes of a number by which the decrementer counts, if it takes numbers.
    number: Cell<Option<Number>>,
    /// Its own functions.
    put: Cell<u64>,
    decrement: Cell<u64>,
    /// Of what it receives, and of its decrementer.
    tables: UnsafeCell<[Table; 2]>,
}

// SAFETY: cells are written by whoever has [`CHANGING`], before any object has the tables, or after the object of before is gone.
unsafe impl Sync for Limiter {}

static TABLE: [Limiter; LIMITERS] = [const {
    Limiter {
        node: AtomicU64::new(0),
        threshold: AtomicU64::new(0),
        entered: AtomicU64::new(0),
        freed: Store::new(),
        waits: Store::new(),
        number: Cell::new(None),
        put: Cell::new(0),
        decrement: Cell::new(0),
        tables: UnsafeCell::new([Table::NONE; 2]),
    }
}; LIMITERS];

/// There is one.
static ANY: AtomicBool = AtomicBool::new(false);
/// A thread writes [`TABLE`] and [`KNOWN`].
static CHANGING: AtomicBool = AtomicBool::new(false);

/// A graph, and the last node of its list that has been looked at.
struct Graph {
    graph: AtomicU64,
    last: AtomicU64,
}

static KNOWN: [Graph; GRAPHS] = [const { Graph { graph: AtomicU64::new(0), last: AtomicU64::new(0) } }; GRAPHS];

/// In which word of a graph its first node is, in front of the last; 0: not known yet.
static NODES_AT: AtomicU32 = AtomicU32::new(0);
const NOWHERE: u32 = u32::MAX;

std::thread_local! {
    /// The message with which the thread is in such a node.
    static ENTERING: Cell<*const Entering> = const { Cell::new(ptr::null()) };
}

/// A message that is about to begin.
struct Entering {
    limiter: &'static Limiter,
    /// What it begins behind.
    left: Cell<Option<Left>>,
    /// The node before that hands it on to this one.
    outer: *const Entering,
}

// ---- Nodes become known ----

/// A graph begins: what lies where another one was may be new.
pub fn forget() {
    KNOWN.iter().for_each(|known| known.graph.store(0, Ordering::Relaxed));
}

/// `task`, of a class whose tasks have graphs, is spawned.
///
/// # Safety
///
/// It is such a task, of a graph that exists.
#[inline]
pub unsafe fn spawned(thread: &Thread, task: &Task, class: &Class) {
    // SAFETY: the caller's promise.
    let graph = unsafe { ptr::from_ref(task).cast::<u64>().add(GRAPH_OF_TASK).read() };
    let known = &KNOWN[(graph >> 4) as usize % GRAPHS];
    let at = NODES_AT.load(Ordering::Relaxed);
    if at == NOWHERE {
        return;
    }
    // SAFETY: the graph exists, and has its last node there.
    let is_known = at != 0
        && known.graph.load(Ordering::Relaxed) == graph
        && unsafe { (graph as *const u64).add(at as usize + 1).read_volatile() } == known.last.load(Ordering::Relaxed);
    if !is_known {
        exclude_next(thread, || walk(graph, known));
    }
    if !ENTERING.get().is_null() && !class.forwards {
        wait_all(task);
    }
}

/// The nodes of `graph` that have come since it was last looked at.
#[cold]
fn walk(graph: u64, known: &Graph) {
    if CHANGING.swap(true, Ordering::Acquire) {
        return;
    }
    let at = match NODES_AT.load(Ordering::Relaxed) {
        0 => {
            let found = (3..24).find(|at| first_and_last(graph, *at).is_some()).unwrap_or(NOWHERE);
            NODES_AT.store(found, Ordering::Relaxed);
            found
        }
        at => at,
    };
    if let Some([first, last]) = first_and_last(graph, at) {
        let before = known.last.load(Ordering::Relaxed);
        let goes_on = known.graph.load(Ordering::Relaxed) == graph;
        let mut node = match words::<4>(before) {
            Some(words) if goes_on && words[GRAPH] == graph && words[NEXT] != 0 => words[NEXT],
            _ => first,
        };
        let mut other = 0;
        for _ in 0..NODES {
            let Some(words) = words::<4>(node) else { break };
            if words[0] != other {
                match name_of(words[0]) {
                    Some(name) if is_limiter(&name) => {
                        Limiter::follow(node);
                    }
                    _ => other = words[0],
                }
            }
            if node == last {
                break;
            }
            node = words[NEXT];
        }
        known.graph.store(graph, Ordering::Relaxed);
        known.last.store(last, Ordering::Relaxed);
    }
    CHANGING.store(false, Ordering::Release);
}

/// The first and the last node of `graph`, if they are there.
fn first_and_last(graph: u64, at: u32) -> Option<[u64; 2]> {
    let [first, last] = words::<2>(graph.checked_add(8 * u64::from(at))?)?;
    let (begin, end) = (words::<4>(first)?, words::<4>(last)?);
    let is_list = begin[GRAPH] == graph && begin[BEFORE] == 0 && end[GRAPH] == graph && end[NEXT] == 0;
    is_list.then_some([first, last])
}

/// Words at an address of this process, if they are there.
fn words<const N: usize>(address: u64) -> Option<[u64; N]> {
    if address == 0 || !address.is_multiple_of(8) {
        return None;
    }
    let mut words = [0; N];
    for (at, word) in words.iter_mut().enumerate() {
        *word = u64::from_ne_bytes(read::<8>(address.checked_add(8 * at as u64)?)?);
    }
    Some(words)
}

/// Bytes of names that are looked at: namespace and class.
const NAME: usize = 400;

/// The begin of the mangled name of the class with this virtual table; zeros behind it.
fn name_of(vtable: u64) -> Option<[u8; NAME]> {
    let [info] = words::<1>(vtable.checked_sub(8)?)?;
    let [_, name] = words::<2>(info)?;
    read(name)
}

impl Limiter {
    /// That of the node at `address`.
    fn at(address: u64) -> Option<&'static Limiter> {
        TABLE.iter().find(|limiter| limiter.node.load(Ordering::Relaxed) == address)
    }

    /// The `limiter_node` at `node` gets tables of its own, if it has none. By whoever has [`CHANGING`].
    fn follow(node: u64) -> Option<()> {
        let own = words::<{ TRIES + 1 }>(node)?;
        let threshold = own[THRESHOLD];
        if own[SENDER].wrapping_sub(own[RECEIVER]) != BETWEEN || !(1..=MESSAGES as u64).contains(&threshold) {
            return None;
        }
        let kind_at = |at: &usize| {
            let [vtable] = words::<1>(node + 8 * *at as u64)?;
            Some((*at, vtable, decrementer(&name_of(vtable)?)?))
        };
        let (at, vtable, number) = { DECREMENTER }.find_map(|at| kind_at(&at))?;
        let limiter = Limiter::at(node).or_else(|| Limiter::at(0))?;
        let tables = limiter.tables.get();
        // SAFETY: addresses alone.
        let stand_ins = [0, 1].map(|at| unsafe { &raw const (*tables)[at].slots } as u64);
        if own[RECEIVER] == stand_ins[0] || vtable == stand_ins[1] {
            return None;
        }
        let [mut receiver, mut regulator] = [own[RECEIVER], vtable].map(|vtable| {
            let before = words(vtable - 16)?;
            Some(Table { before, slots: words(vtable)?, limiter })
        });
        let (receiver, regulator) = (receiver.as_mut()?, regulator.as_mut()?);
        let slot = if number.is_some() { PUT } else { EXECUTE };
        limiter.put.set(receiver.slots[PUT]);
        limiter.decrement.set(regulator.slots[slot]);
        receiver.slots[PUT] = put as Put as usize as u64;
        regulator.slots[slot] = match number {
            Some(_) => decrement_by as Put as usize as u64,
            None => decrement as Execute as usize as u64,
        };
        limiter.number.set(number);
        // SAFETY: no object has these tables: this place is new, or its node was another one, which is gone.
        unsafe { tables.write([*receiver, *regulator]) };
        limiter.threshold.store(threshold, Ordering::Relaxed);
        limiter.entered.store(own[COUNT] + own[TRIES], Ordering::Relaxed);
        limiter.node.store(node, Ordering::Relaxed);
        if let Some(shared) = process::shared() {
            let left = || limiter.freed.take_least().or_else(|| limiter.waits.take_least());
            core::iter::from_fn(left).for_each(|left| left.release(shared));
        }
        ANY.store(true, Ordering::Release);
        for (at, table) in [RECEIVER, at].into_iter().zip(stand_ins) {
            // SAFETY: the node is in the list of a graph that is used, and has the address of such a table there.
            unsafe { AtomicU64::from_ptr((node as *mut u64).add(at)) }.store(table, Ordering::Release);
        }
        Some(())
    }

    /// Of an object that has one of these tables.
    ///
    /// # Safety
    ///
    /// It has.
    unsafe fn of(object: *const Object) -> &'static Limiter {
        // SAFETY: the caller's promise; places of [`TABLE`] live for ever.
        unsafe {
            let table = (*object).vtable.byte_sub(mem::offset_of!(Table, slots)).cast::<Table>();
            &*(*table).limiter
        }
    }

    /// A word of the node.
    ///
    /// # Safety
    ///
    /// The node exists.
    unsafe fn word(&self, at: usize) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { (self.node.load(Ordering::Relaxed) as *const u64).add(at).read_volatile() }
    }
}

// ---- Messages ----

/// In the place of `try_put_task` of the node: a message comes.
unsafe extern "C-unwind" fn put(receiver: *const Object, message: *const c_void) -> *const Task {
    // SAFETY: objects with this function have such a table.
    let limiter = unsafe { Limiter::of(receiver) };
    // SAFETY: the node's own function.
    let own = unsafe { mem::transmute::<u64, Put>(limiter.put.get()) };
    // SAFETY: the node is called.
    let is_full = unsafe { limiter.word(COUNT) + limiter.word(TRIES) >= limiter.word(THRESHOLD) };
    if is_full {
        // SAFETY: the caller's own.
        return unsafe { own(receiver, message) };
    }
    // SAFETY: the caller's own.
    enters(limiter, Kept::Unknown, || unsafe { own(receiver, message) })
}

/// In the place of `execute` of its decrementer: a message is through.
unsafe extern "C-unwind" fn decrement(regulator: *const Object) -> *const Task {
    // SAFETY: objects with this function have such a table.
    let limiter = unsafe { Limiter::of(regulator) };
    // SAFETY: the decrementer's own function.
    let own = unsafe { mem::transmute::<u64, Execute>(limiter.decrement.get()) };
    limiter.leaves(1);
    // SAFETY: the caller's own.
    enters(limiter, Kept::Passed, || unsafe { own(regulator) })
}

/// In the place of `try_put_task` of its decrementer: as many messages as the number says are through.
unsafe extern "C-unwind" fn decrement_by(regulator: *const Object, message: *const c_void) -> *const Task {
    // SAFETY: objects with this function have such a table.
    let limiter = unsafe { Limiter::of(regulator) };
    // SAFETY: the decrementer's own function.
    let own = unsafe { mem::transmute::<u64, Put>(limiter.decrement.get()) };
    // SAFETY: the message is such a number.
    let number = limiter.number.get().map_or(1, |number| unsafe { number.read(message) });
    match u64::try_from(number) {
        Ok(through) => limiter.leaves(through),
        // It counts up: that many more are in.
        Err(_) => {
            for _ in 0..number.unsigned_abs().min(limiter.threshold.load(Ordering::Relaxed)) {
                drop(Entering::begin(limiter));
            }
        }
    }
    // SAFETY: the caller's own.
    enters(limiter, Kept::Unknown, || unsafe { own(regulator, message) })
}

/// What it means that a message was kept, and no task came of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// A message has passed the limiter.
    Passed,
    /// Nobody says whether one has: it counts as none.
    Unknown,
}

/// Runs `own`, in which a message may pass the limiter, and returns what that returns.
fn enters(limiter: &'static Limiter, kept: Kept, own: impl FnOnce() -> *const Task) -> *const Task {
    let entering = Entering::begin(limiter);
    let outer = ENTERING.replace(&raw const entering);
    let restore = Restore(outer);
    let task = own();
    drop(restore);
    if task.is_null() || task as usize == ENQUEUED {
        if task.is_null() || kept == Kept::Unknown {
            entering.takes_back();
        }
        return task;
    }
    // SAFETY: a task that has not run, which nobody else has.
    let made = unsafe { &*task };
    if thread::current().is_some_and(|thread| is_forward(thread, made)) {
        entering.takes_back();
    } else {
        entering.wait(made);
    }
    task
}

/// Puts back what the thread was in.
struct Restore(*const Entering);

impl Drop for Restore {
    fn drop(&mut self) {
        ENTERING.set(self.0);
    }
}

/// A task that lets further messages through, and has none itself.
fn is_forward(thread: &Thread, task: &Task) -> bool {
    // SAFETY: a task that exists.
    let class = unsafe {
        match class::is_handed_over(task) {
            true => Some(class::of_stand_in(task.vtable.get())),
            false => class::of(thread, task.vtable.get()),
        }
    };
    class.is_some_and(|class| class.forwards)
}

impl Limiter {
    /// As many messages are through, at the strand of the calling thread.
    fn leaves(&self, messages: u64) {
        // SAFETY: the node is called.
        let there_are = unsafe { self.word(COUNT) + self.word(TRIES) };
        let messages = messages.min(there_are);
        if messages == 0 {
            return;
        }
        in_task(|thread, now| {
            let Some(shared) = process::shared() else { return };
            let left = Left::by(thread, now, self.node.load(Ordering::Relaxed));
            (1..messages).for_each(|_| self.freed.put(shared, 0, left.copy(shared)));
            self.freed.put(shared, 0, left);
        });
    }
}

impl Entering {
    /// A message is about to begin: behind one that is through, if there are as many as there may be.
    fn begin(limiter: &'static Limiter) -> Entering {
        let before = limiter.entered.fetch_add(1, Ordering::Relaxed);
        let is_full = before >= limiter.threshold.load(Ordering::Relaxed);
        let left = if is_full { limiter.freed.take_least() } else { None };
        Entering { limiter, left: Cell::new(left), outer: ENTERING.get() }
    }

    /// It has not begun.
    fn takes_back(&self) {
        self.limiter.entered.fetch_sub(1, Ordering::Relaxed);
        if let (Some(left), Some(shared)) = (self.left.take(), process::shared()) {
            self.limiter.freed.put(shared, 0, left);
        }
    }

    /// `task` goes on with it.
    fn wait(&self, task: &Task) {
        if let (Some(left), Some(shared)) = (self.left.get(), process::shared()) {
            self.limiter.waits.put(shared, key(task), left.copy(shared));
        }
    }
}

impl Drop for Entering {
    fn drop(&mut self) {
        if let (Some(left), Some(shared)) = (self.left.take(), process::shared()) {
            left.release(shared);
        }
    }
}

/// `task` goes on with the messages with which the thread is in limiters.
#[cold]
fn wait_all(task: &Task) {
    let mut at = ENTERING.get();
    // SAFETY: on the stack of calls that are not over.
    while let Some(entering) = unsafe { at.as_ref() } {
        entering.wait(task);
        at = entering.outer;
    }
}

/// By what a task is known.
fn key(task: *const Task) -> u64 {
    (task as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(40) | 1
}

/// `task`, of a graph, begins on the calling thread: behind what its message waits for.
pub fn begins(task: *const Task) {
    if !ANY.load(Ordering::Relaxed) {
        return;
    }
    let key = key(task);
    for limiter in TABLE.iter().take_while(|limiter| limiter.node.load(Ordering::Relaxed) != 0) {
        while let Some(left) = limiter.waits.take(key) {
            in_task(|thread, now| {
                Wait::begin_at(thread, now).end_behind(now, left.at, Some(left.parts()));
            });
        }
    }
}

/// What `own` returns, which runs `task`, of a class that lets messages through.
///
/// # Safety
///
/// `task` is of such a class, and has not run.
pub unsafe fn forwards(task: *const Task, class: &Class, own: impl FnOnce() -> *const Task) -> *const Task {
    // SAFETY: the caller's promise: the node's address.
    let node = unsafe { *task.cast::<u64>().add(class.node_word) };
    match Limiter::at(node) {
        Some(limiter) => enters(limiter, Kept::Unknown, own),
        None => own(),
    }
}
