//! Addresses that are the same in each iteration: what is written there on a condition is left over from the last iteration that met it.

use crate::conditions::Conditions;
use crate::llvm::{opcode, Ref};
use crate::locals::base;
use crate::plan::Address;

/// How deep addresses are followed.
const DEEPEST: usize = 8;
/// How many loops are asked.
const MOST: u8 = 15;

impl Conditions<'_> {
    /// In how many of the loops around a block, from the innermost one on, each iteration writes at the same address; none for a write of
    /// a constant, since whichever of these is left over is the same.
    pub(crate) fn levels(&self, block: usize, instruction: Ref, address: Address) -> u8 {
        let llvm = self.llvm;
        let pointer = match (llvm.opcode(instruction), address) {
            (opcode::STORE, _) if llvm.is_a_constant(llvm.operand(instruction, 0)).is_null() => {
                llvm.operand(instruction, 1)
            }
            (opcode::CALL, Address::Pointer(pointer)) => pointer,
            _ => return 0,
        };
        let (mut number, mut levels) = (self.loops.innermost[block], 0);
        while let Some(at) = number.filter(|_| levels < MOST) {
            let inside: Vec<usize> = (0..self.blocks.len()).filter(|block| self.loops.contains(at, *block)).collect();
            if !self.is_one_address(pointer, &inside, 0) {
                break;
            }
            (number, levels) = (self.loops.loops[at].parent, levels + 1);
        }
        levels
    }

    /// True if an address is computed from what a loop does not change.
    fn is_one_address(&self, pointer: Ref, inside: &[usize], depth: usize) -> bool {
        let llvm = self.llvm;
        if llvm.is_a_instruction(pointer).is_null() {
            return true;
        }
        if depth > DEEPEST {
            return false;
        }
        let code = llvm.opcode(pointer);
        match code {
            opcode::ALLOCA => !inside.iter().any(|block| self.blocks[*block] == llvm.block_of(pointer)),
            opcode::GEP => {
                let count = u32::try_from(llvm.operands(pointer)).unwrap_or(0);
                self.is_one_address(llvm.operand(pointer, 0), inside, depth + 1)
                    && (1..count).all(|at| self.is_fixed(llvm.operand(pointer, at), inside))
            }
            // Of what has an address others may write it.
            opcode::LOAD => {
                let variable = llvm.operand(pointer, 0);
                let is_own = base(llvm, variable) == variable && self.locals.number(llvm, variable).is_some();
                is_own && self.stores(variable, inside).is_empty()
            }
            _ if (opcode::FIRST_CAST..=opcode::LAST_CAST).contains(&code) => {
                self.is_one_address(llvm.operand(pointer, 0), inside, depth + 1)
            }
            _ => false,
        }
    }
}
