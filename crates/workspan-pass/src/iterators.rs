//! What iterators of Rust's library keep for themselves: of `1..=n` whether it has ended, of `step_by` and `skip` whether they have begun,
//! of `chain` which one it is at.
//!
//! **Argument:** values that go round a loop and come from nothing but themselves, from what the loop does not change, and from sums and
//! comparisons of these are known for each iteration before the loop begins. Iterations do not wait for each other for them, as they do not
//! for a counter; so they stay values, of which there are no events. Only what the library itself computes is taken for that: sums of the
//! program are its own matter, and so is all that is read after the loop, or that memory or a call decides.

use std::collections::HashSet;

use crate::debug::in_library;
use crate::llvm::{opcode, Ref};
use crate::locals::users;
use crate::names::Valued;
use crate::variables::Shape;

/// Values that are followed at most.
const MOST: usize = 200;

impl Shape<'_> {
    /// True for a `phi` at the head of a loop that is an iterator's own. A counter with one step is a variable, as elsewhere.
    pub(crate) fn is_of_iterator(&self, phi: Ref, number: usize, valued: &Valued) -> bool {
        let is_variable = self.steps_once(phi, number);
        !is_variable
            && Walk { shape: self, number, valued, open: vec![phi], seen: HashSet::new(), in_library: false }.ends(phi)
    }

    /// True for a `phi` that takes the same value on all ways back, which is itself and something fixed.
    fn steps_once(&self, phi: Ref, number: usize) -> bool {
        let llvm = self.llvm;
        let back = self.incoming(phi).into_iter().filter(|(_, from)| self.loops.contains(number, *from));
        let all: HashSet<Ref> = back.map(|(value, _)| value).collect();
        let step = if all.len() == 1 { all.into_iter().next() } else { None };
        step.is_some_and(|step| {
            let is_sum = !llvm.is_a_instruction(step).is_null()
                && matches!(llvm.opcode(step), opcode::ADD | opcode::SUB | opcode::GEP)
                && llvm.operands(step) == 2;
            is_sum
                && [(0, 1), (1, 0)].into_iter().any(|(old, fixed)| {
                    llvm.operand(step, old) == phi && self.is_fixed(llvm.operand(step, fixed), number)
                })
        })
    }

    fn is_fixed(&self, value: Ref, number: usize) -> bool {
        self.llvm.is_a_instruction(value).is_null() || !self.loops.contains(number, self.block(value))
    }
}

struct Walk<'w, 'l> {
    shape: &'w Shape<'l>,
    number: usize,
    valued: &'w Valued,
    open: Vec<Ref>,
    seen: HashSet<Ref>,
    /// Something of it is computed in the library.
    in_library: bool,
}

impl Walk<'_, '_> {
    /// True if all that is followed is the library's.
    fn ends(mut self, first: Ref) -> bool {
        while let Some(value) = self.open.pop() {
            if self.shape.is_fixed(value, self.number) || !self.seen.insert(value) {
                continue;
            }
            if self.seen.len() > MOST || !self.follow(value) {
                return false;
            }
        }
        // One that is set to something fixed is computed nowhere: a flag, which the source does not name.
        self.in_library || self.valued.variable(first).is_none()
    }

    fn follow(&mut self, value: Ref) -> bool {
        let llvm = self.shape.llvm;
        let block = self.shape.block(value);
        if users(llvm, value).iter().any(|user| self.is_read_after(self.shape.block(*user))) {
            return false;
        }
        let code = llvm.opcode(value);
        if code == opcode::PHI {
            self.open.extend(self.shape.incoming(value).into_iter().map(|(value, _)| value));
            let is_head = self.shape.loops.loops[self.number].header == block;
            return is_head || self.shape.loops.innermost[block] == Some(self.number) && self.conditions(block);
        }
        let place = llvm.debug_location(value);
        match in_library(llvm, place) {
            Some(true) => self.in_library = true,
            Some(false) => return false,
            None => {}
        }
        let operands = || (0..u32::try_from(llvm.operands(value)).unwrap_or(0)).map(|at| llvm.operand(value, at));
        let is_constant = |at| llvm.constant(llvm.operand(value, at)).is_some();
        match code {
            opcode::ADD | opcode::SUB | opcode::GEP | opcode::ICMP | opcode::SELECT | opcode::FREEZE => {}
            opcode::AND..=opcode::XOR | opcode::FIRST_CAST..=opcode::LAST_CAST => {}
            opcode::SHL..=opcode::LAST_SHIFT if is_constant(1) => {}
            opcode::CALL => {
                const PURE: [&str; 7] = [
                    "llvm.umin.",
                    "llvm.umax.",
                    "llvm.usub.sat.",
                    "llvm.expect.",
                    "llvm.smin.",
                    "llvm.ucmp.",
                    "llvm.scmp.",
                ];
                let name = llvm.callee(value).map(|callee| llvm.name(callee)).unwrap_or_default();
                if !PURE.iter().any(|start| name.starts_with(start)) {
                    return false;
                }
                self.open.extend((0..llvm.arguments(value)).map(|at| llvm.operand(value, at)));
                return true;
            }
            _ => return false,
        }
        self.open.extend(operands());
        true
    }

    /// True for a block behind the loop from which the function may return: what panics reads nothing.
    fn is_read_after(&self, block: usize) -> bool {
        let Shape { llvm, loops, blocks, .. } = self.shape;
        if loops.contains(self.number, block) {
            return false;
        }
        let (mut open, mut seen) = (vec![block], HashSet::from([block]));
        while let Some(at) = open.pop() {
            match llvm.opcode(llvm.terminator(blocks[at])) {
                opcode::RET => return true,
                // Behind a call that does not return there is unwinding.
                opcode::INVOKE if at == block => {
                    let normal = llvm.successor(llvm.terminator(blocks[at]), 0);
                    open.extend(self.shape.number(normal).filter(|next| seen.insert(*next)));
                }
                _ => open.extend(loops.successors[at].iter().copied().filter(|next| seen.insert(*next))),
            }
        }
        false
    }

    /// Follows what decides which way control comes to a block: conditions behind the last block that all ways pass.
    fn conditions(&mut self, block: usize) -> bool {
        let shape = self.shape;
        let Some(above) = shape.loops.dominators[block] else { return false };
        let (mut open, mut seen) = (shape.predecessors[block].clone(), HashSet::new());
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            let end = shape.llvm.terminator(shape.blocks[at]);
            match shape.llvm.opcode(end) {
                opcode::BR if shape.llvm.is_conditional(end) == 0 => {}
                opcode::BR | opcode::SWITCH => self.open.push(shape.llvm.operand(end, 0)),
                _ => return false,
            }
            if at != above {
                open.extend(&shape.predecessors[at]);
            }
        }
        true
    }
}
