//! Updates that a condition decides: `if (x > m) m = x`, `if !found { found = c }`.
//!
//! **Argument:** what such a statement leaves does not depend on the order of iterations, as long as nothing else depends on whether the
//! condition held: nothing that runs behind it alone may write memory that others read, or call.

use std::collections::HashSet;

use workspan_trace::facts::Update;

use crate::alike::same;
use crate::library;
use crate::llvm::{opcode, type_kind, Ref};
use crate::locals::users;
use crate::updates::{Around, Finder};

/// Conditions of one statement that are looked at.
const CONDITIONS: usize = 4;

impl Finder<'_> {
    /// `if (x > m) m = x`, also with conditions behind that one: `if (x > m && c) m = x`.
    pub(crate) fn of_condition(&self, stored: Ref, block: Ref) -> Option<(Update, Vec<Ref>)> {
        let blocks = std::iter::successors(Some(block), |block| self.only_predecessor(*block));
        blocks.take(CONDITIONS).find_map(|block| self.of_one_condition(stored, block))
    }

    /// The same of the condition just before a block.
    fn of_one_condition(&self, stored: Ref, block: Ref) -> Option<(Update, Vec<Ref>)> {
        let llvm = self.llvm;
        let before = self.only_predecessor(block)?;
        let condition = self.condition(before)?;
        let is_true = llvm.successor(llvm.terminator(before), 0) == block;
        let (left, right, greater, signed) = self.comparison(condition)?;
        if self.does_more(before, block, None) {
            return None;
        }
        let greater = greater == is_true;
        let agree =
            |ours: Ref, other: Ref| self.stored.is_equal(other, stored) && self.stored.agrees(signed, ours, other);
        if let Some(load) = self.load_whole(right, 1).filter(|_| agree(right, left)) {
            Some((if greater { Update::Max } else { Update::Min }, vec![load]))
        } else {
            let load = self.load_whole(left, 1).filter(|_| agree(left, right))?;
            Some((if greater { Update::Min } else { Update::Max }, vec![load]))
        }
    }

    /// `if !found { found = c }`, which is `found = found || c`; `if all { all = c }`.
    pub(crate) fn of_own_condition(&self, stored: Ref, block: Ref) -> Option<(Update, Vec<Ref>)> {
        let (before, value) = (self.only_predecessor(block)?, self.stored.strip(stored));
        let load = self.load(self.condition(before)?).filter(|_| self.stored.is_bit(value))?;
        if self.does_more(before, block, Some(value)) {
            return None;
        }
        let is_true = self.llvm.successor(self.llvm.terminator(before), 0) == block;
        Some((if is_true { Update::Both } else { Update::Either }, vec![load]))
    }

    /// True if what runs behind a comparison alone, or where it fails alone, writes memory besides, calls, or counts: then that a value is
    /// the greatest so far is seen. Numbers and pointers that the loop does not read are the judge's matter: it knows whether they are read
    /// afterwards; but where a test of the variable itself decides whether they are written, it would be that of another iteration. `test`: a
    /// call that is no more than that test.
    fn does_more(&self, before: Ref, block: Ref, test: Option<Ref>) -> bool {
        let (llvm, Around { loops, numbers, .. }) = (self.llvm, self.around);
        let end = llvm.terminator(before);
        let alone = |next: &Ref| *next == block || self.only_predecessor(*next) == Some(before);
        let sides: Vec<Ref> = (0..llvm.successors(end)).map(|at| llvm.successor(end, at)).filter(alone).collect();
        let Some(sides) = sides.iter().map(|side| numbers.get(side).copied()).collect::<Option<Vec<usize>>>() else {
            return true;
        };
        let is_behind = |other: usize| sides.iter().any(|side| loops.dominates(*side, other));
        let behind = numbers.iter().filter(|(_, other)| is_behind(**other) && self.is_inside(**other));
        behind
            .flat_map(|(block, _)| llvm.instructions(*block))
            .any(|at| test != Some(at) && self.is_seen(at, test.is_some()))
    }

    /// True for a block of the innermost loop.
    fn is_inside(&self, block: usize) -> bool {
        self.around.innermost.is_none_or(|number| self.around.loops.contains(number, block))
    }

    /// True if the innermost loop reads a variable.
    fn is_read(&self, pointer: Ref) -> bool {
        !self.reads_inside(pointer).is_empty()
    }

    /// Where the innermost loop reads a variable.
    fn reads_inside(&self, pointer: Ref) -> Vec<Ref> {
        let llvm = self.llvm;
        let block = |at: &Ref| self.around.numbers.get(&llvm.block_of(*at));
        let is_read = |at: &Ref| {
            let reads = llvm.opcode(*at) == opcode::LOAD && llvm.operand(*at, 0) == pointer;
            reads && block(at).is_some_and(|block| self.is_inside(*block))
        };
        users(llvm, pointer).into_iter().filter(is_read).collect()
    }

    /// True for what the loop reads only to say where it goes on, which is at one place whatever it says: `continue` in a block that has
    /// variables of its own.
    fn leads_to_one_place(&self, pointer: Ref) -> bool {
        let llvm = self.llvm;
        let goes_on = |block: &Ref| {
            let first = llvm.first_instruction(*block);
            first.is_null() || llvm.opcode(first) != opcode::UNREACHABLE
        };
        let is_one = |switch: Ref| {
            let all = (0..llvm.successors(switch)).map(|at| llvm.successor(switch, at)).filter(goes_on);
            let places: HashSet<Ref> = all.map(|block| self.behind_empty(block)).collect();
            places.len() == 1
        };
        let reads = self.reads_inside(pointer);
        let all = reads.iter().flat_map(|read| users(llvm, *read));
        !reads.is_empty() && all.into_iter().all(|user| llvm.opcode(user) == opcode::SWITCH && is_one(user))
    }

    /// True for a write to memory that is not ours, and for a call that may write; `all`: also of a number that the loop does not read.
    fn is_seen(&self, instruction: Ref, all: bool) -> bool {
        let llvm = self.llvm;
        let is_scalar = |ty: Ref| {
            let kind = llvm.type_kind(ty);
            matches!(kind, type_kind::FIRST_FLOAT..=type_kind::LAST_FLOAT | type_kind::INTEGER | type_kind::POINTER)
        };
        match llvm.opcode(instruction) {
            opcode::STORE => {
                let pointer = llvm.operand(instruction, 1);
                let is_alloca = !llvm.is_a_instruction(pointer).is_null() && llvm.opcode(pointer) == opcode::ALLOCA;
                let is_whole = is_alloca && is_scalar(llvm.allocated_type(pointer))
                    || !llvm.is_a_global_variable(pointer).is_null() && is_scalar(llvm.global_value_type(pointer));
                let counts = all || !is_whole || self.is_read(pointer);
                counts && !same(llvm, pointer, self.pointer, 0) && !(is_whole && self.leads_to_one_place(pointer))
            }
            opcode::CALL | opcode::INVOKE => {
                let name = llvm.callee(instruction).map(|callee| llvm.name(callee)).unwrap_or_default();
                let is_intrinsic = name.starts_with("llvm.") && !name.starts_with("llvm.mem");
                !is_intrinsic && !library::chooses(&name) && !library::is_mathematics(&name)
            }
            opcode::RMW | opcode::CMPXCHG => true,
            _ => false,
        }
    }
}
