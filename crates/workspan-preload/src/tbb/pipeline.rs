//! Stages of `parallel_pipeline`: in which order a serial one takes items, and how many items there are at a time.
//!
//! libtbb runs an item's next stage at once if it can: a serial stage that is free then leaves no trace of who had it before, and an
//! item that had to wait is gone on with by whoever had the stage. In every schedule
//! * a serial stage begins with an item no sooner than it has ended with the item before, and than that item came to it;
//! * an item enters no sooner than another one has left, once there are as many as the program allows ([`TOKENS`] at most).
//!
//! ([`Order`] is that of a stage.)
//!
//! Stages become known as the pipeline creates them: Workspan gives it nodes of its own ([`Leaf`]), which lead to the program's. A stage gets another virtual
//! table for its life ([`Stage`]). All but the orders of stages lies on the stack of the call that runs the pipeline: who looks for a call above it does not
//! look far.
//!
//! **The first task.** Where libtbb calls its own function to run and to wait for it, as Intel's builds do, no entry point is called, and the
//! caller's own strand comes to a stage. Then the caller waits from there on, and each stage that it comes to outside of a task is a task of its
//! own ([`Run::begin_alone`]), behind what the item left at the stage before.
//!
//! **Cost:** that of its [`body`]; one reading of the clock and one node of a path at the end of a serial stage, or of one before it, or of the last; and a reading
//! at the begin of a serial one.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicIsize, AtomicU32, AtomicU64, Ordering};

use workspan_collect::shared::Shared;
use workspan_collect::thread;
use workspan_collect::waits::Wait;
use workspan_wire::site::SiteKind;

use super::abi::{Before, Context, TypeInfo};
use super::algorithm::{self, Running};
use super::body::{self, Body, Which};
use super::order::Order;
use super::site::Called;
use super::store::Store;
use super::{run as tasks, stage, state};
use crate::dag::frame::{Frame, Kind};
use crate::dag::gather::{self, Gather};
use crate::sync::wait::in_task;
use crate::sync::waiters::Left;

/// More stages are not followed.
const STAGES: usize = 12;
/// More items at a time are not counted.
const TOKENS: usize = 64;

/// `filter_mode::serial_*`.
const SERIAL: u32 = 1;
const ANY_ORDER: u32 = 2;

/// `tbb::detail::d1::filter_node`: a tree, whose leaves are stages.
#[repr(C)]
#[derive(Debug)]
pub struct Node {
    vtable: *const NodeSlots,
    _users: AtomicIsize,
    left: *const Node,
    right: *const Node,
}

/// The functions of its virtual table.
#[repr(C)]
#[derive(Debug)]
struct NodeSlots {
    /// `create_filter`.
    create: unsafe extern "C-unwind" fn(*const Node) -> *const Filter,
    destroy: [*const c_void; 2],
}

// SAFETY: constant.
unsafe impl Sync for NodeSlots {}

/// `tbb::detail::d1::base_filter`.
#[repr(C)]
struct Filter {
    vtable: Cell<*const FilterSlots>,
    _next: *const Filter,
    _buffer: *const c_void,
    mode: u32,
}

/// Runs a stage with an item. Returns what the next stage gets.
type Call = unsafe extern "C-unwind" fn(*const Filter, *mut c_void) -> *mut c_void;

/// The functions of its virtual table.
#[repr(C)]
#[derive(Clone, Copy)]
struct FilterSlots {
    call: Call,
    destroy: [*const c_void; 2],
    finalize: *const c_void,
}

/// What the pipeline gets in the place of a leaf.
#[repr(C)]
struct Leaf {
    node: Node,
    own: *const Node,
    stage: *const Stage,
}

/// A stage while the pipeline runs.
struct Stage {
    run: Cell<*const Run>,
    own: Cell<*const FilterSlots>,
    /// What the program does there.
    body: Cell<Option<&'static Body>>,
    /// Of a serial one. Whoever has the stage has this.
    order: Cell<Option<&'static Order>>,
    table: Cell<StandIn>,
}

