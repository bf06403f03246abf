//! The tree of bodies that `parallel_reduce` folds: whoever is the second to be done below a node of it joins the two bodies there.
//!
//! A join begins behind both, wherever either ran: the second is known, since it runs the join; the first leaves where it has come to
//! when its task ends. libtbb counts in the node itself who is done, so the second may get there a few instructions before
//! the first has left: it waits for that, as [`gather::settle`] does.
//!
//! **Nodes** are known by the order of calls. A task that splits allocates a node and the task for the other half, and spawns that; the
//! node is the one that folds the two from then on. Before the bodies are joined libtbb is asked whether the context is cancelled, and behind
//! that the node is given back.
//!
//! **Cost:** two loads for each allocation of a task where no program reduces; in an algorithm that does, a block for each node, and a
//! reading of the clock for each end of a task and each join.
//!
//! [`gather::settle`]: crate::dag::gather::settle

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use workspan_collect::shared::Shared;
use workspan_collect::thread;
use workspan_collect::waits::Wait;
use workspan_wire::shm::Thread;

use super::abi::{Context, Task};
use super::{class, stage};
use crate::dag::frame::Frame;
use crate::dag::patience::{patiently, HALF_A_SECOND};
use crate::dag::{gather, pool};
use crate::sync::wait::in_task;
use crate::sync::waiters::Left;

/// `tbb::detail::d1::node`, with which every node of the tree begins.
#[repr(C)]
struct Node {
    parent: *const Node,
    /// Halves that are not done.
    count: AtomicI32,
}

/// What is known of a node.
#[derive(Debug)]
struct Fold {
    /// The node.
    node: *const c_void,
    /// Where the whole of both halves is folded; null: nowhere.
    outer: *const Fold,
    /// Of who was done first.
    left: Cell<Option<Left>>,
    /// 1 once that is there.
    has_left: AtomicU32,
}

std::thread_local! {
    /// What the calling thread has allocated last, and before that.
    static BLOCKS: Cell<[*const c_void; 2]> = const { Cell::new([ptr::null(); 2]) };
}

/// libtbb has allocated `block` for the calling thread.
#[inline]
pub fn allocated(block: *const c_void) {
    if class::are_folds() {
        let _ = BLOCKS.try_with(|blocks| blocks.set([block, blocks.get()[0]]));
    }
}

/// `creator`, of an algorithm that folds, has split off `frame`, which is `task` to libtbb: both are halves from now on.
pub fn split(thread: &Thread, creator: &Frame, frame: &Frame, task: &Task) {
    let own = ptr::from_ref(task).cast::<c_void>();
    let node = BLOCKS.try_with(|blocks| match blocks.replace([ptr::null(); 2]) {
        [node, other] | [other, node] if other == own => node,
        _ => ptr::null(),
    });
    let outer = fold_of(creator);
    let Some(node) = node.ok().filter(|node| is_new(*node, outer)) else { return };
    let Some(at) = pool::take::<Fold>(thread) else { return };
    // SAFETY: a fresh block, large and aligned enough.
    unsafe { at.write(Fold { node, outer, left: Cell::new(None), has_left: AtomicU32::new(0) }) };
    creator.set_word(at as u64);
    frame.set_word(at as u64);
}

/// True of a block that is a node with two halves, within what `outer` folds.
fn is_new(node: *const c_void, outer: *const Fold) -> bool {
    if node.is_null() {
        return false;
    }
    // SAFETY: libtbb has allocated it for the calling thread, which has not given it back; nodes and tasks are larger.
    let known = unsafe { &*node.cast::<Node>() };
    // SAFETY: null, or what folds the task that runs.
    let within = unsafe { outer.as_ref() }.is_none_or(|outer| ptr::eq(known.parent.cast(), outer.node));
    known.count.load(Ordering::Relaxed) == 2 && within
}

/// Where `frame` folds when it is done; null: nowhere.
fn fold_of(frame: &Frame) -> *const Fold {
    if stage::has_run(frame) {
        ptr::null()
    } else {
        frame.word() as *const Fold
    }
}

/// The task that runs on the calling thread, and where it folds. `None`: nobody folds.
fn folds() -> Option<(&'static Thread, &'static Frame, &'static Fold)> {
    if !class::are_folds() {
        return None;
    }
    let thread = thread::current()?;
    let frame = Frame::on(thread).filter(|_| thread.task.waiting.get() == 0)?;
    // SAFETY: null, or a block that this task and the other half hold until both are done and the node is given back.
    Some((thread, frame, unsafe { fold_of(frame).as_ref() }?))
}

/// libtbb is asked whether `context` is cancelled: before it joins bodies, too.
#[inline]
pub fn asked(context: *const Context) {
    if let Some((thread, frame, fold)) = folds() {
        // SAFETY: not given back before this task has folded it.
        let count = unsafe { &(*fold.node.cast::<Node>()).count };
        let of_it = gather::of(thread, frame).is_some_and(|gather| gather.key() == context as u64);
        // Both are done: the program asks earlier.
        if of_it && count.load(Ordering::Relaxed) == 0 {
            go_behind(thread, fold);
        }
    }
}

/// libtbb gives `block` back.
#[inline]
pub fn given_back(block: *const c_void) {
    if let Some((thread, frame, fold)) = folds() {
        if fold.node == block {
            let settled = go_behind(thread, fold);
            frame.set_word(fold.outer as u64);
            if settled {
                // SAFETY: the other half has left it, and this one knows it no more.
                unsafe { pool::give(thread, ptr::from_ref(fold)) };
            }
        }
    }
}

/// The strand of `thread` goes on behind the other half, if it does not yet. False: where that has come to is not known.
fn go_behind(thread: &Thread, fold: &'static Fold) -> bool {
    if fold.has_left.load(Ordering::Acquire) == 0 && !settle(thread, fold) {
        return false;
    }
    if let Some(left) = fold.left.take() {
        in_task(|thread, now| Wait::begin_at(thread, now).end_behind(now, left.at, Some(left.parts())));
    }
    true
}

/// Waits until the other half, which is done, has left where it has come to: for nanoseconds, unless its thread lost its CPU there.
#[cold]
fn settle(thread: &Thread, fold: &Fold) -> bool {
    if patiently(HALF_A_SECOND, || fold.has_left.load(Ordering::Acquire) != 0) {
        return true;
    }
    Shared::of(thread).header().unfollowed.fetch_add(1, Ordering::Relaxed);
    false
}

/// The task of `frame` has ended on the calling thread: the other half of where it folds is not done.
#[inline]
pub fn ends(frame: &Frame) {
    // SAFETY: as in `folds`; until the store below.
    if let Some(fold) = unsafe { fold_of(frame).as_ref() } {
        fold.left.set(in_task(|thread, now| Left::by(thread, now, ptr::from_ref(fold) as u64)));
        fold.has_left.store(1, Ordering::Release);
    }
}
