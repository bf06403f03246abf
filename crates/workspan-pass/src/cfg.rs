//! Control flow of a function: dominators, and the natural loops that they give.
//!
//! **Cost:** the iterative algorithm of Cooper, Harvey and Kennedy; near linear on reducible graphs. Of an irreducible cycle
//! no loop is reported.

use std::collections::HashMap;

use crate::llvm::{Llvm, Ref};

/// A loop of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Natural {
    /// Its header.
    pub header: usize,
    /// The loop around it: an earlier one.
    pub parent: Option<usize>,
}

/// Loops, outer ones first, and the innermost loop of each block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loops {
    /// The loops.
    pub loops: Vec<Natural>,
    /// By block.
    pub innermost: Vec<Option<usize>>,
    /// Immediate dominators, by block.
    pub dominators: Vec<Option<usize>>,
    /// Successors, by block.
    pub successors: Vec<Vec<usize>>,
}

impl Loops {
    /// True if a block lies in a loop or in one inside it.
    pub fn contains(&self, number: usize, block: usize) -> bool {
        let mut at = self.innermost.get(block).copied().flatten();
        while let Some(inner) = at {
            if inner == number {
                return true;
            }
            at = self.loops[inner].parent;
        }
        false
    }

    /// True if every way to `below` leads through `above`.
    pub fn dominates(&self, above: usize, mut below: usize) -> bool {
        loop {
            if above == below {
                return true;
            }
            match self.dominators.get(below).copied().flatten() {
                Some(next) if next != below => below = next,
                _ => return false,
            }
        }
    }

    /// True if an instruction of a block always runs before another one: every way to the latter leads through it. `blocks`: by number.
    pub fn is_before(&self, llvm: &Llvm, blocks: &[Ref], (first, of_first): (Ref, usize), second: Ref) -> bool {
        let block = llvm.block_of(second);
        if blocks[of_first] == block {
            let all = llvm.instructions(block);
            let place = |wanted: Ref| all.iter().position(|each| *each == wanted);
            return place(first) < place(second);
        }
        let of_second = blocks.iter().position(|each| *each == block);
        of_second.is_some_and(|of_second| self.dominates(of_first, of_second))
    }

    /// Blocks from which a loop begins again.
    pub fn latches(&self, number: usize) -> impl Iterator<Item = usize> + '_ {
        let header = self.loops[number].header;
        let all = self.successors.iter().enumerate();
        all.filter(move |(block, next)| next.contains(&header) && self.contains(number, *block)).map(|(block, _)| block)
    }
}

/// The blocks of a function by their numbers, and the numbers of each one's successors.
pub fn graph(llvm: &Llvm, blocks: &[Ref]) -> (HashMap<Ref, usize>, Vec<Vec<usize>>) {
    let number: HashMap<Ref, usize> = blocks.iter().copied().zip(0..).collect();
    let of = |block: &Ref| {
        let end = llvm.terminator(*block);
        let count = if end.is_null() { 0 } else { llvm.successors(end) };
        (0..count).filter_map(|at| number.get(&llvm.successor(end, at)).copied()).collect()
    };
    let successors = blocks.iter().map(of).collect();
    (number, successors)
}

/// Finds the loops of a graph whose entry is block 0.
pub fn loops(successors: &[Vec<usize>]) -> Loops {
    let count = successors.len();
    let order = reverse_postorder(successors);
    let mut position = vec![usize::MAX; count];
    for (at, block) in order.iter().enumerate() {
        position[*block] = at;
    }
    let mut predecessors = vec![Vec::new(); count];
    for block in &order {
        for next in &successors[*block] {
            predecessors[*next].push(*block);
        }
    }
    let dominators = dominators(&order, &position, &predecessors);
    let tree = Loops { dominators: dominators.clone(), ..Loops::default() };
    let dominates = |above: usize, below: usize| tree.dominates(above, below);
    // In this order an outer header comes before the inner ones.
    let mut found = Loops { loops: Vec::new(), innermost: vec![None; count], ..Loops::default() };
    for header in &order {
        let ends: Vec<usize> = predecessors[*header].iter().copied().filter(|end| dominates(*header, *end)).collect();
        if ends.is_empty() {
            continue;
        }
        let parent = found.innermost[*header];
        let number = found.loops.len();
        found.loops.push(Natural { header: *header, parent });
        let mut inside = vec![false; count];
        inside[*header] = true;
        let mut open = ends;
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut inside[block], true) {
                open.extend(&predecessors[block]);
            }
        }
        for (block, _) in inside.iter().enumerate().filter(|(_, inside)| **inside) {
            found.innermost[block] = Some(number);
        }
    }
    found.successors = successors.to_vec();
    found.dominators = dominators;
    found
}

fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::with_capacity(successors.len());
    let mut open = Vec::new();
    if let Some(first) = seen.first_mut() {
        *first = true;
        open.push((0, 0));
    }
    while let Some((block, next)) = open.pop() {
        match successors[block].get(next) {
            Some(successor) => {
                open.push((block, next + 1));
                if !std::mem::replace(&mut seen[*successor], true) {
                    open.push((*successor, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

fn dominators(order: &[usize], position: &[usize], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut dominators: Vec<Option<usize>> = vec![None; position.len()];
    let Some(entry) = order.first() else {
        return dominators;
    };
    dominators[*entry] = Some(*entry);
    let mut changed = true;
    while changed {
        changed = false;
        for block in &order[1..] {
            let mut new: Option<usize> = None;
            for predecessor in predecessors[*block].iter().filter(|p| dominators[**p].is_some()) {
                new = Some(match new {
                    None => *predecessor,
                    Some(other) => meet(other, *predecessor, position, &dominators),
                });
            }
            if new != dominators[*block] {
                dominators[*block] = new;
                changed = true;
            }
        }
    }
    dominators
}

fn meet(mut left: usize, mut right: usize, position: &[usize], dominators: &[Option<usize>]) -> usize {
    while left != right {
        let later = if position[left] > position[right] { &mut left } else { &mut right };
        match dominators[*later] {
            Some(above) => *later = above,
            None => break,
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_loops_are_found() {
        // 0 -> 1 -> 2 -> 3 -> 2, 3 -> 4 -> 1, 4 -> 5; 6 is never reached.
        let graph = [vec![1], vec![2], vec![3], vec![2, 4], vec![1, 5], vec![], vec![2]];
        let found = loops(&graph);
        assert_eq!(found.loops, [Natural { header: 1, parent: None }, Natural { header: 2, parent: Some(0) }]);
        assert_eq!(found.innermost, [None, Some(0), Some(1), Some(1), Some(0), None, None]);
    }

    #[test]
    fn a_block_may_be_its_own_loop_and_cycles_with_two_entries_are_none() {
        assert_eq!(loops(&[vec![1], vec![1, 2], vec![]]).innermost, [None, Some(0), None]);
        assert!(loops(&[vec![1, 2], vec![2], vec![1]]).loops.is_empty());
        assert_eq!(loops(&[]), Loops::default());
    }
}
