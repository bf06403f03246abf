//! What a function's fences have its relaxed operations do.
//!
//! What comes after an acquiring fence takes over what was released at the objects that were read before it. So an operation that does
//! not acquire by itself does so at the first acquiring fences on the ways from it. If its pointer is not known there, a local variable
//! keeps it: of several objects that it has read, the last. A relaxed operation with a releasing fence on the ways to it releases.
//!
//! **Cost:** a look at each instruction; in functions with a fence, for each such operation the blocks up to the next fences.

use std::collections::{HashMap, HashSet};

use crate::atomics::{Order, Target, RELAXED};
use crate::cfg::Loops;
use crate::llvm::{opcode, text_with_zero, Llvm, Ref};

/// What fences have operations do that are too weak to do it themselves.
#[derive(Debug, Default)]
pub struct Fences {
    /// Operations that release.
    releases: HashSet<Ref>,
    /// Operations that acquire at fences.
    later: HashSet<Ref>,
    /// Pointers that are acquired at a fence.
    at: HashMap<Ref, Vec<Ref>>,
    /// Operations, and their pointers, which must be kept until a fence.
    kept: HashMap<Ref, Vec<(Ref, Ref)>>,
}

impl Fences {
    /// Of a function: its blocks, and their graph.
    pub fn of(llvm: &Llvm, blocks: &[Ref], loops: &Loops) -> Fences {
        let instructions: Vec<Vec<Ref>> = blocks.iter().map(|block| llvm.instructions(*block)).collect();
        let is_fence = |instruction: &&Ref| llvm.opcode(**instruction) == opcode::FENCE;
        let fences: HashMap<Ref, Order> =
            instructions.iter().flatten().filter(is_fence).map(|fence| (*fence, of(llvm, *fence))).collect();
        let mut found = Fences::default();
        if fences.is_empty() {
            return found;
        }
        let ways = Ways { llvm, blocks, loops, instructions: &instructions, fences: &fences };
        let released = ways.released();
        for (block, all) in instructions.iter().enumerate() {
            for (at, instruction) in all.iter().enumerate() {
                let Some(Target { pointer, ordering, may }) = Target::of(llvm, *instruction) else {
                    continue;
                };
                if may.releases && ordering <= RELAXED && released.contains(instruction) {
                    found.releases.insert(*instruction);
                }
                if !may.acquires || acquires(ordering) {
                    continue;
                }
                let next = ways.next_acquiring(block, at);
                if !next.is_empty() {
                    found.later.insert(*instruction);
                }
                for (block, at) in next {
                    let fence = instructions[block][at];
                    if !ways.is_known(pointer, (block, at)) {
                        found.kept.entry(fence).or_default().push((*instruction, pointer));
                        continue;
                    }
                    let known = found.at.entry(fence).or_default();
                    if !known.contains(&pointer) {
                        known.push(pointer);
                    }
                }
            }
        }
        found
    }

    /// Pointer of an atomic operation, and what it does to the order; nothing for one that orders nothing.
    pub fn order(&self, llvm: &Llvm, instruction: Ref) -> Option<(Ref, Order)> {
        let Target { pointer, ordering, may } = Target::of(llvm, instruction)?;
        let is_relaxed = ordering <= RELAXED;
        let order = Order {
            releases: may.releases && (!is_relaxed || self.releases.contains(&instruction)),
            // The fence behind a read-modify-write operation that releases may be its caller's.
            acquires: may.acquires && !is_relaxed && !self.later.contains(&instruction),
        };
        (order != Order::default()).then_some((pointer, order))
    }

    /// Pointers that are acquired at a fence.
    pub fn pointers(&self, fence: Ref) -> &[Ref] {
        self.at.get(&fence).map_or(&[], Vec::as_slice)
    }

    /// Operations whose pointers, as kept, are acquired at a fence; the pointers.
    pub fn kept(&self, fence: Ref) -> &[(Ref, Ref)] {
        self.kept.get(&fence).map_or(&[], Vec::as_slice)
    }
}

fn acquires(ordering: i32) -> bool {
    const ACQUIRE: i32 = 4;
    const RELEASE: i32 = 5;
    ordering >= ACQUIRE && ordering != RELEASE
}

/// What a fence does.
fn of(llvm: &Llvm, fence: Ref) -> Order {
    // The interface has no question for a fence's ordering that all versions understand.
    let message = llvm.print(fence);
    let shown = text_with_zero(message);
    llvm.dispose_message(message);
    if shown.contains("singlethread") {
        return Order::default();
    }
    let both = shown.contains("acq_rel") || shown.contains("seq_cst");
    Order { acquires: both || shown.contains("acquire"), releases: both || shown.contains("release") }
}

/// The ways through a function.
struct Ways<'a> {
    llvm: &'a Llvm,
    blocks: &'a [Ref],
    loops: &'a Loops,
    instructions: &'a [Vec<Ref>],
    fences: &'a HashMap<Ref, Order>,
}

impl Ways<'_> {
    /// The instructions of a block; none of what stands for the way out of a loop that repeats.
    fn of(&self, block: usize) -> &[Ref] {
        self.instructions.get(block).map_or(&[], Vec::as_slice)
    }

    /// Walks on from a block, and from each that it comes to for which `goes_on` is true.
    fn walk(&self, from: usize, seen: &mut HashSet<usize>, mut goes_on: impl FnMut(usize) -> bool) {
        let mut open = self.loops.successors[from].clone();
        while let Some(block) = open.pop() {
            if seen.insert(block) && goes_on(block) {
                open.extend(&self.loops.successors[block]);
            }
        }
    }

    /// All that may come after a fence that releases.
    fn released(&self) -> HashSet<Ref> {
        let releases = |instruction: &Ref| self.fences.get(instruction).is_some_and(|order| order.releases);
        let (mut found, mut seen) = (HashSet::new(), HashSet::new());
        for (block, all) in self.instructions.iter().enumerate() {
            if let Some(at) = all.iter().position(releases) {
                found.extend(&all[at..]);
                self.walk(block, &mut seen, |_| true);
            }
        }
        found.extend(seen.into_iter().flat_map(|block| self.of(block)));
        found
    }

    /// The first fences that acquire on the ways from an instruction: their blocks, and places there.
    fn next_acquiring(&self, block: usize, at: usize) -> Vec<(usize, usize)> {
        let acquires = |instruction: &Ref| self.fences.get(instruction).is_some_and(|order| order.acquires);
        if let Some(first) = self.of(block)[at..].iter().position(acquires) {
            return vec![(block, at + first)];
        }
        let mut found = Vec::new();
        self.walk(block, &mut HashSet::new(), |block| {
            let first = self.of(block).iter().position(acquires);
            found.extend(first.map(|first| (block, first)));
            first.is_none()
        });
        found.sort_unstable();
        found
    }

    /// True if every way to a fence leads through where a value comes from.
    fn is_known(&self, value: Ref, (block, at): (usize, usize)) -> bool {
        let llvm = self.llvm;
        if llvm.is_a_instruction(value).is_null() {
            return true;
        }
        // What a call that may throw returns is not known on all ways from it.
        if matches!(llvm.opcode(value), opcode::INVOKE | opcode::CALL_BR) {
            return false;
        }
        let of = self.blocks.iter().position(|known| *known == llvm.block_of(value));
        of.is_some_and(|of| match of == block {
            true => self.of(block)[..at].contains(&value),
            false => self.loops.dominates(of, block),
        })
    }
}
