//! Pipelines: libtbb orders the items of a serial stage, and passes each item from stage to stage.
//!
//! The stages are made inside libtbb, by functions of the program's classes: the leaves of the tree that describes the
//! pipeline get a virtual table whose function gives the stage that is made another one, too. A serial stage is a lock. An
//! item's pointer is taken over by the stage that gets it from the one that returned it.

use core::cell::Cell;

use workspan_trace::control::Operation;

use super::abi::{followed, Context, Pointer};
use super::table;
use crate::event::now;
use crate::locks::{sync, ticket};
use crate::{atomics, original};

/// `tbb::detail::d1::filter_node`; its first function makes the stage.
#[repr(C)]
struct Node {
    table: Cell<*const usize>,
    references: isize,
    left: *const Node,
    right: *const Node,
}

/// `tbb::detail::d1::base_filter`; its first function takes an item and returns one.
#[repr(C)]
struct Stage {
    table: Cell<*const usize>,
    next: Pointer,
    buffer: Pointer,
    mode: u32,
}

const SERIAL: u32 = 1;
/// Distinguishes items from atomic variables: addresses have no such bit.
const ITEM: u64 = 1 << 47;

type Make = unsafe extern "C-unwind" fn(*const Node) -> *const Stage;
type Work = unsafe extern "C-unwind" fn(*const Stage, Pointer) -> Pointer;

unsafe extern "C-unwind" fn make(node: *const Node) -> *const Stage {
    // SAFETY: libtbb passes a leaf, which has a stand-in.
    let own = unsafe { own_function((*node).table.get()) };
    // SAFETY: the leaf's own function, of this type.
    let function = unsafe { core::mem::transmute::<usize, Make>(own) };
    // SAFETY: as libtbb calls it.
    let stage = unsafe { function(node) };
    // SAFETY: null, or a stage that was made just now.
    if let Some(made) = unsafe { stage.as_ref() } {
        // SAFETY: a stage has a virtual table of four functions.
        if let Some(stand_in) = unsafe { table::stand_in(made.table.get(), 4, &[(0, work as *const () as usize)]) } {
            made.table.set(stand_in);
        }
    }
    stage
}

/// # Safety
/// A virtual table, or what stands in for one.
unsafe fn own_function(of: *const usize) -> usize {
    let own = table::original(of).unwrap_or(of);
    // SAFETY: the caller's promise.
    unsafe { *own }
}

unsafe extern "C-unwind" fn work(stage: *const Stage, item: Pointer) -> Pointer {
    // SAFETY: libtbb passes a stage that `make` has made.
    let (own, serial) = unsafe { (own_function((*stage).table.get()), (*stage).mode & SERIAL != 0) };
    // SAFETY: the stage's own function, of this type.
    let function = unsafe { core::mem::transmute::<usize, Work>(own) };
    let noted = followed();
    if noted {
        if !item.is_null() {
            atomics::acquire(object(item));
        }
        if serial {
            let at = now();
            sync(at, at, stage.cast(), ticket(stage.cast()), Operation::Lock);
        }
    }
    // SAFETY: as libtbb calls it.
    let result = unsafe { function(stage, item) };
    if noted {
        if serial {
            let at = now();
            sync(at, at, stage.cast(), ticket(stage.cast()), Operation::Unlock);
        }
        if !result.is_null() {
            atomics::release(object(result));
        }
    }
    result
}

fn object(item: Pointer) -> u64 {
    item as u64 & (ITEM - 1) | ITEM
}

/// # Safety
/// A tree that describes a pipeline.
unsafe fn prepare(node: *const Node) {
    // SAFETY: the caller's promise: null or a node.
    let Some(node) = (unsafe { node.as_ref() }) else { return };
    if node.left.is_null() && node.right.is_null() {
        if table::original(node.table.get()).is_none() {
            // SAFETY: a leaf has a virtual table of three functions.
            if let Some(stand_in) = unsafe { table::stand_in(node.table.get(), 3, &[(0, make as *const () as usize)]) }
            {
                node.table.set(stand_in);
            }
        }
        return;
    }
    // SAFETY: as above.
    unsafe { prepare(node.left) };
    // SAFETY: as above.
    unsafe { prepare(node.right) };
}

#[export_name = "_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE"]
unsafe extern "C-unwind" fn parallel_pipeline(context: *const Context, tokens: usize, node: *const Node) {
    if followed() {
        // SAFETY: the caller's own.
        unsafe { prepare(node) };
    }
    original!(
        c"_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE",
        fn(*const Context, usize, *const Node) -> (),
        context,
        tokens,
        node
    );
}
