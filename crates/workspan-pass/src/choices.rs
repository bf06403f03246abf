//! Updates on conditions, where optimisation has made one value of several ways: `if a { m = m.max(x) }`, and
//! `if a { n += 1 } else if b { z += 1 }`, in which `z` is what one condition within another has chosen.
//!
//! **Argument:** the value is followed through all choices down to what was there. On each way it is that itself, or one operator has
//! been applied to it, the same one on all ways. Nothing but this value may use what was there, or what is made of it on the way; so no
//! condition does, except of the greater and the lesser one of two.

use workspan_trace::facts::Update;

use crate::alike::{step, DEEPEST};
use crate::llvm::{opcode, Ref};
use crate::locals::users;
use crate::updates::{Compared, Finder};

/// What has been found on the ways so far.
#[derive(Default)]
struct Ways {
    update: Option<Update>,
    load: Option<Ref>,
    /// All that the value is made of, as far as it depends on what was there.
    made_of: Vec<Ref>,
    /// Conversions on the way: from what to what.
    conversions: Vec<(Ref, Ref)>,
}

impl Finder<'_> {
    /// What choices make of what was there.
    pub(crate) fn of_choices(&self, value: Ref) -> Option<(Update, Vec<Ref>)> {
        let mut ways = Ways::default();
        self.follow(value, &mut ways, 0)?;
        let (update, load) = (ways.update?, ways.load?);
        let allowed = ways.conversions.iter().all(|(outer, inner)| self.stored.allows(*outer, *inner, update));
        let is_own = |user: &Ref| ways.made_of.contains(user);
        let is_kept = |part: &Ref| *part == value || users(self.llvm, *part).iter().all(is_own);
        let goes_nowhere_else = users(self.llvm, load).iter().all(|user| is_own(user) || self.goes_back(*user));
        (allowed && goes_nowhere_else && ways.made_of.iter().all(is_kept)).then(|| (update, vec![load]))
    }

    /// Follows a value to what was there; none if another way leads elsewhere.
    fn follow(&self, outer: Ref, ways: &mut Ways, depth: usize) -> Option<()> {
        let (llvm, value) = (self.llvm, self.stored.strip(outer));
        if depth > DEEPEST || llvm.is_a_instruction(value).is_null() || !step(&self.left) {
            return None;
        }
        ways.conversions.push((outer, value));
        let mut at = outer;
        while at != value {
            ways.made_of.push(at);
            at = llvm.operand(at, 0);
        }
        let code = llvm.opcode(value);
        if code == opcode::LOAD {
            return (self.is_ours(value) && *ways.load.get_or_insert(value) == value).then_some(());
        }
        ways.made_of.push(value);
        let operand = |at| llvm.operand(value, at);
        let (update, sides): (Update, &[u32]) = match code {
            opcode::SELECT => {
                if let Some((update, comparison, used)) = self.extreme_of(value) {
                    self.apply(update, ways)?;
                    ways.made_of.extend([operand(0), comparison]);
                    // All uses are of one value, each with its own conversions.
                    let mut ours = used.into_iter().filter(|used| self.is_ours(*used));
                    return ours.all(|used| self.follow(used, ways, depth + 1).is_some()).then_some(());
                }
                self.follow(operand(1), ways, depth + 1)?;
                return self.follow(operand(2), ways, depth + 1);
            }
            opcode::CALL | opcode::INVOKE => {
                let choice = self.chooser(value)?;
                let ours = [0, 1].into_iter().find(|at| self.is_ours(operand(*at)))?;
                if !self.stored.agrees(choice.signed, operand(ours), operand(1 - ours)) {
                    return None;
                }
                (choice.update, if ours == 0 { &[0] } else { &[1] })
            }
            opcode::ADD | opcode::FADD => (Update::Sum, &[0, 1]),
            opcode::SUB | opcode::FSUB => (Update::Sum, &[0]),
            opcode::MUL | opcode::FMUL => (Update::Product, &[0, 1]),
            opcode::AND if !self.stored.is_bit(value) => (Update::And, &[0, 1]),
            opcode::OR if !self.stored.is_bit(value) => (Update::Or, &[0, 1]),
            opcode::XOR => (Update::Xor, &[0, 1]),
            _ => return None,
        };
        self.apply(update, ways)?;
        let found = sides.iter().filter(|at| self.leads_here(operand(**at), depth + 1)).collect::<Vec<_>>();
        let [at] = found.as_slice() else { return None };
        self.follow(operand(**at), ways, depth + 1)
    }

    /// `m > x ? m : x`, with what was there on one side: the comparison, and all that is one of both.
    fn extreme_of(&self, choice: Ref) -> Option<(Update, Ref, [Ref; 4])> {
        let llvm = self.llvm;
        let (condition, yes, no) = (llvm.operand(choice, 0), llvm.operand(choice, 1), llvm.operand(choice, 2));
        let comparison = self.compared(condition, yes, no)?;
        let Compared { left, right, signed, update } = self.chosen_by(comparison, yes, no)?;
        let (ours, other) = if self.is_ours(left) { (left, right) } else { (right, left) };
        let is_of_both = self.is_ours(ours) && !self.is_ours(other) && self.stored.agrees(signed, ours, other);
        is_of_both.then_some((update, comparison, [left, right, yes, no]))
    }

    /// The comparison that a condition is, or that it is beside another one which keeps what was there: `a && x > m ? x : m`.
    fn compared(&self, condition: Ref, yes: Ref, no: Ref) -> Option<Ref> {
        let llvm = self.llvm;
        if llvm.is_a_instruction(condition).is_null() {
            return None;
        }
        let operand = |at| llvm.operand(condition, at);
        let sides = match llvm.opcode(condition) {
            opcode::AND if self.is_ours(no) => [operand(0), operand(1)],
            opcode::OR if self.is_ours(yes) => [operand(0), operand(1)],
            opcode::SELECT if llvm.constant(operand(2)) == Some(0) && self.is_ours(no) => [operand(0), operand(1)],
            opcode::SELECT if llvm.constant(operand(1)).is_some_and(|set| set != 0) && self.is_ours(yes) => {
                [operand(0), operand(2)]
            }
            _ => return Some(condition),
        };
        let compares = |side: &Ref| {
            self.comparison(*side).is_some_and(|(left, right, ..)| self.is_ours(left) != self.is_ours(right))
        };
        sides.into_iter().find(compares)
    }

    /// Notes an operator; none if another one has been applied.
    fn apply(&self, update: Update, ways: &mut Ways) -> Option<()> {
        (*ways.update.get_or_insert(update) == update).then_some(())
    }

    /// True if what was there is in a value, by way of choices and operators.
    fn leads_here(&self, value: Ref, depth: usize) -> bool {
        let (llvm, value) = (self.llvm, self.stored.strip(value));
        if self.is_ours(value) {
            return true;
        }
        if llvm.is_a_instruction(value).is_null() || depth > DEEPEST || !step(&self.left) {
            return false;
        }
        let sides = match llvm.opcode(value) {
            opcode::SELECT => 1..3,
            opcode::CALL | opcode::INVOKE => 0..2.min(u32::try_from(llvm.operands(value)).unwrap_or(0)),
            opcode::ADD..=opcode::XOR => 0..2,
            _ => return false,
        };
        sides.into_iter().any(|at| self.leads_here(llvm.operand(value, at), depth + 1))
    }
}
