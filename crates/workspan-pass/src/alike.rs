//! Whether two values are computed in the same way, from the same values.

use std::cell::Cell;

use crate::library::is_mathematics;
use crate::llvm::{opcode, Llvm, Ref};
use crate::reached::copied_descriptor;

/// How deep expressions are followed.
pub(crate) const DEEPEST: usize = 24;
/// How many steps are taken for an expression: expressions share parts, so that there are many ways through them.
pub(crate) const STEPS: u32 = 1000;

/// True if two values are computed in the same way.
pub(crate) fn same(llvm: &Llvm, left: Ref, right: Ref, depth: usize) -> bool {
    alike(llvm, left, right, depth, &Cell::new(STEPS))
}

/// Takes a step, if there is one left.
pub(crate) fn step(left: &Cell<u32>) -> bool {
    let now = left.get();
    left.set(now.saturating_sub(1));
    now > 0
}

fn alike(llvm: &Llvm, left: Ref, right: Ref, depth: usize, steps: &Cell<u32>) -> bool {
    if left == right {
        return true;
    }
    if depth > DEEPEST
        || !step(steps)
        || llvm.is_a_instruction(left).is_null()
        || llvm.is_a_instruction(right).is_null()
    {
        return false;
    }
    let code = llvm.opcode(left);
    if code != llvm.opcode(right) || llvm.operands(left) != llvm.operands(right) {
        return false;
    }
    if code == opcode::ALLOCA {
        // Two copies of one descriptor.
        let copied = [left, right].map(|alloca| copied_descriptor(llvm, alloca));
        return matches!(copied, [Some(left), Some(right)] if alike(llvm, left, right, depth + 1, steps));
    }
    let is_pure = |name: &str| name.starts_with("llvm.") || is_mathematics(name);
    let is_pure = |call: Ref| llvm.callee(call).is_some_and(|callee| is_pure(&llvm.name(callee)));
    let pure = code == opcode::CALL && is_pure(left)
        || matches!(code, opcode::GEP | opcode::LOAD | opcode::SELECT | opcode::ADD..=opcode::XOR)
        || (opcode::FIRST_CAST..=opcode::LAST_CAST).contains(&code);
    let count = u32::try_from(llvm.operands(left)).unwrap_or(0);
    pure && llvm.type_of(left) == llvm.type_of(right)
        && (code != opcode::GEP || llvm.gep_source_type(left) == llvm.gep_source_type(right))
        && (0..count).all(|at| alike(llvm, llvm.operand(left, at), llvm.operand(right, at), depth + 1, steps))
}
