//! Which atomic operations let other threads take over what came before, or take over themselves.
//!
//! An operation that releases draws a ticket of its object before it is carried out, one that acquires draws one after: along
//! rising tickets every acquisition comes after the release that let it in. Relaxed operations do neither, but by the fences of
//! their function ([`crate::fences`]).
//!
//! Operations of a runtime's scheduler, compiled into the program, order tasks by accident: which task happened to run
//! before another on a thread. The run-time's events say what these order by design, so that here they are skipped. What
//! a wait of oneTBB waits for only releases: the wait acquires. That libstdc++ counts which threads wait for an atomic orders them by
//! accident, too: a thread that is let go on reads the atomic itself again.

use crate::debug::file_of_scope;
use crate::llvm::{opcode, Llvm, Ref};

/// LLVM's orderings up to this one order nothing.
pub(crate) const RELAXED: i32 = 2;
/// Parts of paths of standard libraries.
const STANDARD: [&str; 5] = ["/include/c++/", "/rustc/", "library/core/", "library/alloc/", "library/std/"];
/// Parts of paths of schedulers.
const SCHEDULERS: [&str; 2] = ["/rayon-core-", "/crossbeam-epoch-"];
/// The file of libstdc++ that counts who waits for an atomic.
const WAITERS: &str = "bits/atomic_wait.h";
/// The file of oneTBB in which tasks report that they are done.
const DONE: &str = "tbb/detail/_task.h";

/// What an atomic operation does to the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Lets others take over.
    pub releases: bool,
    /// Takes over.
    pub acquires: bool,
}

/// An atomic operation.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What it operates on.
    pub pointer: Ref,
    /// LLVM's number of its ordering.
    pub ordering: i32,
    /// What an operation of its kind may do.
    pub may: Order,
}

impl Target {
    /// Nothing for what is no atomic operation.
    pub fn of(llvm: &Llvm, instruction: Ref) -> Option<Target> {
        let (pointer, ordering, may) = match llvm.opcode(instruction) {
            opcode::LOAD => (0, llvm.ordering(instruction), Order { releases: false, acquires: true }),
            opcode::STORE => (1, llvm.ordering(instruction), Order { releases: true, acquires: false }),
            opcode::RMW => (0, llvm.ordering(instruction), Order { releases: true, acquires: true }),
            opcode::CMPXCHG => (0, llvm.success_ordering(instruction), Order { releases: true, acquires: true }),
            _ => return None,
        };
        let pointer = llvm.operand(instruction, pointer);
        let counts = ordering != 0 && llvm.address_space(llvm.type_of(pointer)) == 0;
        if !counts || is_of_waiters(llvm, instruction) {
            return None;
        }
        let may = may.of_file(file(llvm, instruction).as_deref());
        (may != Order::default()).then_some(Target { pointer, ordering, may })
    }
}

impl Order {
    /// The same in code of a file, if it is known.
    fn of_file(self, file: Option<&str>) -> Order {
        match file {
            Some(file) if SCHEDULERS.iter().any(|part| file.contains(part)) => Order::default(),
            Some(file) => Order { acquires: self.acquires && !file.contains(DONE), ..self },
            None => self,
        }
    }
}

/// True in [`WAITERS`].
fn is_of_waiters(llvm: &Llvm, instruction: Ref) -> bool {
    let location = llvm.debug_location(instruction);
    !location.is_null() && file_of_scope(llvm, llvm.location_scope(location)).ends_with(WAITERS)
}

/// File of the innermost function around an instruction that is none of a standard library.
fn file(llvm: &Llvm, instruction: Ref) -> Option<String> {
    let mut location = llvm.debug_location(instruction);
    while !location.is_null() {
        let name = file_of_scope(llvm, llvm.location_scope(location));
        if !name.is_empty() && !STANDARD.iter().any(|part| name.contains(part)) {
            return Some(name);
        }
        location = llvm.location_inlined_at(location);
    }
    None
}
