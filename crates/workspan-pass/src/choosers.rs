//! Functions of the program that return the greater or the lesser one of two numbers: `m = maxd(m, x)`.
//!
//! **Argument:** such a function is followed twice, once for a first argument that is the greater one and once for the lesser. All that
//! it may do is keep numbers in its own variables, compare its arguments and go on where that leads; anything else ends the search.
//! One that returns the greater argument both times is a maximum, whatever its form. Of equal numbers both are the result. A number that
//! is not one (NaN) compares as in `x > m ? x : m` in the loop itself.

use std::collections::HashMap;

use workspan_trace::facts::Update;

use crate::llvm::{opcode, type_kind, Llvm, Ref};

/// Instructions that are followed at most.
const MOST: usize = 100;

/// What a function chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    /// The greatest or the least.
    pub(crate) update: Update,
    /// Whether integers are compared with their sign; none: other numbers.
    pub(crate) signed: Option<bool>,
}

/// Those of a module, before it has events.
pub(crate) fn of_module(llvm: &Llvm, module: Ref) -> HashMap<Ref, Choice> {
    llvm.functions(module).into_iter().filter_map(|function| Some((function, chosen(llvm, function)?))).collect()
}

/// What a function returns of its two arguments: the greatest, the least, or nothing of these.
fn chosen(llvm: &Llvm, function: Ref) -> Option<Choice> {
    let is_number = |value: Ref| {
        matches!(
            llvm.type_kind(llvm.type_of(value)),
            type_kind::FIRST_FLOAT..=type_kind::LAST_FLOAT | type_kind::INTEGER
        )
    };
    let arguments = || [0, 1].map(|number| llvm.param(function, number));
    if llvm.is_declaration(function) != 0
        || llvm.parameter_count(function) != 2
        || !arguments().into_iter().all(is_number)
    {
        return None;
    }
    let [(first, signed), (second, other)] = [follow(llvm, function, 0)?, follow(llvm, function, 1)?];
    let update = match [first, second] {
        [0, 1] => Update::Max,
        [1, 0] => Update::Min,
        _ => return None,
    };
    (signed == other).then_some(Choice { update, signed })
}

/// What a value is while a function is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    /// An argument, by its number.
    Argument(usize),
    /// A truth value.
    Truth(bool),
}

/// Which argument a function returns if one of them is the greater one, and whether it compares with a sign.
fn follow(llvm: &Llvm, function: Ref, greatest: usize) -> Option<(usize, Option<bool>)> {
    let mut path = Path { llvm, greatest, signed: None, values: HashMap::new(), memory: HashMap::new() };
    path.values.extend([0, 1].map(|number| (llvm.param(function, number), Known::Argument(number as usize))));
    let (mut before, mut block, mut left) = (std::ptr::null_mut(), llvm.first_block(function), MOST);
    loop {
        let all = llvm.instructions(block);
        left = left.checked_sub(all.len())?;
        // What `phi`s take is what was there before all of them.
        let phis = all.iter().take_while(|at| llvm.opcode(**at) == opcode::PHI);
        let taken: Vec<(Ref, Option<Known>)> = phis.map(|phi| (*phi, path.incoming(*phi, before))).collect();
        path.values.extend(taken.iter().filter_map(|(phi, known)| Some((*phi, (*known)?))));
        for at in &all[taken.len()..] {
            match llvm.opcode(*at) {
                opcode::RET => {
                    return match path.known(llvm.operand(*at, 0))? {
                        Known::Argument(number) => Some((number, path.signed)),
                        Known::Truth(_) => None,
                    };
                }
                opcode::BR => {
                    let goes_on =
                        llvm.is_conditional(*at) == 0 || path.known(llvm.operand(*at, 0))? == Known::Truth(true);
                    (before, block) = (block, llvm.successor(*at, u32::from(!goes_on)));
                }
                _ => path.step(*at)?,
            }
        }
        if llvm.opcode(*all.last()?) != opcode::BR {
            return None;
        }
    }
}

struct Path<'l> {
    llvm: &'l Llvm,
    greatest: usize,
    /// Whether integers have been compared with their sign.
    signed: Option<bool>,
    values: HashMap<Ref, Known>,
    /// What variables of the function hold.
    memory: HashMap<Ref, Known>,
}