/// A virtual table.
#[repr(C)]
#[derive(Clone, Copy)]
struct StandIn {
    before: Before,
    slots: FilterSlots,
    /// Whose it is.
    stage: *const Stage,
}

/// A pipeline that runs.
struct Run {
    stages: [Stage; STAGES],
    count: usize,
    /// Items that may be there at a time; 0: not counted.
    tokens: u64,
    entered: AtomicU64,
    /// What items that are through have left, until another one enters.
    freed: Store<TOKENS>,
    /// What items left that come to a serial stage.
    parked: Store<TOKENS>,
    /// Who runs it, if anybody follows that.
    caller: Option<&'static Frame>,
    /// By what its tasks are known, and where the program calls it.
    of: (*const Context, Called),
    /// Whether libtbb's first task is followed: [`UNKNOWN`], [`FOLLOWED`] or [`ALONE`].
    first: AtomicU32,
    /// If it is not: the caller's wait, and what it waits for. The caller's alone.
    alone: Cell<Option<(Running, &'static Gather)>>,
}

const UNKNOWN: u32 = 0;
const FOLLOWED: u32 = 1;
const ALONE: u32 = 2;

/// A stage that runs as a task of its own; over with this, also if its code threw an exception.
struct Alone(&'static Frame);

impl Drop for Alone {
    fn drop(&mut self) {
        tasks::over(self.0);
    }
}

/// Runs `own`, which runs the pipeline of the stages that are the leaves of the tree it is given, with `root`'s stages followed.
///
/// # Safety
///
/// `root`, and the context, are what a program passes to libtbb's `parallel_pipeline`, which `own` calls.
pub unsafe fn follow(root: *const Node, tokens: usize, of: (*const Context, Called), own: impl FnOnce(*const Node)) {
    let mut leaves = [ptr::null(); STAGES];
    let mut count = 0;
    // SAFETY: the caller's promise.
    if !unsafe { find_leaves(root, &mut leaves, &mut count) } {
        return own(root);
    }
    let run = Run {
        stages: [const { Stage::none() }; STAGES],
        count,
        tokens: if tokens <= TOKENS { tokens as u64 } else { 0 },
        entered: AtomicU64::new(0),
        freed: Store::new(),
        parked: Store::new(),
        caller: state::current().map(|(_, caller)| caller),
        of,
        first: AtomicU32::new(UNKNOWN),
        alone: Cell::new(None),
    };
    let node = |left, right| Node { vtable: &OURS, _users: AtomicIsize::new(1), left, right };
    let stand_ins: [Leaf; STAGES] = core::array::from_fn(|at| {
        run.stages[at].run.set(&raw const run);
        Leaf { node: node(ptr::null(), ptr::null()), own: leaves[at], stage: &raw const run.stages[at] }
    });
    let leaf = |at: usize| &raw const stand_ins[at] as *const Node;
    let inner: [Cell<Node>; STAGES] = core::array::from_fn(|_| Cell::new(node(ptr::null(), ptr::null())));
    let mut tree = leaf(0);
    for (at, inner) in inner.iter().enumerate().take(count).skip(1) {
        inner.set(node(tree, leaf(at)));
        tree = inner.as_ptr();
    }
    state::calls(Some(of.1));
    own(tree);
    state::calls(None);
}

/// The leaves below `node`, in order. False: too many of them.
///
/// # Safety
///
/// As of [`follow`].
unsafe fn find_leaves(node: *const Node, found: &mut [*const Node; STAGES], count: &mut usize) -> bool {
    // SAFETY: the caller's promise.
    let Node { left, right, .. } = unsafe { &*node };
    if left.is_null() || right.is_null() {
        let Some(slot) = found.get_mut(*count) else { return false };
        *slot = node;
        *count += 1;
        return true;
    }
    // SAFETY: the caller's promise.
    unsafe { find_leaves(*left, found, count) && find_leaves(*right, found, count) }
}

static OURS: NodeSlots = NodeSlots { create, destroy: [ptr::null(); 2] };

/// In the place of `create_filter`.
unsafe extern "C-unwind" fn create(node: *const Node) -> *const Filter {
    // SAFETY: nodes with this function are the first field of a leaf.
    let Leaf { own, stage, .. } = unsafe { &*node.cast::<Leaf>() };
    // SAFETY: the program's own leaf; it makes a stage.
    let filter = unsafe { ((*(**own).vtable).create)(*own) };
    // SAFETY: lives as long as the call that runs the pipeline; the stage of the program is new, and nobody else's.
    let (stage, made) = unsafe { (&**stage, &*filter) };
    if made.mode & SERIAL != 0 {
        stage.order.set(thread::current().and_then(|thread| Order::take(thread, made.mode & ANY_ORDER != 0)));
    }
    let own = made.vtable.get();
    stage.own.set(own);
    // SAFETY: every virtual table has these words before it.
    let (before, slots) = unsafe { (*own.cast::<Before>().sub(1), *own) };
    stage.table.set(StandIn { before, slots: FilterSlots { call, ..slots }, stage });
    // SAFETY: the virtual table's own; behind what all stages have, one has the address of its body.
    stage.body.set(unsafe { body_of(stage, made, slots.call, before.type_info) });
    let table = stage.table.as_ptr();
    // SAFETY: the field of a table that lives as long as the stage.
    made.vtable.set(unsafe { &raw const (*table).slots });
    filter
}

/// # Safety
///
/// `made` is the stage of the program for which `stage` stands, with this function and this type.
unsafe fn body_of(stage: &Stage, made: &Filter, call: Call, info: *const TypeInfo) -> Option<&'static Body> {
    let thread = thread::current()?;
    // SAFETY: the caller's promise.
    let pointer = unsafe { body::pointer(info, *ptr::from_ref(made).add(1).cast::<*const u64>()) };
    let which = Which {
        number: stage.number() as u32 + 1,
        at_a_time: u32::from(made.mode & SERIAL != 0),
        any_order: made.mode & ANY_ORDER != 0,
    };
    // SAFETY: the caller's promise.
    unsafe { body::of(thread, (SiteKind::Stage, which), call as usize as u64, pointer, info) }
}

/// In the place of `operator()`.
unsafe extern "C-unwind" fn call(filter: *const Filter, item: *mut c_void) -> *mut c_void {
    // SAFETY: a stage with this function has the table of a stage here.
    let stage = unsafe {
        let slots = (*filter).vtable.get();
        let table = slots.byte_sub(core::mem::offset_of!(StandIn, slots)).cast::<StandIn>();
        &*(*table).stage
    };
    let alone = stage.run().begin_alone();
    stage.begin(item, alone.is_some());
    let inside = stage.body.get().and_then(body::enter);
    // SAFETY: the stage's own function.
    let made = unsafe { ((*stage.own.get()).call)(filter, item) };
    drop(inside);
    stage.end(made, alone.is_some());
    drop(alone);
    made
}

impl Stage {
    const fn none() -> Stage {
        Stage {
            run: Cell::new(ptr::null()),
            own: Cell::new(ptr::null()),
            body: Cell::new(None),
            order: Cell::new(None),
            table: Cell::new(StandIn {
                before: Before { offset: 0, type_info: ptr::null() },
                slots: FilterSlots { call, destroy: [ptr::null(); 2], finalize: ptr::null() },
                stage: ptr::null(),
            }),
        }
    }

