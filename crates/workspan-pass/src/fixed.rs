//! Values and addresses that are the same in each iteration of a loop: what is written there on a condition is left over from the last
//! iteration that met it.
//!
//! **Cost:** one look at each write of a function ([`Written`]), and then one for each part of an address.

use std::collections::{HashMap, HashSet};

use crate::cfg::Loops;
use crate::conditions::Conditions;
use crate::llvm::{opcode, Llvm, Ref};
use crate::locals::base;
use crate::plan::Address;

/// How deep addresses are followed.
const DEEPEST: usize = 8;
/// Loops around a write that are looked at.
const MOST: u8 = 15;

/// What the loops of a function write.
#[derive(Debug)]
pub struct Written {
    /// Numbers of blocks.
    blocks: HashMap<Ref, usize>,
    /// By loop: the variables.
    variables: Vec<HashSet<Ref>>,
}

impl Written {
    /// By these loops, in a function of these blocks.
    pub fn of(llvm: &Llvm, loops: &Loops, blocks: &[Ref]) -> Written {
        let mut variables = vec![HashSet::new(); loops.loops.len()];
        for (number, block) in blocks.iter().enumerate() {
            if loops.innermost[number].is_none() {
                continue;
            }
            for store in llvm.instructions(*block).into_iter().filter(|at| llvm.opcode(*at) == opcode::STORE) {
                let variable = base(llvm, llvm.operand(store, 1));
                let mut at = loops.innermost[number];
                while let Some(inner) = at {
                    variables[inner].insert(variable);
                    at = loops.loops[inner].parent;
                }
            }
        }
        Written { blocks: blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect(), variables }
    }
}

impl Conditions<'_> {
    /// In how many of the loops around a block, from the innermost one on, each iteration writes at the same address, and whether an index
    /// changes in the next one; none for a write of a constant, since whichever of these is left over is the same.
    pub(crate) fn levels(&self, written: &Written, block: usize, instruction: Ref, address: Address) -> (u8, bool) {
        let llvm = self.llvm;
        let pointer = match (llvm.opcode(instruction), address) {
            (opcode::STORE, _) if llvm.is_a_constant(llvm.operand(instruction, 0)).is_null() => {
                llvm.operand(instruction, 1)
            }
            (opcode::CALL, Address::Pointer(pointer)) => pointer,
            _ => return (0, false),
        };
        let (mut number, mut levels) = (self.loops.innermost[block], 0);
        while let Some(at) = number.filter(|_| levels < MOST) {
            let is_inside =
                |block: Ref| written.blocks.get(&block).is_some_and(|block| self.loops.contains(at, *block));
            let is_written = |variable: Ref| written.variables[at].contains(&variable);
            let unchanged = Unchanged { conditions: self, is_inside: &is_inside, is_written: &is_written };
            match unchanged.address(pointer, 0) {
                Where::Fixed => {}
                found => return (levels, found == Where::Moves),
            }
            (number, levels) = (self.loops.loops[at].parent, levels + 1);
        }
        (levels, false)
    }
}

/// What a loop does to an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// It is the same in each iteration.
    Fixed,
    /// An index changes.
    Moves,
    /// It may be another.
    Unknown,
}

/// What a loop does not change.
pub(crate) struct Unchanged<'u> {
    pub(crate) conditions: &'u Conditions<'u>,
    /// True for a block of the loop.
    pub(crate) is_inside: &'u dyn Fn(Ref) -> bool,
    /// True for a variable that the loop writes by its name.
    pub(crate) is_written: &'u dyn Fn(Ref) -> bool,
}

impl Unchanged<'_> {
    /// True for a value that the loop does not change.
    pub(crate) fn is_value(&self, value: Ref) -> bool {
        let Conditions { llvm, locals, .. } = *self.conditions;
        if llvm.constant(value).is_some() {
            return true;
        }
        let value = self.conditions.plain(value);
        let is_instruction = !llvm.is_a_instruction(value).is_null();
        if is_instruction && !(self.is_inside)(llvm.block_of(value)) {
            return true;
        }
        if !is_instruction {
            return !llvm.is_a_argument(value).is_null();
        }
        if (opcode::ADD..=opcode::XOR).contains(&llvm.opcode(value)) {
            return [0, 1].into_iter().all(|side| self.is_value(llvm.operand(value, side)));
        }
        let is_load = llvm.opcode(value) == opcode::LOAD;
        let source = if is_load { base(llvm, llvm.operand(value, 0)) } else { value };
        // If others write one with an address, the loop carries a dependence on it.
        let is_variable = locals.any_number(llvm, source).is_some()
            || !llvm.is_a_global_variable(source).is_null()
            || !llvm.is_a_argument(source).is_null();
        is_load && is_variable && !(self.is_written)(source)
    }

    /// What becomes of an address.
    fn address(&self, pointer: Ref, depth: usize) -> Where {
        let Conditions { llvm, locals, .. } = *self.conditions;
        let fixed_if = |is_fixed| if is_fixed { Where::Fixed } else { Where::Unknown };
        if llvm.is_a_instruction(pointer).is_null() {
            return Where::Fixed;
        }
        if depth > DEEPEST {
            return Where::Unknown;
        }
        let code = llvm.opcode(pointer);
        match code {
            opcode::ALLOCA => fixed_if(!(self.is_inside)(llvm.block_of(pointer))),
            opcode::GEP => {
                let count = u32::try_from(llvm.operands(pointer)).unwrap_or(0);
                let array = self.address(llvm.operand(pointer, 0), depth + 1);
                let stays = || (1..count).all(|at| self.is_value(llvm.operand(pointer, at)));
                if array == Where::Fixed && !stays() {
                    Where::Moves
                } else {
                    array
                }
            }
            // Of what has an address others may write it.
            opcode::LOAD => {
                let variable = llvm.operand(pointer, 0);
                let is_own = base(llvm, variable) == variable && locals.number(llvm, variable).is_some();
                fixed_if(is_own && !(self.is_written)(variable))
            }
            _ if (opcode::FIRST_CAST..=opcode::LAST_CAST).contains(&code) => {
                self.address(llvm.operand(pointer, 0), depth + 1)
            }
            _ => Where::Unknown,
        }
    }
}
