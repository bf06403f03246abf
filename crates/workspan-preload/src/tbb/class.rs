//! Classes of tasks: by their virtual tables, each of which has a stand-in here that tasks get while they are spawned.
//!
//! Between its spawn and its run only libtbb touches a task, and calls nothing but `execute` and `cancel`. The stand-in has
//! these two replaced, and the destructors and the type as they are.
//!
//! **Table**: open addressing by the address of the virtual table, append-only, no locks; an entry is published by one
//! exchange. **Cost** of a look-up: a multiplication and as a rule one comparison.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use workspan_collect::exclude::exclude_next;
use workspan_collect::platform;
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::abi::{Before, Run, Slots, Task};
use crate::dag::frame::Frame;

/// What a class of tasks is to its algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It splits itself: tasks of its class that it spawns are the same algorithm's.
    Splits,
    /// One of several that the caller spawns before it runs the last one and waits.
    Beside,
    /// The same; it spawns some of the others itself.
    Several,
    /// An algorithm's task runs it and waits for it, and for nothing that comes of it.
    Inner,
    /// The program creates it, and waits for its context.
    Single,
}

/// A class of tasks.
#[repr(C)]
#[derive(Debug)]
pub struct Class {
    /// Its own virtual table.
    pub original: *const Slots,
    /// The construct that makes such tasks.
    pub kind: SiteKind,
    /// What it is to that.
    pub role: Role,
    /// Its tasks are parts of an algorithm, which is the instance.
    pub parts: bool,
    /// Its tasks fold bodies when they are done.
    pub folds: bool,
    /// They run a body of the program's.
    pub has_body: bool,
    /// They let messages through a node that limits these, and run no body.
    pub forwards: bool,
    /// In which word of a task the address of its node is ([`node_word`]); 0: it has none.
    pub node_word: usize,
    /// Where the address of its body lies from the node on, in words ([`super::node`]).
    pub body_at: AtomicU32,
    /// Its mangled name; empty without RTTI.
    pub name: &'static str,
    /// As before the functions of the original.
    before: Before,
    /// What tasks get.
    pub stand_in: Slots,
}

// SAFETY: constant once it is published.
unsafe impl Sync for Class {}

const SLOTS: usize = 4096;
/// More are not followed.
const MOST: usize = SLOTS / 2;

static TABLE: [AtomicPtr<Class>; SLOTS] = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];

/// There is a class whose tasks fold.
static FOLDS: AtomicBool = AtomicBool::new(false);

/// True once a class has been met whose tasks fold.
#[inline]
pub fn are_folds() -> bool {
    FOLDS.load(Ordering::Relaxed)
}

/// What tasks get in the place of `execute` and `cancel`.
static RUNNERS: [AtomicPtr<()>; 2] = [const { AtomicPtr::new(ptr::null_mut()) }; 2];

/// Tasks that are spawned from now on are run, and cancelled, by these.
pub fn run_by(execute: Run, cancel: Run) {
    for (slot, function) in RUNNERS.iter().zip([execute, cancel]) {
        slot.store(function as *mut (), Ordering::Release);
    }
}

fn runners() -> Option<[Run; 2]> {
    let [execute, cancel] = [0, 1].map(|at: usize| RUNNERS[at].load(Ordering::Acquire));
    if execute.is_null() || cancel.is_null() {
        return None;
    }
    // SAFETY: not null, so stored by `run_by`, from functions of this type.
    Some([execute, cancel].map(|function| unsafe { core::mem::transmute::<*mut (), Run>(function) }))
}

/// True for the address of one of these.
pub fn is_runner(function: u64) -> bool {
    RUNNERS.iter().any(|known| known.load(Ordering::Relaxed) as u64 == function)
}

/// `task` is `frame` from now on, until it runs.
pub fn hand_over(task: &Task, class: &'static Class, frame: &'static Frame) {
    task.word().set(frame as *const Frame as u64);
    task.vtable.set(&class.stand_in);
}

/// True if `task` has been spawned before, and has not run.
///
/// # Safety
///
/// It has a virtual table.
#[inline(always)]
pub unsafe fn is_handed_over(task: &Task) -> bool {
    // SAFETY: the caller's promise.
    task.word().get() != 0 && is_runner(unsafe { (*task.vtable.get()).execute } as usize as u64)
}

/// The class of tasks with this virtual table. `None`: too many, or no memory.
///
/// # Safety
///
/// It is the virtual table of a task.
#[inline]
pub unsafe fn of(thread: &Thread, vtable: *const Slots) -> Option<&'static Class> {
    let mut slot = first_slot(vtable);
    for _ in 0..MOST {
        // SAFETY: null, or published by `add`, and never freed.
        let Some(class) = (unsafe { TABLE[slot].load(Ordering::Acquire).as_ref() }) else {
            // No strand pays for the first task of a class. SAFETY: the caller's promise.
            return exclude_next(thread, || unsafe { add(slot, vtable) });
        };
        if class.original == vtable {
            return Some(class);
        }
        slot = (slot + 1) % SLOTS;
    }
    None
}

