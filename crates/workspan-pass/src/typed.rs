//! The type that the source gives to what an address reaches, by debug information: a variable, a member, an element, what a pointer
//! points to.
//!
//! **Invariant:** the address is in the object whose type is known, at a distance that is known up to whole elements: an index that
//! varies counts as 0. So the type is that of the first element, which all have.

use crate::address::offset_of_first;
use crate::llvm::{opcode, Llvm, Ref};
use crate::members::Types;
use crate::names::Declared;

/// How deep addresses are followed.
const DEEPEST: usize = 20;

/// Whether the integer of `bits` bits at an address has a sign, if its type is known.
pub(crate) fn signed(llvm: &Llvm, declared: &Declared, pointer: Ref, bits: u64) -> Option<bool> {
    let ty = reached(llvm, declared, pointer, 0)?;
    let types = Types { llvm, context: declared.context };
    // A pointer may have been that to another type.
    types.signed(ty).filter(|_| types.bits(ty) == bits)
}

/// Type of what lies at an address.
fn reached(llvm: &Llvm, declared: &Declared, pointer: Ref, depth: usize) -> Option<Ref> {
    let (object, offset) = object(llvm, declared, pointer, depth)?;
    Types { llvm, context: declared.context }.part(object, offset)
}

/// Type of the object that an address is in, and how far from its beginning.
fn object(llvm: &Llvm, declared: &Declared, pointer: Ref, depth: usize) -> Option<(Ref, i64)> {
    if depth > DEEPEST {
        return None;
    }
    let is_known = |ty: &Ref| !ty.is_null();
    if !llvm.is_a_global_variable(pointer).is_null() {
        return Some(declared.global_type(llvm, pointer)).filter(is_known).map(|ty| (ty, 0));
    }
    let types = Types { llvm, context: declared.context };
    if let Some(variable) = declared.declared(pointer) {
        // Of an argument only that is known: it is the variable, or the first part of a slice.
        let ty = if llvm.is_a_argument(pointer).is_null() { variable.ty } else { types.target(variable.ty) };
        return Some(ty).filter(is_known).map(|ty| (ty, 0));
    }
    let code = match () {
        () if !llvm.is_a_instruction(pointer).is_null() => llvm.opcode(pointer),
        () if !llvm.is_a_constant_expr(pointer).is_null() => llvm.const_opcode(pointer),
        () => return None,
    };
    match code {
        opcode::GEP if !declared.layout.is_null() => {
            let (ty, offset) = object(llvm, declared, llvm.operand(pointer, 0), depth + 1)?;
            Some((ty, offset.checked_add(offset_of_first(llvm, declared.layout, pointer)?)?))
        }
        opcode::LOAD => {
            let ty = reached(llvm, declared, llvm.operand(pointer, 0), depth + 1)?;
            let object = types.pointee(ty);
            // Rust's containers have pointers to bytes, whatever they hold.
            let is_erased = declared.is_rust && types.bits(object) == 8;
            Some(object).filter(|object| is_known(object) && !is_erased).map(|ty| (ty, 0))
        }
        _ => None,
    }
}
