//! Atomic operations that are updates: `atomic_fetch_add(&sum, x)`, `SUM.fetch_max(x, Relaxed)`, whose results nobody uses.
//!
//! **Argument:** what an operator that may be applied in any order makes of a variable is the same in any order; what was there before
//! shows in the result alone. Nobody uses a result if all that is computed from it is stored in variables that nobody reads.

use std::cell::Cell;

use workspan_trace::facts::Update;

use crate::alike::{step, STEPS};
use crate::llvm::{opcode, rmw, Llvm, Ref};
use crate::locals::{is_call_of, users};

/// What an atomic operation applies. Nothing for another instruction, and where the result is used.
pub(crate) fn atomic_update(llvm: &Llvm, instruction: Ref) -> Option<Update> {
    if llvm.opcode(instruction) != opcode::RMW {
        return None;
    }
    let update = match llvm.rmw_operator(instruction) {
        rmw::ADD | rmw::SUB | rmw::FADD | rmw::FSUB => Update::Sum,
        rmw::AND => Update::And,
        rmw::OR => Update::Or,
        rmw::XOR => Update::Xor,
        rmw::MAX | rmw::UMAX | rmw::FMAX => Update::Max,
        rmw::MIN | rmw::UMIN | rmw::FMIN => Update::Min,
        _ => return None,
    };
    is_unused(llvm, instruction, &Cell::new(STEPS)).then_some(update)
}

/// True if nothing depends on `value`. `left`: steps that may still be taken.
fn is_unused(llvm: &Llvm, value: Ref, left: &Cell<u32>) -> bool {
    users(llvm, value).into_iter().all(|user| {
        step(left)
            && match llvm.opcode(user) {
                opcode::STORE => llvm.operand(user, 0) == value && is_unread(llvm, llvm.operand(user, 1), left),
                opcode::ADD..=opcode::FMUL
                | opcode::SHL..=opcode::XOR
                | opcode::FIRST_CAST..=opcode::LAST_CAST
                | opcode::ICMP => is_unused(llvm, user, left),
                _ => false,
            }
    })
}

/// True for a variable of the function of which nobody uses what is read, and nobody else knows the address.
fn is_unread(llvm: &Llvm, pointer: Ref, left: &Cell<u32>) -> bool {
    let is_alloca = !llvm.is_a_instruction(pointer).is_null() && llvm.opcode(pointer) == opcode::ALLOCA;
    is_alloca
        && users(llvm, pointer).into_iter().all(|user| match llvm.opcode(user) {
            opcode::STORE => llvm.operand(user, 1) == pointer && llvm.volatile(user) == 0,
            opcode::LOAD => llvm.volatile(user) == 0 && is_unused(llvm, user, left),
            opcode::CALL => is_call_of(llvm, user, "llvm.lifetime"),
            _ => false,
        })
}
