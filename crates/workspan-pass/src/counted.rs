//! Atomic operations that are updates: `atomic_fetch_add(&sum, x)`, `SUM.fetch_max(x, Relaxed)`, of which nobody looks at the result.
//!
//! **Argument:** what an operator that may be applied in any order makes of a variable is the same in any order; what was there before
//! shows in the result alone. A result is used by nobody if all that is computed from it is stored in variables that nobody reads.

use workspan_trace::facts::Update;

use crate::alike::DEEPEST;
use crate::llvm::{opcode, Llvm, Ref};
use crate::locals::{is_scope, users};

/// What an atomic operation applies. Nothing for another instruction, and where the result is used.
pub(crate) fn counted(llvm: &Llvm, instruction: Ref) -> Option<Update> {
    if llvm.opcode(instruction) != opcode::RMW {
        return None;
    }
    // LLVM's numbers: `xchg` and `nand` depend on the order.
    let update = match llvm.rmw_operator(instruction) {
        1 | 2 | 11 | 12 => Update::Sum,
        3 => Update::And,
        5 => Update::Or,
        6 => Update::Xor,
        7 | 9 | 13 => Update::Max,
        8 | 10 | 14 => Update::Min,
        _ => return None,
    };
    is_unused(llvm, instruction, 0).then_some(update)
}

/// True if nothing that is done depends on `value`.
fn is_unused(llvm: &Llvm, value: Ref, depth: usize) -> bool {
    depth < DEEPEST
        && users(llvm, value).into_iter().all(|user| match llvm.opcode(user) {
            opcode::STORE => llvm.operand(user, 0) == value && is_unread(llvm, llvm.operand(user, 1), depth + 1),
            opcode::ADD..=opcode::FMUL
            | opcode::SHL..=opcode::XOR
            | opcode::FIRST_CAST..=opcode::LAST_CAST
            | opcode::ICMP => is_unused(llvm, user, depth + 1),
            _ => false,
        })
}

/// True for a variable of the function that is read for nothing, by nobody else. What is stored there itself is no matter.
fn is_unread(llvm: &Llvm, pointer: Ref, depth: usize) -> bool {
    let is_alloca = !llvm.is_a_instruction(pointer).is_null() && llvm.opcode(pointer) == opcode::ALLOCA;
    is_alloca
        && users(llvm, pointer).into_iter().all(|user| match llvm.opcode(user) {
            opcode::STORE => llvm.operand(user, 1) == pointer && llvm.volatile(user) == 0,
            opcode::LOAD => llvm.volatile(user) == 0 && is_unused(llvm, user, depth + 1),
            opcode::CALL => is_scope(llvm, user, "llvm.lifetime"),
            _ => false,
        })
}
