//! Ways through a function: who comes to a block.

use crate::llvm::{opcode, Llvm, Ref};

/// How many ways of a function with these blocks lead to `block`.
pub fn lead_to(llvm: &Llvm, blocks: &[Ref], block: Ref) -> usize {
    let ways = blocks.iter().flat_map(|from| {
        let end = llvm.terminator(*from);
        (0..llvm.successors(end)).map(move |at| llvm.successor(end, at))
    });
    ways.filter(|to| *to == block).count()
}

/// The first instruction that runs only behind a call; none where others come there, too.
pub fn first_behind(llvm: &Llvm, blocks: &[Ref], call: Ref) -> Option<Ref> {
    if llvm.opcode(call) != opcode::INVOKE {
        return Some(llvm.next_instruction(call)).filter(|next| !next.is_null());
    }
    let next = llvm.successor(call, 0);
    let first = llvm.first_instruction(next);
    (lead_to(llvm, blocks, next) == 1 && llvm.opcode(first) != opcode::PHI).then_some(first)
}