    fn run(&self) -> &Run {
        // SAFETY: lives as long as the call that runs the pipeline.
        unsafe { &*self.run.get() }
    }

    fn number(&self) -> usize {
        (ptr::from_ref(self) as usize - self.run().stages.as_ptr() as usize) / size_of::<Stage>()
    }

    /// The calling thread goes on with `item` here, in a task of its own or not.
    fn begin(&self, item: *mut c_void, alone: bool) {
        let (run, number) = (self.run(), self.number());
        let order = self.order.get();
        let entered = if number == 0 { run.enters() } else { None };
        let parked = (order.is_some() || alone) && number > 0;
        let parked = parked.then(|| run.parked.take(key(number, item))).flatten();
        let mut after = [entered, parked];
        if order.is_none() && after.iter().all(Option::is_none) {
            return;
        }
        in_task(|thread, now| {
            for left in after.iter_mut().filter_map(Option::take) {
                Wait::begin_at(thread, now).end_behind(now, left.at, Some(left.parts()));
            }
            if let Some(order) = order {
                order.begin(thread, now);
            }
        });
        release(after);
    }

    /// The calling thread has done what there is to do here, and `made` goes on to the next stage.
    fn end(&self, made: *mut c_void, alone: bool) {
        let (run, next) = (self.run(), self.number() + 1);
        if let Some(frame) = thread::current().and_then(Frame::on) {
            stage::ran(frame, next == run.count);
        }
        let leaves = next == run.count && run.tokens != 0;
        let comes_to_serial = next < run.count && (alone || run.stages[next].order.get().is_some());
        let order = self.order.get();
        if !(order.is_some() || leaves || comes_to_serial) {
            return;
        }
        in_task(|thread, now| {
            let left = Left::by(thread, now, ptr::from_ref(self) as u64);
            let shared = Shared::of(thread);
            if leaves {
                run.freed.put(shared, 0, left.copy(shared));
            }
            if comes_to_serial {
                run.parked.put(shared, key(next, made), left.copy(shared));
            }
            match order {
                Some(order) => order.end(shared, left),
                None => left.release(shared),
            }
        });
    }
}

impl Run {
    /// If the calling thread is here in no task of the pipeline's: it begins one, of the stage alone.
    fn begin_alone(&self) -> Option<Alone> {
        if self.first.load(Ordering::Relaxed) == FOLLOWED {
            return None;
        }
        let (thread, here) = state::current()?;
        if !self.caller.is_some_and(|caller| ptr::eq(caller, here)) {
            // The first to come to a stage is the caller.
            let _ = self.first.compare_exchange(UNKNOWN, FOLLOWED, Ordering::Relaxed, Ordering::Relaxed);
            return None;
        }
        if self.first.load(Ordering::Relaxed) == UNKNOWN {
            // SAFETY: what the program passed; it lives as long as the pipeline runs, and longer than the wait, which `self` has.
            let context: &'static Context = unsafe { &*self.of.0 };
            self.alone.set(algorithm::begin_pipeline(thread, here, context, self.of.1));
            self.first.store(ALONE, Ordering::Relaxed);
            state::calls(None);
        }
        let alone = self.alone.take()?;
        let gather = alone.1;
        self.alone.set(Some(alone));
        let kind = Kind { recursive: true, part: true, ..Kind::default() };
        gather::create_at_begin(thread, here, gather, kind).and_then(tasks::begin_on).map(Alone)
    }

    /// An item enters: behind one that is through, if there are as many as there may be. Of those that nobody has entered behind yet it is
    /// the one whose end is least, whoever's thread was late: so no more items than that are there at a time, and no fewer than can be.
    fn enters(&self) -> Option<Left> {
        if self.tokens == 0 {
            return None;
        }
        self.entered.fetch_add(1, Ordering::Relaxed).checked_sub(self.tokens)?;
        self.freed.take_least()
    }
}

/// By what an item that comes to a stage is known. Items that look alike are.
fn key(stage: usize, item: *mut c_void) -> u64 {
    (item as u64 ^ (stage as u64) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(40) | 1
}

/// Nobody will come after these.
fn release(left: impl IntoIterator<Item = Option<Left>>) {
    if let Some(shared) = workspan_collect::process::shared() {
        left.into_iter().flatten().for_each(|left| left.release(shared));
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        drop(self.alone.take());
        if let Some(thread) = thread::current() {
            self.stages.iter().filter_map(|stage| stage.order.take()).for_each(|order| order.give(thread));
        }
        release(core::iter::from_fn(|| self.freed.take_least().map(Some)));
        release(core::iter::from_fn(|| self.parked.take_least().map(Some)));
    }
}
