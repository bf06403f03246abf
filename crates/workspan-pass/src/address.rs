//! Constant distances: which addresses need not be recorded, since another one or the linker knows them.

use crate::llvm::{opcode, type_kind, Llvm, Ref, INTERNAL, PRIVATE};

/// An address as a base and a constant distance from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// A value that is no address computed with constants.
    pub base: Ref,
    /// Bytes.
    pub offset: i64,
}

/// Takes constant steps off an address.
pub fn distance(llvm: &Llvm, layout: Ref, pointer: Ref) -> Distance {
    let mut at = Distance { base: pointer, offset: 0 };
    loop {
        let code = code(llvm, at.base);
        let step = match code {
            Some(opcode::GEP) => constant_offset(llvm, layout, at.base),
            Some(opcode::BITCAST) => Some(0),
            _ => None,
        };
        let Some(offset) = step.and_then(|step| at.offset.checked_add(step)) else {
            return at;
        };
        at = Distance { base: llvm.operand(at.base, 0), offset };
    }
}

/// A global variable whose address the linker knows, and which may be named from anywhere in the object.
pub fn is_linked_variable(llvm: &Llvm, value: Ref) -> bool {
    if llvm.is_a_global_variable(value).is_null() || llvm.is_thread_local(value) != 0 {
        return false;
    }
    // A local one in a group that the linker may discard must not be named from outside the group.
    let local = matches!(llvm.linkage(value), INTERNAL | PRIVATE);
    llvm.address_space(llvm.type_of(value)) == 0 && (!local || llvm.comdat(value).is_null())
}

fn code(llvm: &Llvm, value: Ref) -> Option<i32> {
    if !llvm.is_a_instruction(value).is_null() {
        Some(llvm.opcode(value))
    } else if !llvm.is_a_constant_expr(value).is_null() {
        Some(llvm.const_opcode(value))
    } else {
        None
    }
}

/// What a `getelementptr` adds, if it is constant.
pub(crate) fn constant_offset(llvm: &Llvm, layout: Ref, gep: Ref) -> Option<i64> {
    offset(llvm, layout, gep, None)
}

/// The same, where indices that vary are 0: what it adds for the first of several elements.
pub(crate) fn offset_of_first(llvm: &Llvm, layout: Ref, gep: Ref) -> Option<i64> {
    offset(llvm, layout, gep, Some(0))
}

/// The same, with a value for indices that vary.
fn offset(llvm: &Llvm, layout: Ref, gep: Ref, varying: Option<i64>) -> Option<i64> {
    if llvm.type_kind(llvm.type_of(gep)) != type_kind::POINTER {
        return None;
    }
    let mut ty = llvm.gep_source_type(gep);
    let mut total: i64 = 0;
    for number in 1..u32::try_from(llvm.operands(gep)).ok()? {
        let index = llvm.constant(llvm.operand(gep, number)).or(varying)?;
        let size = |ty| i64::try_from(llvm.abi_size(layout, ty)).ok();
        let step = if number == 1 {
            if llvm.type_kind(ty) == type_kind::SCALABLE_VECTOR {
                return None;
            }
            index.checked_mul(size(ty)?)?
        } else if llvm.type_kind(ty) == type_kind::STRUCT {
            let field = u32::try_from(index).ok()?;
            let offset = llvm.offset_of_element(layout, ty, field);
            ty = llvm.struct_element(ty, field);
            i64::try_from(offset).ok()?
        } else if matches!(llvm.type_kind(ty), type_kind::ARRAY | type_kind::VECTOR) {
            ty = llvm.element_type(ty);
            index.checked_mul(size(ty)?)?
        } else {
            return None;
        };
        total = total.checked_add(step)?;
    }
    Some(total)
}
