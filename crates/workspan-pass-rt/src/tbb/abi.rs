//! What libtbb and the programs that use it have agreed on: the layout of tasks and contexts, as all versions of
//! `libtbb.so.12` have it.

use core::cell::Cell;
use core::ffi::{c_char, c_int, c_void, CStr};
use core::sync::atomic::{AtomicU64, AtomicU8, AtomicUsize, Ordering};

use super::table;
use crate::original;

/// Interface versions whose layout is the one below: oneTBB 2021.1 to 2022.x.
const VERSIONS: core::ops::Range<c_int> = 12010..12200;

/// `tbb::detail::d1::task`.
#[repr(C)]
#[derive(Debug)]
pub struct Task {
    /// Its virtual table: destructors, `execute`, `cancel`.
    pub table: Cell<*const usize>,
    traits: Cell<u64>,
    reserved: [Cell<u64>; 6],
}

/// Numbers of functions in the virtual table of a task.
pub const EXECUTE: usize = 2;
/// As above.
pub const CANCEL: usize = 3;

impl Task {
    /// The word that is ours while the task is spawned.
    pub fn word(&self) -> &Cell<u64> {
        &self.reserved[5]
    }
}

/// `tbb::detail::d1::execution_data`.
#[repr(C)]
#[derive(Debug)]
pub struct Execution {
    /// The context of the task that runs.
    pub context: *const Context,
}

/// `tbb::detail::d1::task_group_context`: 128 bytes, of which the last ones pad it.
#[repr(C)]
#[derive(Debug)]
pub struct Context {
    theirs: [Cell<u64>; 14],
    /// Ours: says that the next one is.
    pub mark: Cell<u64>,
    /// Ours: the gather of tasks that are waited for by this context.
    pub gather: AtomicU64,
}

/// Where in `tbb::detail::d1::wait_context` the count of tasks is that are not done.
pub const COUNT: usize = 8;

/// What a class of tasks is to its algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It splits itself: tasks that it spawns in its context are the same algorithm's.
    Splits,
    /// One of several that the caller spawns before it runs the last one and waits.
    Beside,
    /// The same; it spawns some of the others itself.
    Several,
    /// The program creates it, and waits for its context.
    Single,
}

/// The role of tasks with a virtual table.
///
/// # Safety
/// It is the virtual table of a task.
pub unsafe fn role(table: *const usize) -> Role {
    // SAFETY: every virtual table has the address of the type's description before it, or null.
    let info = unsafe { *table.sub(1) } as *const *const c_char;
    if info.is_null() {
        return Role::Splits;
    }
    // SAFETY: a type's description has its name behind its own virtual table, a text that ends in a zero.
    let name = unsafe { CStr::from_ptr(*info.add(1)) }.to_bytes();
    by_name(name)
}

/// With their lengths, as mangled names have them: no part of another name. The class itself comes first.
fn by_name(name: &[u8]) -> Role {
    const KNOWN: [(&[u8], Role); 9] = [
        (b"16function_invokerI", Role::Beside),
        (b"19invoke_subroot_taskI", Role::Several),
        (b"13function_taskI", Role::Single),
        (b"19function_stack_taskI", Role::Single),
        (b"12enqueue_taskI", Role::Single),
        (b"graph_task", Role::Single),
        (b"_task_bypassI", Role::Single),
        (b"priority_task_selector", Role::Single),
        (b"9start_forI", Role::Splits),
    ];
    let place = |part: &[u8]| name.windows(part.len()).position(|window| window == part);
    let first = KNOWN.iter().filter_map(|(part, role)| Some((place(part)?, *role))).min_by_key(|(at, _)| *at);
    first.map_or(Role::Splits, |(_, role)| role)
}

const UNKNOWN: u8 = 0;
const KNOWN: u8 = 1;
const OTHER: u8 = 2;
static VERSION: AtomicU8 = AtomicU8::new(UNKNOWN);

/// True if libtbb's tasks are followed: another version is left alone, and counted.
pub fn followed() -> bool {
    match VERSION.load(Ordering::Relaxed) {
        KNOWN => crate::event::wanted(),
        OTHER => false,
        _ => {
            if !crate::event::wanted() {
                return false;
            }
            let version = original!(c"TBB_runtime_interface_version", fn() -> c_int,);
            find();
            let known = VERSIONS.contains(&version);
            VERSION.store(if known { KNOWN } else { OTHER }, Ordering::Relaxed);
            if let Some(header) = crate::shared::header().filter(|_| !known) {
                header.untracked.fetch_add(1, Ordering::Relaxed);
            }
            known
        }
    }
}

/// First address of libtbb's code, and the one after its last.
static OWN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// True if an address is in libtbb, whose threads and locks are its own business.
pub fn owns(address: usize) -> bool {
    (OWN[0].load(Ordering::Relaxed)..OWN[1].load(Ordering::Relaxed)).contains(&address)
}

/// Finds libtbb, if it is loaded: it uses locks before it is called.
pub fn find() {
    let function = crate::original::address(c"TBB_runtime_interface_version");
    if function == 0 {
        return;
    }
    let (first, end) = crate::c::object_at(function);
    OWN[0].store(first, Ordering::Relaxed);
    OWN[1].store(end, Ordering::Relaxed);
}

fn mark(context: &Context) -> u64 {
    (context as *const Context as u64) ^ 0x5bd1_e995_9d74_a3c1
}

impl Context {
    /// It begins.
    pub fn begin(&self) {
        self.mark.set(mark(self));
        self.gather.store(0, Ordering::Relaxed);
    }

    /// It ends.
    pub fn end(&self) {
        self.mark.set(0);
    }

    /// What is gathered by it; 0: nothing, or it began before us.
    pub fn gathered(&self) -> u32 {
        if self.mark.get() == mark(self) {
            self.gather.load(Ordering::Acquire) as u32
        } else {
            0
        }
    }

    /// The same; a new number if there is none.
    pub fn gather(&self) -> u32 {
        let known = self.gathered();
        if known != 0 || self.mark.get() != mark(self) {
            return known;
        }
        let new = crate::tasks::gather();
        match self.gather.compare_exchange(0, new.into(), Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => new,
            Err(found) => found as u32,
        }
    }

    /// Who waits takes what is gathered; what comes later is another wait's.
    pub fn take(&self, gather: u32) {
        if self.mark.get() == mark(self) && gather != 0 {
            let _ = self.gather.compare_exchange(gather.into(), 0, Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}

/// `task` is this context, of this gather, from now on, until it runs.
pub fn hand_over(task: &Task, context: u32, gather: u32, siblings: bool, runners: [usize; 2]) {
    let own = task.table.get();
    if context == 0 || table::original(own).is_some() {
        return;
    }
    // SAFETY: a task has a virtual table of four functions.
    let stand_in = unsafe { table::stand_in(own, 4, &[(EXECUTE, runners[0]), (CANCEL, runners[1])]) };
    if let Some(stand_in) = stand_in {
        task.word().set(u64::from(context) | u64::from(gather & 0x7fff_ffff) << 32 | u64::from(siblings) << 63);
        task.table.set(stand_in);
    }
}

/// Anything that libtbb calls.
pub type Pointer = *const c_void;

const _: () = assert!(size_of::<Context>() == 128 && size_of::<Task>() == 64);
