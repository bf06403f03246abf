//! Loops of one block whose accesses move by constant steps: one event stands for all their iterations.
//!
//! Such an event is written when the loop ends, on the way out, which gets a block of its own for it. It holds the addresses of
//! the first iteration and the number of iterations; steps that are constants are part of the description, others of the event. The way out knows the values of
//! the *next* iteration, which the loop computes anyway: from these the first addresses are `next − iterations × step`, so
//! that nothing else need be kept while the loop runs.
//!
//! **Invariant:** every address of such a loop is a line ([`crate::lines`]), and nothing between the iterations writes an event: it
//! has neither calls nor atomic operations.

use crate::lines::{Counter, Lines, Repeat, Repeats};
use crate::llvm::{opcode, Llvm, Ref};
use crate::plan::Planner;

/// Finds the loops, and makes their ways out.
pub fn prepare(planner: &Planner<'_>, context: Ref, function: Ref) -> Repeats {
    let llvm = planner.llvm;
    let loops = llvm.blocks(function).into_iter().skip(1);
    let loops = loops.filter_map(|block| Some((block, exit(llvm, block).filter(|_| is_plain(planner, block))?)));
    let loops: Vec<(Ref, Ref)> = loops.collect();
    let builder = llvm.create_builder(context);
    let split = |(block, exit): (Ref, Ref)| (block, split(llvm, builder, context, function, (block, exit)));
    let loops: Vec<(Ref, Ref)> = loops.into_iter().map(split).collect();
    // Values that blocks begin with were made anew: only now may they be kept.
    let blocks = llvm.blocks(function);
    let mut found = Repeats::new();
    for (block, way_out) in loops {
        let lines = Lines { llvm, layout: planner.layout, block };
        let counter = lines.counter().unwrap_or_else(|| count(llvm, builder, context, block, &blocks));
        found.insert(block, Repeat { block, way_out, counter });
    }
    llvm.dispose_builder(builder);
    found
}

/// Where a block leads that otherwise leads to itself alone.
fn exit(llvm: &Llvm, block: Ref) -> Option<Ref> {
    let end = llvm.terminator(block);
    if end.is_null() || llvm.opcode(end) != opcode::BR || llvm.successors(end) != 2 {
        return None;
    }
    match [0, 1].map(|number| llvm.successor(end, number)) {
        [again, exit] | [exit, again] if again == block && exit != block => Some(exit),
        _ => None,
    }
}

/// True if nothing else than plain accesses at lines is in the block.
fn is_plain(planner: &Planner<'_>, block: Ref) -> bool {
    let llvm = planner.llvm;
    let lines = Lines { llvm, layout: planner.layout, block };
    let mut slots = 1;
    llvm.instructions(block).into_iter().all(|instruction| {
        let code = llvm.opcode(instruction);
        let other = matches!(code, opcode::ALLOCA | opcode::FENCE | opcode::RMW | opcode::CMPXCHG);
        if other || code == opcode::CALL && !planner.is_intrinsic(instruction) {
            return false;
        }
        let operations = planner.operations(instruction);
        slots += 2 * operations.len();
        slots < workspan_trace::MOST_SLOTS && operations.iter().all(|operation| operation.growth(&lines).is_some())
    })
}

/// A counter of its own, from 0.
fn count(llvm: &Llvm, builder: Ref, context: Ref, block: Ref, blocks: &[Ref]) -> Counter {
    let word = llvm.int_type(context, 64);
    let zero = llvm.const_null(word);
    llvm.position_before(builder, llvm.first_instruction(block));
    let phi = llvm.build_phi(builder, word, c"".as_ptr());
    llvm.position_before(builder, llvm.terminator(block));
    let next = llvm.build_add(builder, phi, llvm.const_int(word, 1, 0), c"".as_ptr());
    for from in blocks {
        let end = llvm.terminator(*from);
        let count = if end.is_null() { 0 } else { llvm.successors(end) };
        // A switch may lead here by several cases: each of them counts.
        for _ in (0..count).filter(|number| llvm.successor(end, *number) == block) {
            let mut value = if *from == block { next } else { zero };
            let mut from = *from;
            llvm.add_incoming(phi, &raw mut value, &raw mut from, 1);
        }
    }
    Counter { next, first: zero, step: 1 }
}

/// A block between two.
fn split(llvm: &Llvm, builder: Ref, context: Ref, function: Ref, (from, to): (Ref, Ref)) -> Ref {
    let between = llvm.append_block(context, function, c"".as_ptr());
    llvm.position_at_end(builder, between);
    llvm.build_br(builder, to);
    let end = llvm.terminator(from);
    let number = u32::from(llvm.successor(end, 0) != to);
    llvm.set_successor(end, number, between);
    for phi in llvm.instructions(to).into_iter().take_while(|i| llvm.opcode(*i) == opcode::PHI) {
        llvm.position_before(builder, phi);
        let new = llvm.build_phi(builder, llvm.type_of(phi), c"".as_ptr());
        for number in 0..llvm.incoming_count(phi) {
            let mut value = llvm.incoming_value(phi, number);
            let block = llvm.incoming_block(phi, number);
            let mut block = if block == from { between } else { block };
            llvm.add_incoming(new, &raw mut value, &raw mut block, 1);
        }
        llvm.replace_uses(phi, new);
        llvm.erase(phi);
    }
    between
}