impl Path<'_> {
    fn known(&self, value: Ref) -> Option<Known> {
        let llvm = self.llvm;
        let is_truth =
            || llvm.type_kind(llvm.type_of(value)) == type_kind::INTEGER && llvm.int_width(llvm.type_of(value)) == 1;
        let constant = || llvm.constant(value).filter(|_| is_truth()).map(|constant| Known::Truth(constant != 0));
        self.values.get(&value).copied().or_else(constant)
    }

    fn incoming(&self, phi: Ref, before: Ref) -> Option<Known> {
        let at = (0..self.llvm.incoming_count(phi)).find(|at| self.llvm.incoming_block(phi, *at) == before)?;
        self.known(self.llvm.incoming_value(phi, at))
    }

    fn is_own(&self, pointer: Ref) -> bool {
        !self.llvm.is_a_instruction(pointer).is_null() && self.llvm.opcode(pointer) == opcode::ALLOCA
    }

    /// Nothing if an instruction does more than choose.
    fn step(&mut self, at: Ref) -> Option<()> {
        let llvm = self.llvm;
        let known = match llvm.opcode(at) {
            opcode::ALLOCA => return Some(()),
            opcode::STORE => {
                let (value, pointer) = (llvm.operand(at, 0), llvm.operand(at, 1));
                let known = self.known(value).filter(|_| self.is_own(pointer))?;
                self.memory.insert(pointer, known);
                return Some(());
            }
            opcode::LOAD => {
                let known = self.memory.get(&llvm.operand(at, 0)).copied()?;
                // One kept as another type would be another number.
                Some(known).filter(|_| llvm.type_of(at) == llvm.allocated_type(llvm.operand(at, 0)))?
            }
            opcode::ICMP | opcode::FCMP => Known::Truth(self.compare(at)?),
            opcode::SELECT => {
                let truth = self.known(llvm.operand(at, 0))?;
                self.known(llvm.operand(at, if truth == Known::Truth(true) { 1 } else { 2 }))?
            }
            opcode::FREEZE => self.known(llvm.operand(at, 0))?,
            // A truth value that C keeps as a number.
            opcode::ZEXT | opcode::TRUNC => {
                self.known(llvm.operand(at, 0)).filter(|known| matches!(known, Known::Truth(_)))?
            }
            opcode::CALL => return self.call(at),
            _ => return None,
        };
        self.values.insert(at, known);
        Some(())
    }

    /// Calls that say where variables live, and those that choose themselves.
    fn call(&mut self, call: Ref) -> Option<()> {
        let llvm = self.llvm;
        let name = llvm.callee(call).map(|callee| llvm.name(callee))?;
        if name.starts_with("llvm.dbg.") || name.starts_with("llvm.lifetime.") {
            return Some(());
        }
        let choice = of_name(&name)?;
        self.note(choice.signed)?;
        let greatest = match choice.update {
            Update::Max => self.greatest,
            _ => 1 - self.greatest,
        };
        let both = [0, 1].map(|at| self.known(llvm.operand(call, at)));
        let has = |number: usize| both.contains(&Some(Known::Argument(number)));
        (has(0) && has(1)).then(|| self.values.insert(call, Known::Argument(greatest)))?;
        Some(())
    }

    /// Nothing if comparisons with a sign and without one meet.
    fn note(&mut self, signed: Option<bool>) -> Option<()> {
        if self.signed.is_some() && signed.is_some() && self.signed != signed {
            return None;
        }
        self.signed = self.signed.or(signed);
        Some(())
    }

    fn compare(&mut self, at: Ref) -> Option<bool> {
        let llvm = self.llvm;
        let (left, right) = (llvm.operand(at, 0), llvm.operand(at, 1));
        let is_real = llvm.opcode(at) == opcode::FCMP;
        let has_order = !is_real && llvm.predicate(at) > 33;
        self.note(has_order.then(|| llvm.predicate(at) >= 38))?;
        let (less, equal, greater) =
            if is_real { reals(llvm.real_predicate(at)) } else { integers(llvm.predicate(at))? };
        match (self.known(left)?, self.known(right)) {
            (Known::Argument(left), Some(Known::Argument(right))) if left == right => Some(equal),
            (Known::Argument(left), Some(Known::Argument(_))) => {
                Some(if left == self.greatest { greater } else { less })
            }
            // `c != 0` of a truth value that C keeps as a number.
            (Known::Truth(truth), _) if llvm.is_null(right) != 0 => Some(if truth { greater } else { equal }),
            _ => None,
        }
    }
}

/// What a comparison of real numbers says of a lesser left side, equal ones, and a lesser right side: LLVM's numbers are these three bits.
fn reals(predicate: i32) -> (bool, bool, bool) {
    (predicate & 4 != 0, predicate & 1 != 0, predicate & 2 != 0)
}

/// The same of integers.
fn integers(predicate: i32) -> Option<(bool, bool, bool)> {
    match predicate {
        32 => Some((false, true, false)),
        33 => Some((true, false, true)),
        34 | 38 => Some((false, false, true)),
        35 | 39 => Some((false, true, true)),
        36 | 40 => Some((true, false, false)),
        37 | 41 => Some((true, true, false)),
        _ => None,
    }
}

/// Functions of LLVM and C that return the greatest or the least number, by name.
pub(crate) fn of_name(name: &str) -> Option<Choice> {
    let starts = |all: &[&str]| all.iter().any(|start| name.starts_with(start));
    let is_max = starts(&["llvm.maxnum.", "llvm.maximum", "llvm.smax.", "llvm.umax."])
        || matches!(name, "fmax" | "fmaxf" | "fmaxl");
    let is_min = starts(&["llvm.minnum.", "llvm.minimum", "llvm.smin.", "llvm.umin."])
        || matches!(name, "fmin" | "fminf" | "fminl");
    let is_signed = starts(&["llvm.smax.", "llvm.smin."]);
    let signed = (is_signed || starts(&["llvm.umax.", "llvm.umin."])).then_some(is_signed);
    let update = if is_max { Update::Max } else { Update::Min };
    (is_max || is_min).then_some(Choice { update, signed })
}