/// The class of a task that has the stand-in.
///
/// # Safety
///
/// `stand_in` is what a task has for its virtual table from its spawn until it runs.
#[inline(always)]
pub unsafe fn of_stand_in(stand_in: *const Slots) -> &'static Class {
    // SAFETY: the caller's promise: the field of a class that lives for ever.
    unsafe { &*stand_in.byte_sub(core::mem::offset_of!(Class, stand_in)).cast::<Class>() }
}

fn first_slot(vtable: *const Slots) -> usize {
    ((vtable as u64 >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % SLOTS
}

/// # Safety
///
/// As of [`of`].
#[cold]
unsafe fn add(slot: usize, vtable: *const Slots) -> Option<&'static Class> {
    // SAFETY: every virtual table has these words before it.
    let before = unsafe { *vtable.cast::<Before>().sub(1) };
    // SAFETY: null, or the type's description, a constant of the program.
    let name = unsafe { before.type_info.as_ref() }.map_or("", |info| {
        // SAFETY: a terminated text, a constant of the program.
        let name = unsafe { CStr::from_ptr(info.name) }.to_bytes();
        core::str::from_utf8(name.strip_prefix(b"*").unwrap_or(name)).unwrap_or("")
    });
    let (kind, role) = recognise(name);
    let folds = does_fold(name);
    if folds {
        FOLDS.store(true, Ordering::Relaxed);
    }
    // SAFETY: the caller's promise.
    let own = unsafe { *vtable };
    let [execute, cancel] = runners()?;
    let stand_in = Slots { execute, cancel, ..own };
    let at = platform::map_private(size_of::<Class>(), false)?.cast::<Class>();
    // SAFETY: fresh memory of that size, page-aligned.
    unsafe {
        at.write(Class {
            original: vtable,
            kind,
            role,
            parts: is_algorithm(kind),
            folds,
            has_body: node_word(name) != 0 && !name.contains("21forward_task_bypassI"),
            forwards: node_word(name) != 0 && name.contains("21forward_task_bypassINS1_12limiter_nodeI"),
            node_word: node_word(name),
            body_at: AtomicU32::new(0),
            name,
            before,
            stand_in,
        });
    }
    let mut slot = slot;
    for _ in 0..MOST {
        match TABLE[slot].compare_exchange(ptr::null_mut(), at.as_ptr(), Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: just written, and never freed.
            Ok(_) => return Some(unsafe { at.as_ref() }),
            // SAFETY: published, and never freed.
            Err(found) if unsafe { (*found).original } == vtable => return unsafe { found.as_ref() },
            Err(_) => slot = (slot + 1) % SLOTS,
        }
    }
    None
}

impl Class {
    /// True if its tasks have the graph of their node, which is known ([`node_word`]).
    pub fn is_in_graph(&self) -> bool {
        self.node_word != 0
    }
}

/// In which word of a task of this class its node's address is; 0: it has none. Word 12 follows what all tasks of graphs
/// have; from oneTBB 2022 on there is one word more, and another one in those of messages that somebody waits for.
fn node_word(class: &str) -> usize {
    let is = |namespace: &str| {
        let rest = class.strip_prefix("N3tbb6detail").and_then(|rest| rest.strip_prefix(namespace));
        let names = ["22apply_body_task_bypassI", "22input_node_task_bypassI", "21forward_task_bypassI"];
        rest.is_some_and(|rest| names.iter().any(|name| rest.starts_with(name)))
    };
    match (is("2d1"), is("2d2")) {
        (true, _) => 12,
        (_, true) if class.contains("graph_task_with_message_waiters") => 14,
        (_, true) => 13,
        _ => 0,
    }
}

/// True for constructs of which a run as a whole is an instance, and not each task.
fn is_algorithm(kind: SiteKind) -> bool {
    use SiteKind::{ArenaTask, CallOnce, FlowGraph, TaskGroup, TbbTask};
    !matches!(kind, TaskGroup | FlowGraph | ArenaTask | TbbTask | CallOnce)
}

/// True for tasks of `parallel_reduce` and its like, whoever calls it.
fn does_fold(name: &str) -> bool {
    ["N3tbb6detail2d112start_reduceI", "N3tbb6detail2d126start_deterministic_reduceI"]
        .iter()
        .any(|begin| name.starts_with(begin))
}

/// The construct and the role, by the mangled name of the class.
fn recognise(name: &str) -> (SiteKind, Role) {
    use Role::{Beside, Inner, Several, Single, Splits};
    let has = |part: &str| name.contains(part);
    // With its length, as mangled names have it: no part of another name.
    if has("9start_forI") && (has("quick_sort_range") || has("quick_sort_pretest_body")) {
        return (SiteKind::ParallelSort, Splits);
    }
    // What `parallel_for_each` makes of items that can be indexed: a loop that its task runs, in the same context.
    if name.starts_with("N3tbb6detail2d19start_forI") && has("NS0_2d225parallel_for_body_wrapperI") {
        return (SiteKind::ParallelForEach, Inner);
    }
    if has("collaborative_once_") {
        return (SiteKind::CallOnce, Single);
    }
    if has("__pstl") {
        let role = if name.starts_with("N3tbb6detail2d116function_invokerI") { Beside } else { Splits };
        return (SiteKind::StdPar, role);
    }
    let known = [
        ("9start_forI", SiteKind::ParallelFor, Splits),
        ("12start_reduceI", SiteKind::ParallelReduce, Splits),
        ("26start_deterministic_reduceI", SiteKind::ParallelReduce, Splits),
        ("10start_scanI", SiteKind::ParallelScan, Splits),
        ("9final_sumI", SiteKind::ParallelScan, Splits),
        ("8sum_nodeI", SiteKind::ParallelScan, Splits),
        ("11finish_scanI", SiteKind::ParallelScan, Splits),
        ("16function_invokerI", SiteKind::ParallelInvoke, Beside),
        ("19invoke_subroot_taskI", SiteKind::ParallelInvoke, Several),
        ("18for_each_root_task", SiteKind::ParallelForEach, Splits),
        ("23for_each_iteration_taskI", SiteKind::ParallelForEach, Inner),
        ("16feeder_item_taskI", SiteKind::ParallelForEach, Splits),
        ("25input_block_handling_taskI", SiteKind::ParallelForEach, Splits),
        ("27forward_block_handling_taskI", SiteKind::ParallelForEach, Splits),
        ("10stage_task", SiteKind::ParallelPipeline, Splits),
        ("13function_taskI", SiteKind::TaskGroup, Single),
        ("19function_stack_taskI", SiteKind::TaskGroup, Single),
        ("12enqueue_taskI", SiteKind::ArenaTask, Single),
        ("graph_task", SiteKind::FlowGraph, Single),
        ("_task_bypassI", SiteKind::FlowGraph, Single),
        ("21forward_task_bypassI", SiteKind::FlowGraph, Single),
        ("priority_task_selector", SiteKind::FlowGraph, Single),
    ];
    // The class itself comes first, those that it is made of behind.
    let first = known.iter().filter_map(|row| Some((name.find(row.0)?, row))).min_by_key(|(at, _)| *at);
    first.map_or((SiteKind::TbbTask, Splits), |(_, (_, kind, role))| (*kind, *role))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_by_name() {
        let check = |name: &str, kind, role| assert_eq!(recognise(name), (kind, role), "{name}");
        let of = "N3tbb6detail2d1";
        check(
            &format!("{of}9start_forINS1_13blocked_rangeIiEEZ4mainEUlRKS4_E_KNS1_16auto_partitionerEEE"),
            SiteKind::ParallelFor,
            Role::Splits,
        );
        check(&format!("{of}9start_forINS1_16quick_sort_rangeIPiSt4lessIiEEEE"), SiteKind::ParallelSort, Role::Splits);
        check(&format!("{of}13function_taskIZ3fibiEUlvE_EE"), SiteKind::TaskGroup, Role::Single);
        check(
            &format!("{of}13function_taskIZ3fibIN3tbb6detail2d19start_forIiEEEUlvE_EE"),
            SiteKind::TaskGroup,
            Role::Single,
        );
        let indexed =
            "NS1_13blocked_rangeImEENS0_2d225parallel_for_body_wrapperIPdZ4mainEUlRdE_dEEKNS1_16auto_partitionerE";
        check(&format!("{of}9start_forI{indexed}E"), SiteKind::ParallelForEach, Role::Inner);
        check("N3tbb6detail2r110stage_taskE", SiteKind::ParallelPipeline, Role::Splits);
        check("", SiteKind::TbbTask, Role::Splits);
    }

    #[test]
    fn words_of_nodes_by_class() {
        let check = |class: &str, word| assert_eq!(node_word(class), word, "{class}");
        check("N3tbb6detail2d122apply_body_task_bypassINS1_14function_inputIiiEEiEE", 12);
        check("N3tbb6detail2d222apply_body_task_bypassINS1_14function_inputIiiEEiNS1_10graph_taskEEE", 13);
        check("N3tbb6detail2d222apply_body_task_bypassINS1_1nEiNS1_31graph_task_with_message_waitersEEE", 14);
        check("N3tbb6detail2d122input_node_task_bypassINS1_10input_nodeIiEEEE", 12);
        check("N3tbb6detail2d121forward_task_bypassINS1_11buffer_nodeIiEEEE", 12);
        check("N3tbb6detail2d122priority_task_selectorE", 0);
        check("", 0);
    }
}
