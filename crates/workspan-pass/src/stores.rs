//! Stores stay where the source has them.
//!
//! LLVM makes one store of two whose ways meet, of whichever value was on the way: `c += 1` in a loop is then written in the head of the
//! loop, an iteration later than the source writes it.
//!
//! **Argument:** a store at the beginning of a block, of what a `phi` chose there for it alone, does the same at the end of all blocks before
//! it, if none of them leads elsewhere: nothing stands in between that could see memory. Only stores that are on no line and column are taken
//! apart: LLVM gives none to one that it made of two.

use crate::debug::shown;
use crate::llvm::{opcode, Llvm, Ref};
use crate::locals::users;

/// Takes apart what LLVM made one.
pub(crate) fn split(llvm: &Llvm, module: Ref) {
    let builder = llvm.create_builder(llvm.context_of(module));
    for block in llvm.functions(module).into_iter().flat_map(|function| llvm.blocks(function)) {
        while let Some((store, phi)) = merged(llvm, block) {
            for at in 0..llvm.incoming_count(phi) {
                let (value, end) = (llvm.incoming_value(phi, at), llvm.terminator(llvm.incoming_block(phi, at)));
                llvm.position_before(builder, end);
                let own = llvm.build_store(builder, value, llvm.operand(store, 1));
                llvm.set_alignment(own, llvm.alignment(store));
                let place = Some(value).filter(|value| !llvm.is_a_instruction(*value).is_null());
                let place = place.map(|value| llvm.debug_location(value)).filter(|place| !place.is_null());
                llvm.set_debug_location(own, place.unwrap_or_else(|| llvm.debug_location(end)));
            }
            llvm.erase(store);
            llvm.erase(phi);
        }
    }
    llvm.dispose_builder(builder);
}

/// A store that was two, and what chose its value.
fn merged(llvm: &Llvm, block: Ref) -> Option<(Ref, Ref)> {
    let all = llvm.instructions(block);
    let touches = |at: &Ref| !matches!(llvm.opcode(*at), opcode::PHI | opcode::GEP | opcode::STORE);
    let first = all.iter().take_while(|at| !touches(at)).copied();
    let stores: Vec<Ref> = first.filter(|at| llvm.opcode(*at) == opcode::STORE).collect();
    // Stores that follow one another have been several before, too.
    let first = *stores.first()?;
    let phi = llvm.operand(first, 0);
    let is_phi =
        !llvm.is_a_instruction(phi).is_null() && llvm.opcode(phi) == opcode::PHI && llvm.block_of(phi) == block;
    (is_phi
        && is_on_no_place(llvm, first)
        && is_plain(llvm, first)
        && is_elsewhere(llvm, llvm.operand(first, 1), block)
        && users(llvm, phi) == [first]
        && (0..llvm.incoming_count(phi)).all(|at| leads_nowhere_else(llvm, llvm.incoming_block(phi, at))))
    .then_some((first, phi))
}

fn is_on_no_place(llvm: &Llvm, store: Ref) -> bool {
    let place = shown(llvm, llvm.debug_location(store));
    place.is_null() || llvm.location_line(place) == 0 || llvm.location_column(place) == 0
}

fn is_plain(llvm: &Llvm, store: Ref) -> bool {
    llvm.volatile(store) == 0 && llvm.ordering(store) == 0
}

/// True for an address that is there before a block begins.
fn is_elsewhere(llvm: &Llvm, pointer: Ref, block: Ref) -> bool {
    llvm.is_a_instruction(pointer).is_null() || llvm.block_of(pointer) != block
}

fn leads_nowhere_else(llvm: &Llvm, block: Ref) -> bool {
    let end = llvm.terminator(block);
    llvm.opcode(end) == opcode::BR && llvm.is_conditional(end) == 0
}
