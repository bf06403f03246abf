//! Copies of small objects of C++, as iterators are: a read and a write say the same, and leave the object a variable without an address.

use crate::llvm::{opcode, Llvm, Ref};
use crate::locals::{base, is_call_of, users_through};

/// Has small objects copied by a read and a write, where nothing but reads, writes and copies of the whole object uses its address.
pub(crate) fn plain(llvm: &Llvm, module: Ref) {
    let layout = llvm.data_layout(module);
    for function in llvm.functions(module) {
        if llvm.is_declaration(function) != 0 {
            continue;
        }
        let all: Vec<Ref> = llvm.blocks(function).into_iter().flat_map(|block| llvm.instructions(block)).collect();
        let copies: Vec<Ref> = all
            .into_iter()
            .filter(|instruction| {
                let size = copied(llvm, *instruction);
                size.is_some_and(|size| {
                    (0..2).any(|side| is_object(llvm, layout, base(llvm, llvm.operand(*instruction, side)), size))
                })
            })
            .collect();
        for copy in copies {
            replace(llvm, module, copy);
        }
    }
}

/// Bytes that an instruction copies, if a register holds them.
fn copied(llvm: &Llvm, instruction: Ref) -> Option<u64> {
    let is_copy = llvm.opcode(instruction) == opcode::CALL
        && llvm.callee(instruction).is_some_and(|callee| llvm.name(callee).starts_with("llvm.memcpy.p0.p0."))
        && llvm.constant(llvm.operand(instruction, 3)) == Some(0);
    if !is_copy {
        return None;
    }
    let size = llvm.constant(llvm.operand(instruction, 2))?;
    u64::try_from(size).ok().filter(|size| matches!(size, 1 | 2 | 4 | 8))
}

fn is_object(llvm: &Llvm, layout: Ref, alloca: Ref, size: u64) -> bool {
    let is_alloca = !llvm.is_a_instruction(alloca).is_null()
        && llvm.opcode(alloca) == opcode::ALLOCA
        && llvm.constant(llvm.operand(alloca, 0)) == Some(1);
    is_alloca
        && llvm.store_size(layout, llvm.allocated_type(alloca)) == size
        && users_through(llvm, alloca).into_iter().all(|user| match llvm.opcode(user) {
            opcode::LOAD => true,
            opcode::STORE => base(llvm, llvm.operand(user, 0)) != alloca,
            opcode::CALL => copied(llvm, user) == Some(size) || is_call_of(llvm, user, "llvm.lifetime."),
            _ => false,
        })
}

fn replace(llvm: &Llvm, module: Ref, copy: Ref) {
    let context = llvm.context_of(module);
    let bits = copied(llvm, copy).and_then(|size| u32::try_from(size * 8).ok()).unwrap_or(8);
    let (to, from, place) = (llvm.operand(copy, 0), llvm.operand(copy, 1), llvm.debug_location(copy));
    let builder = llvm.create_builder(context);
    llvm.position_before(builder, copy);
    let value = llvm.build_load(builder, llvm.int_type(context, bits), from, c"".as_ptr());
    let store = llvm.build_store(builder, value, to);
    for instruction in [value, store] {
        llvm.set_alignment(instruction, 1);
        llvm.set_debug_location(instruction, place);
    }
    llvm.erase(copy);
    llvm.dispose_builder(builder);
}
