//! Loads stay where the source has them.
//!
//! **Argument:** where control flow meets, LLVM makes one load of two whose values meet: in the head of a loop, an iteration later than the
//! source reads, and on no line. It does not do that to loads with an ordering. The weakest ordering changes nothing else of
//! interest: such loads are still forwarded, and removed where nobody needs them.

use crate::llvm::{opcode, type_kind, Llvm, Ref};

/// LLVM's weakest ordering, which no source language has.
const UNORDERED: i32 = 1;
const NONE: i32 = 0;

/// Gives loads of numbers and pointers an ordering.
pub fn hold(llvm: &Llvm, module: Ref) {
    change(llvm, module, NONE, UNORDERED);
}

/// Takes it away again.
pub fn release(llvm: &Llvm, module: Ref) {
    change(llvm, module, UNORDERED, NONE);
}

fn change(llvm: &Llvm, module: Ref, from: i32, to: i32) {
    for function in llvm.functions(module) {
        for load in llvm.blocks(function).into_iter().flat_map(|block| llvm.instructions(block)) {
            if llvm.opcode(load) == opcode::LOAD && llvm.ordering(load) == from && may_have_one(llvm, load) {
                llvm.set_ordering(load, to);
            }
        }
    }
}

/// Numbers whose bits are whole bytes, and pointers.
fn may_have_one(llvm: &Llvm, load: Ref) -> bool {
    let ty = llvm.type_of(load);
    match llvm.type_kind(ty) {
        type_kind::INTEGER => matches!(llvm.int_width(ty), 8 | 16 | 32 | 64),
        type_kind::POINTER | type_kind::FIRST_FLOAT..=type_kind::DOUBLE => true,
        _ => false,
    }
}
