//! By how much a variable advances in an iteration.

use crate::conditions::Conditions;
use crate::fixed::Unchanged;
use crate::llvm::{opcode, Ref};
use crate::locals::base;

/// A subtraction that ends at nothing.
const SATURATED: &str = "llvm.usub.sat.";

impl Conditions<'_> {
    /// The step by which what is stored differs from what was there; 0: not constant, but always the same.
    pub(crate) fn step(&self, store: Ref, alloca: Ref, inside: &[usize]) -> Option<i64> {
        let llvm = self.llvm;
        let value = self.plain(llvm.operand(store, 0));
        if llvm.is_a_instruction(value).is_null() {
            return None;
        }
        if self.counts_down(store, alloca, inside) {
            return Some(0);
        }
        let is_old = |value: Ref| self.is_read_of(value, alloca);
        let (old, step, sign) = match llvm.opcode(value) {
            opcode::ADD if is_old(llvm.operand(value, 0)) => (true, llvm.operand(value, 1), 1),
            opcode::ADD => (is_old(llvm.operand(value, 1)), llvm.operand(value, 0), 1),
            opcode::SUB => (is_old(llvm.operand(value, 0)), llvm.operand(value, 1), -1),
            opcode::GEP if llvm.operands(value) == 2 => (is_old(llvm.operand(value, 0)), llvm.operand(value, 1), 1),
            _ => return None,
        };
        if !old {
            return None;
        }
        if let Some(constant) = llvm.constant(step) {
            return (constant != 0).then_some(sign * constant);
        }
        (self.is_fixed(step, inside) || self.follows_countdown(step, inside)).then_some(0)
    }

    /// True if what is stored is the rest of what was there, less a fixed number, and never less than nothing: how Rust cuts a slice into
    /// pieces. What it is after any number of iterations is known, as for other steps.
    fn counts_down(&self, store: Ref, alloca: Ref, inside: &[usize]) -> bool {
        let llvm = self.llvm;
        let value = self.plain(llvm.operand(store, 0));
        if llvm.is_a_instruction(value).is_null() {
            return false;
        }
        let is_old = |value: Ref| self.is_read_of(value, alloca);
        if self.is_call(value, SATURATED) {
            return is_old(llvm.operand(value, 0)) && self.is_fixed(llvm.operand(value, 1), inside);
        }
        llvm.opcode(value) == opcode::SUB
            && is_old(llvm.operand(value, 0))
            && self.lesser(llvm.operand(value, 1), inside).is_some_and(|(read, _)| is_old(read))
    }

    /// True for the lesser of a fixed number and a variable that is counted down by it: the sum of these steps is known, too.
    fn follows_countdown(&self, step: Ref, inside: &[usize]) -> bool {
        let llvm = self.llvm;
        let mut step = self.plain(step);
        let is_scaled = !llvm.is_a_instruction(step).is_null()
            && llvm.opcode(step) == opcode::SHL
            && llvm.constant(llvm.operand(step, 1)).is_some();
        if is_scaled {
            step = self.plain(llvm.operand(step, 0));
        }
        let Some((rest, fixed)) = self.lesser(step, inside) else {
            return false;
        };
        let rest = base(llvm, llvm.operand(self.plain(rest), 0));
        let stores = self.stores(rest, inside);
        let ([(store, _)], Some(_)) = (stores.as_slice(), self.locals.number(llvm, rest)) else {
            return false;
        };
        let down = self.plain(llvm.operand(*store, 0));
        let is_same = |down| {
            if self.is_call(down, SATURATED) {
                llvm.operand(down, 1) == fixed
            } else {
                llvm.operand(down, 1) == step
            }
        };
        self.counts_down(*store, rest, inside) && is_same(down)
    }

    /// A read of a variable and a fixed number of which a value is the lesser one.
    fn lesser(&self, value: Ref, inside: &[usize]) -> Option<(Ref, Ref)> {
        let llvm = self.llvm;
        let value = self.plain(value);
        let [left, right] = if self.is_call(value, "llvm.umin.") {
            [llvm.operand(value, 0), llvm.operand(value, 1)]
        } else {
            self.chosen_lesser(value)?
        };
        let is_read = |side: Ref| {
            let side = self.plain(side);
            !llvm.is_a_instruction(side).is_null() && llvm.opcode(side) == opcode::LOAD
        };
        [(left, right), (right, left)].into_iter().find(|(read, fixed)| is_read(*read) && self.is_fixed(*fixed, inside))
    }

    /// Both numbers of `a > b ? b : a`, without sign.
    fn chosen_lesser(&self, value: Ref) -> Option<[Ref; 2]> {
        /// LLVM's predicates.
        const GREATER: [i32; 2] = [34, 35];
        const LESS: [i32; 2] = [36, 37];
        let llvm = self.llvm;
        if llvm.is_a_instruction(value).is_null() || llvm.opcode(value) != opcode::SELECT {
            return None;
        }
        let [condition, yes, no] = [0, 1, 2].map(|at| llvm.operand(value, at));
        if llvm.is_a_instruction(condition).is_null() || llvm.opcode(condition) != opcode::ICMP {
            return None;
        }
        let (sides, predicate) = ([llvm.operand(condition, 0), llvm.operand(condition, 1)], llvm.predicate(condition));
        let is_lesser =
            GREATER.contains(&predicate) && sides == [no, yes] || LESS.contains(&predicate) && sides == [yes, no];
        is_lesser.then_some(sides)
    }

    fn is_call(&self, value: Ref, prefix: &str) -> bool {
        let llvm = self.llvm;
        !llvm.is_a_instruction(value).is_null()
            && llvm.opcode(value) == opcode::CALL
            && llvm.callee(value).is_some_and(|callee| llvm.name(callee).starts_with(prefix))
    }

    fn is_read_of(&self, value: Ref, alloca: Ref) -> bool {
        let llvm = self.llvm;
        let value = self.plain(value);
        !llvm.is_a_instruction(value).is_null()
            && llvm.opcode(value) == opcode::LOAD
            && base(llvm, llvm.operand(value, 0)) == alloca
    }

    /// True for a value that the loop does not change.
    fn is_fixed(&self, value: Ref, inside: &[usize]) -> bool {
        let is_inside = |at: Ref| inside.iter().any(|block| self.blocks[*block] == at);
        let is_written = |variable: Ref| !self.stores(variable, inside).is_empty();
        Unchanged { conditions: self, is_inside: &is_inside, is_written: &is_written }.is_value(value)
    }

    /// Without conversions.
    pub(crate) fn plain(&self, mut value: Ref) -> Ref {
        let llvm = self.llvm;
        while !llvm.is_a_instruction(value).is_null()
            && (opcode::FIRST_CAST..=opcode::LAST_CAST).contains(&llvm.opcode(value))
        {
            value = llvm.operand(value, 0);
        }
        value
    }
}
