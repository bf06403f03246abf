//! Loops that Rust's library has in each other for one of the source: `for x in v.iter().filter(f)` looks for the next `x` in a loop of its
//! own.
//!
//! **Argument:** a head that does nothing but go on to the head of a loop within can be skipped, since who comes to the one could come to the
//! other. The two are one loop of the source if the inner one goes on where it was left, with what it keeps for the library, and its end
//! ends the outer one as well: then each round of either takes the next element.

use std::collections::HashSet;

use crate::cfg::{graph, loops, Loops};
use crate::debug::in_library;
use crate::llvm::{opcode, Llvm, Ref};

/// Makes one loop of such two, in all functions.
pub(crate) fn join(llvm: &Llvm, module: Ref) {
    let builder = llvm.create_builder(llvm.context_of(module));
    for function in llvm.functions(module) {
        while let Some(pair) = find(llvm, function) {
            pair.join(llvm, builder);
        }
    }
    llvm.dispose_builder(builder);
}

struct Pair {
    outer: Ref,
    inner: Ref,
    /// Blocks that lead to the outer head, and those that lead to the inner one besides.
    to_outer: Vec<Ref>,
    to_inner: Vec<Ref>,
}

fn find(llvm: &Llvm, function: Ref) -> Option<Pair> {
    if llvm.is_declaration(function) != 0 {
        return None;
    }
    let blocks = llvm.blocks(function);
    let (_, successors) = graph(llvm, &blocks);
    let all = loops(&successors);
    (0..all.loops.len()).find_map(|inner| {
        let outer = all.loops[inner].parent?;
        let [of_outer, of_inner] = [outer, inner].map(|number| all.loops[number].header);
        let only_goes_on =
            llvm.instructions(blocks[of_outer]).iter().all(|at| matches!(llvm.opcode(*at), opcode::PHI | opcode::BR));
        let is_one = only_goes_on
            && successors[of_outer] == [of_inner]
            && ends_both(&all, inner, outer)
            && goes_on(llvm, &blocks, &all, inner);
        let to = |block: usize| (0..blocks.len()).filter(|from| successors[*from].contains(&block)).collect::<Vec<_>>();
        let (to_outer, mut to_inner) = (to(of_outer), to(of_inner));
        to_inner.retain(|at| *at != of_outer);
        // A way is one by its block alone.
        let branches = |at: &usize| llvm.opcode(llvm.terminator(blocks[*at])) == opcode::BR && !to_inner.contains(at);
        let handles = |all: &[usize]| all.iter().map(|at| blocks[*at]).collect();
        (is_one && to_outer.iter().all(branches)).then(|| Pair {
            outer: blocks[of_outer],
            inner: blocks[of_inner],
            to_outer: handles(&to_outer),
            to_inner: handles(&to_inner),
        })
    })
}

/// True if a way out of the inner loop's head leaves the outer one, too.
fn ends_both(all: &Loops, inner: usize, outer: usize) -> bool {
    let next = &all.successors[all.loops[inner].header];
    next.iter().any(|next| !all.contains(outer, *next)) && next.iter().any(|next| all.contains(inner, *next))
}

/// True if what the library tests at the inner head is what it was left with.
fn goes_on(llvm: &Llvm, blocks: &[Ref], all: &Loops, inner: usize) -> bool {
    let head = blocks[all.loops[inner].header];
    let outer = all.loops[inner].parent.map(|outer| blocks[all.loops[outer].header]);
    let is_phi_of = |value: Ref, block: Ref| {
        !llvm.is_a_instruction(value).is_null() && llvm.opcode(value) == opcode::PHI && llvm.block_of(value) == block
    };
    let end = llvm.terminator(head);
    if llvm.opcode(end) != opcode::BR || llvm.is_conditional(end) == 0 {
        return false;
    }
    let (mut open, mut seen, mut found) = (vec![llvm.operand(end, 0)], HashSet::new(), false);
    while let Some(value) = open.pop() {
        if llvm.is_a_instruction(value).is_null() || llvm.block_of(value) != head || !seen.insert(value) {
            continue;
        }
        if llvm.opcode(value) == opcode::PHI {
            found |= (0..llvm.incoming_count(value))
                .any(|at| outer.is_some_and(|outer| is_phi_of(llvm.incoming_value(value, at), outer)));
            continue;
        }
        if in_library(llvm, llvm.debug_location(value)) != Some(true) {
            return false;
        }
        open.extend((0..u32::try_from(llvm.operands(value)).unwrap_or(0)).map(|at| llvm.operand(value, at)));
    }
    found
}

impl Pair {
    fn join(&self, llvm: &Llvm, builder: Ref) {
        let (of_outer, of_inner) = (phis(llvm, self.outer), phis(llvm, self.inner));
        llvm.position_before(builder, llvm.first_instruction(self.inner));
        let make = |old: Ref| llvm.build_phi(builder, llvm.type_of(old), c"".as_ptr());
        let inner = of_inner.iter().map(|old| {
            let (new, through) = (make(*old), from(llvm, *old, self.outer));
            for block in &self.to_outer {
                let value = if of_outer.contains(&through) { from(llvm, through, *block) } else { through };
                add(llvm, new, value, *block);
            }
            self.to_inner.iter().for_each(|block| add(llvm, new, from(llvm, *old, *block), *block));
            (*old, new)
        });
        let mut made: Vec<(Ref, Ref)> = inner.collect();
        // A round of the inner loop leaves what the outer one carries as it was.
        made.extend(of_outer.iter().map(|old| {
            let new = make(*old);
            self.to_outer.iter().for_each(|block| add(llvm, new, from(llvm, *old, *block), *block));
            self.to_inner.iter().for_each(|block| add(llvm, new, new, *block));
            (*old, new)
        }));
        for (old, new) in &made {
            llvm.replace_uses(*old, *new);
        }
        for (old, _) in made {
            llvm.erase(old);
        }
        for end in self.to_outer.iter().map(|block| llvm.terminator(*block)) {
            let ways = (0..llvm.successors(end)).filter(|at| llvm.successor(end, *at) == self.outer);
            ways.collect::<Vec<_>>().into_iter().for_each(|at| llvm.set_successor(end, at, self.inner));
        }
        llvm.delete_block(self.outer);
    }
}

fn phis(llvm: &Llvm, block: Ref) -> Vec<Ref> {
    llvm.instructions(block).into_iter().take_while(|at| llvm.opcode(*at) == opcode::PHI).collect()
}

/// What a `phi` takes from a block.
fn from(llvm: &Llvm, phi: Ref, block: Ref) -> Ref {
    let at = (0..llvm.incoming_count(phi)).find(|at| llvm.incoming_block(phi, *at) == block);
    at.map_or_else(|| llvm.undefined(llvm.type_of(phi)), |at| llvm.incoming_value(phi, at))
}

fn add(llvm: &Llvm, phi: Ref, mut value: Ref, mut block: Ref) {
    llvm.add_incoming(phi, &raw mut value, &raw mut block, 1);
}
