//! Which atomic operations let other threads take over what came before, or take over themselves.
//!
//! An operation that releases draws a ticket of its object before it is carried out, one that acquires draws one after: along
//! rising tickets every acquisition comes after the release that let it in. Relaxed operations do neither, unless the function
//! has a fence: then all of its relaxed loads acquire, or all of its relaxed stores release, as the fence does.
//!
//! Operations of a runtime's scheduler, compiled into the program, order tasks by accident: which task happened to run
//! before another on a thread. The run-time's events say what these order by design, so that here they are skipped. What
//! a wait of oneTBB waits for only releases: the wait acquires.

use crate::debug::path;
use crate::llvm::{opcode, text_with_zero, Llvm, Ref};

/// LLVM's orderings.
const RELAXED: i32 = 2;
/// Parts of paths of standard libraries.
const STANDARD: [&str; 5] = ["/include/c++/", "/rustc/", "library/core/", "library/alloc/", "library/std/"];
/// Parts of paths of schedulers.
const SCHEDULERS: [&str; 2] = ["/rayon-core-", "/crossbeam-epoch-"];
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

/// Fences of a function.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fences(Order);

impl Fences {
    /// Of a function.
    pub fn of(llvm: &Llvm, blocks: &[Ref]) -> Fences {
        let mut found = Order::default();
        let instructions = blocks.iter().flat_map(|block| llvm.instructions(*block));
        for fence in instructions.filter(|instruction| llvm.opcode(*instruction) == opcode::FENCE) {
            // The interface has no question for a fence's ordering that all versions understand.
            let message = llvm.print(fence);
            let shown = text_with_zero(message);
            llvm.dispose_message(message);
            if shown.contains("singlethread") {
                continue;
            }
            let both = shown.contains("acq_rel") || shown.contains("seq_cst");
            found.acquires |= both || shown.contains("acquire");
            found.releases |= both || shown.contains("release");
        }
        Fences(found)
    }
}

/// Pointer and order of an atomic operation; nothing for one that orders nothing.
pub fn order(llvm: &Llvm, instruction: Ref, fences: Fences) -> Option<(Ref, Order)> {
    let (pointer, ordering, all) = match llvm.opcode(instruction) {
        opcode::LOAD => (0, llvm.ordering(instruction), Order { releases: false, acquires: true }),
        opcode::STORE => (1, llvm.ordering(instruction), Order { releases: true, acquires: false }),
        opcode::RMW => (0, llvm.ordering(instruction), Order { releases: true, acquires: true }),
        opcode::CMPXCHG => (0, llvm.success_ordering(instruction), Order { releases: true, acquires: true }),
        _ => return None,
    };
    if ordering == 0 {
        return None;
    }
    let by_fence = ordering <= RELAXED;
    let mut order = Order {
        releases: all.releases && (!by_fence || fences.0.releases),
        acquires: all.acquires && (!by_fence || fences.0.acquires),
    };
    let pointer = llvm.operand(instruction, pointer);
    if order == Order::default() || llvm.address_space(llvm.type_of(pointer)) != 0 {
        return None;
    }
    if let Some(file) = file(llvm, instruction) {
        if SCHEDULERS.iter().any(|part| file.contains(part)) {
            return None;
        }
        order.acquires &= !file.contains(DONE);
    }
    (order != Order::default()).then_some((pointer, order))
}

/// File of the innermost function around an instruction that is none of a standard library.
fn file(llvm: &Llvm, instruction: Ref) -> Option<String> {
    let mut location = llvm.debug_location(instruction);
    while !location.is_null() {
        let scope = llvm.location_scope(location);
        let file = if scope.is_null() { scope } else { llvm.scope_file(scope) };
        if !file.is_null() {
            let name = path(llvm, file);
            if !STANDARD.iter().any(|part| name.contains(part)) {
                return Some(name);
            }
        }
        location = llvm.location_inlined_at(location);
    }
    None
}
