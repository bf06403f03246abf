//! Which writes apply an operator to what was there: `s += x`, `m = max(m, x)`, `if (x > m) m = x`.
//!
//! **Argument:** a load and a store of the same address are one update if what is stored is what was loaded, combined by one
//! operator that may be applied in any order. Addresses are the same if they are computed in the same way from the same values; the run
//! confirms it.

use std::cell::Cell;
use std::collections::HashMap;

use workspan_trace::facts::Update;

use crate::alike::{same, step, DEEPEST, STEPS};
use crate::atomic_updates::atomic_update;
use crate::cfg::Loops;
use crate::choosers::{self, Choice};
use crate::conversions::{width, Stored};
use crate::debug::in_library;
use crate::library;
use crate::llvm::{opcode, type_kind, Llvm, Ref};
use crate::locals::{base, users, users_through};
use crate::names::Declared;
use crate::plan::Plan;
use crate::typed::signed;

/// Operators that leave a choice between a changed value and the old one an update.
const COMMUTING: [Update; 5] = [Update::Sum, Update::Product, Update::And, Update::Or, Update::Xor];

/// What is applied to what was there.
#[derive(Clone, Copy, Debug)]
pub struct Applied {
    /// The operator.
    pub update: Update,
    /// Nothing else depends on what it gives: not even whether a greater value has been found.
    pub alone: bool,
}

/// Loads and stores of a function that are updates: instruction, and which of its operations, as a call has one for each argument.
///
/// `choosers`: functions that return the greatest or the least of two numbers.
pub(crate) fn updates(
    llvm: &Llvm,
    plan: &Plan,
    choosers: &HashMap<Ref, Choice>,
    declared: &Declared,
) -> HashMap<(Ref, usize), Applied> {
    let mut found = HashMap::new();
    let numbers = plan.handles.iter().zip(0..).map(|(block, number)| (*block, number)).collect();
    for (number, block) in plan.handles.iter().copied().enumerate() {
        let around = Around { loops: &plan.loops, numbers: &numbers, innermost: plan.loops.innermost[number] };
        for instruction in llvm.instructions(block) {
            if let Some(update) = atomic_update(llvm, instruction) {
                found.insert((instruction, 0), Applied { update, alone: true });
            }
            if llvm.opcode(instruction) != opcode::STORE {
                continue;
            }
            let pointer = llvm.operand(instruction, 1);
            let width = width(llvm, llvm.operand(instruction, 0));
            let finder = Finder {
                llvm,
                around: &around,
                choosers,
                pointer,
                stored: Stored {
                    llvm,
                    width,
                    signed: width.and_then(|bits| signed(llvm, declared, pointer, u64::from(bits))),
                },
                left: Cell::new(STEPS),
                chosen: Cell::new(None),
            };
            let mut loads = Vec::new();
            let update = finder.of_store(instruction, block, &mut loads).or_else(|| finder.of_constant(instruction));
            if let Some(update) = update {
                let applied = Applied { update, alone: finder.is_alone(instruction, block) };
                found.insert((instruction, 0), applied);
                found.extend(loads.into_iter().map(|load| ((load, 0), applied)));
                found.extend(finder.chosen.get().map(|call| (call, applied)));
            }
        }
    }
    found
}

/// Two numbers, the greater or the lesser of which is taken.
pub(crate) struct Compared {
    pub(crate) left: Ref,
    pub(crate) right: Ref,
    /// Whether integers are compared with their sign; none: other numbers.
    pub(crate) signed: Option<bool>,
    pub(crate) update: Update,
}

/// The loop that a store is in.
pub(crate) struct Around<'p> {
    pub(crate) loops: &'p Loops,
    pub(crate) numbers: &'p HashMap<Ref, usize>,
    pub(crate) innermost: Option<usize>,
}

pub(crate) struct Finder<'l> {
    pub(crate) llvm: &'l Llvm,
    pub(crate) around: &'l Around<'l>,
    choosers: &'l HashMap<Ref, Choice>,
    pub(crate) pointer: Ref,
    pub(crate) stored: Stored<'l>,
    /// Steps that may still be taken: expressions share parts, so that there are many ways through them.
    pub(crate) left: Cell<u32>,
    /// A call that chose, and which argument was ours: the other one may be the memory of another iteration.
    chosen: Cell<Option<(Ref, usize)>>,
}

impl Finder<'_> {
    fn of_store(&self, store: Ref, block: Ref, loads: &mut Vec<Ref>) -> Option<Update> {
        let stored = self.llvm.operand(store, 0);
        let value = self.stored.strip(stored);
        let own = self.of_value(value).filter(|(update, loads)| {
            let fits = || matches!(update, Update::Max | Update::Min) && self.stored.fits(value, loads, 0);
            self.is_kept(stored, value, loads) && (self.stored.allows(stored, value, *update) || fits())
        });
        let other = || self.of_condition(stored, block).or_else(|| self.of_own_condition(stored, block));
        let (update, used) = own.or_else(other)?;
        loads.extend(used);
        Some(update)
    }

    /// `found = 1`, which is `found = found || 1`; `all = 0`.
    fn of_constant(&self, store: Ref) -> Option<Update> {
        let llvm = self.llvm;
        let value = llvm.operand(store, 0);
        let holds = |ty: Ref| llvm.type_kind(ty) == type_kind::INTEGER;
        let is_alloca = !llvm.is_a_instruction(self.pointer).is_null() && llvm.opcode(self.pointer) == opcode::ALLOCA;
        let is_scalar = is_alloca && holds(llvm.allocated_type(self.pointer))
            || !llvm.is_a_global_variable(self.pointer).is_null() && holds(llvm.global_value_type(self.pointer));
        let is_byte = || is_scalar && llvm.int_width(llvm.type_of(value)) == 1;
        match llvm.constant(value).filter(|_| is_scalar)? {
            0 => Some(Update::Both),
            1 => Some(Update::Either),
            -1 if is_byte() => Some(Update::Either),
            _ => None,
        }
    }

    /// True if a store that gives the greatest or the least value is done whatever that is, or all that is done for a greater one.
    fn is_alone(&self, store: Ref, block: Ref) -> bool {
        let llvm = self.llvm;
        let value = self.stored.strip(llvm.operand(store, 0));
        if self.of_value(value).is_some() {
            return true;
        }
        let Some(end) = self.only_predecessor(block).map(|before| llvm.terminator(before)) else { return false };
        let own = llvm.terminator(block);
        if llvm.successors(own) != 1 || llvm.successors(end) != 2 {
            return false;
        }
        let next = self.behind_empty(llvm.successor(own, 0));
        let meets = (0..2).any(|at| self.behind_empty(llvm.successor(end, at)) == next);
        let begins_with_choice = llvm.opcode(llvm.first_instruction(next)) == opcode::PHI;
        let does_more = |at: &Ref| {
            let writes = llvm.opcode(*at) == opcode::STORE && *at != store;
            writes || matches!(llvm.opcode(*at), opcode::CALL | opcode::INVOKE | opcode::RMW | opcode::CMPXCHG)
        };
        meets && !begins_with_choice && !llvm.instructions(block).iter().any(does_more)
    }

    /// Where a block leads that does nothing, as a way to where both meet may have one of its own.
    pub(crate) fn behind_empty(&self, block: Ref) -> Ref {
        let llvm = self.llvm;
        let end = llvm.terminator(block);
        let leads_on = !end.is_null() && llvm.opcode(end) == opcode::BR && llvm.successors(end) == 1;
        if leads_on && llvm.first_instruction(block) == end {
            llvm.successor(end, 0)
        } else {
            block
        }
    }

    /// True if what was computed goes into the variable and nowhere else, and no test has made a truth value of a number on the way:
    /// `b[i] = s += x` uses the sum so far, and `r = (r + x) != 0` is no sum.
    fn is_kept(&self, stored: Ref, value: Ref, loads: &[Ref]) -> bool {
        let llvm = self.llvm;
        let (mut at, mut tests) = (stored, false);
        while at != value {
            tests |= llvm.opcode(at) == opcode::ICMP;
            if !self.is_used_once(at) {
                return false;
            }
            at = llvm.operand(at, 0);
        }
        let is_truth = |load: &Ref| users(llvm, *load).into_iter().all(|user| self.stored.takes_bit(user));
        self.is_used_once(value) && (!tests || loads.iter().all(is_truth))
    }

    /// True if the loop uses a value once: what is left over may be used after it.
    fn is_used_once(&self, value: Ref) -> bool {
        let inside = |user: &Ref| {
            let block = self.around.numbers.get(&self.llvm.block_of(*user));
            let number = self.around.innermost.zip(block);
            number.is_none_or(|(number, block)| self.around.loops.contains(number, *block))
        };
        users(self.llvm, value).iter().filter(|user| inside(user)).count() <= 1
    }

    /// The load of our address that a value is, if nothing else uses it.
    pub(crate) fn load(&self, value: Ref) -> Option<Ref> {
        self.load_used(value, 1)
    }

    /// The same; a comparison and what it chooses are two uses. Updates on other branches are uses of their own: the judge compares their
    /// operators.
    fn load_used(&self, value: Ref, most: usize) -> Option<Ref> {
        let value = self.stored.strip(value);
        if !self.is_ours(value) {
            return None;
        }
        let all = users(self.llvm, value);
        let others = || all.iter().filter(|user| self.goes_back(**user)).count();
        (all.len() <= most || all.len() - others() < most.max(1)).then_some(value)
    }

    /// The same of one whose bits all count.
    pub(crate) fn load_whole(&self, value: Ref, most: usize) -> Option<Ref> {
        self.load_used(value, most).filter(|load| self.stored.allows(value, *load, Update::Max))
    }

    /// True for what is read at our address, but for conversions.
    pub(crate) fn is_ours(&self, value: Ref) -> bool {
        let (llvm, value) = (self.llvm, self.stored.strip(value));
        let is_load = !llvm.is_a_instruction(value).is_null() && llvm.opcode(value) == opcode::LOAD;
        is_load && same(llvm, llvm.operand(value, 0), self.pointer, 0)
    }

    /// True for a result that is stored to our address, and used for nothing else.
    pub(crate) fn goes_back(&self, value: Ref) -> bool {
        let llvm = self.llvm;
        match users(llvm, value).as_slice() {
            [user] if llvm.opcode(*user) == opcode::STORE => {
                llvm.operand(*user, 0) == value && same(llvm, llvm.operand(*user, 1), self.pointer, 0)
            }
            _ => false,
        }
    }

    fn of_value(&self, value: Ref) -> Option<(Update, Vec<Ref>)> {
        let llvm = self.llvm;
        if llvm.is_a_instruction(value).is_null() {
            return None;
        }
        let code = llvm.opcode(value);
        let update = match code {
            opcode::ADD | opcode::FADD | opcode::SUB | opcode::FSUB => Update::Sum,
            opcode::MUL | opcode::FMUL => Update::Product,
            opcode::AND if self.stored.is_bit(value) => Update::Both,
            opcode::AND => Update::And,
            opcode::OR if self.stored.is_bit(value) => Update::Either,
            opcode::OR => Update::Or,
            opcode::XOR => Update::Xor,
            opcode::ICMP if self.stored.is_difference(value) => Update::Xor,
            opcode::CALL | opcode::INVOKE => return self.of_call(value),
            opcode::LOAD => return self.of_choice(value),
            opcode::PHI => return self.of_phi(value),
            opcode::INSERT_VALUE => return self.of_complex(value),
            opcode::SELECT => {
                let (condition, yes, no) = (llvm.operand(value, 0), llvm.operand(value, 1), llvm.operand(value, 2));
                let plain = || self.sometimes(yes, no).or_else(|| self.logical(condition, yes, no));
                let of_references = || self.of_references(value, condition, [yes, no]);
                let other = || plain().or_else(|| self.of_choices(value)).or_else(of_references);
                return self.extreme(condition, yes, no).or_else(other);
            }
            _ => return None,
        };
        self.in_chain(value, update, 0).map(|load| (update, vec![load]))
    }

    /// A sum of complex numbers, which Fortran keeps as a pair: part by part.
    fn of_complex(&self, value: Ref) -> Option<(Update, Vec<Ref>)> {
        let llvm = self.llvm;
        let is_insert =
            |value: Ref| !llvm.is_a_instruction(value).is_null() && llvm.opcode(value) == opcode::INSERT_VALUE;
        let inner = Some(llvm.operand(value, 0)).filter(|inner| is_insert(*inner))?;
        let part = |insert: Ref| self.part(llvm.operand(insert, 1), llvm.first_index(insert)?, 0);
        let (one, other) = (part(inner)?, part(value)?);
        let is_pair = one == other && llvm.first_index(inner) != llvm.first_index(value);
        (is_pair && users(llvm, one).len() == 2).then_some((Update::Sum, vec![one]))
    }

    /// The load of our address, a part of which is at the bottom of a sum.
    fn part(&self, value: Ref, number: u32, depth: usize) -> Option<Ref> {
        let llvm = self.llvm;
        if llvm.is_a_instruction(value).is_null() || depth > DEEPEST || !step(&self.left) || !self.is_used_once(value) {
            return None;
        }
        match llvm.opcode(value) {
            opcode::EXTRACT_VALUE if llvm.first_index(value) == Some(number) => {
                self.load_used(llvm.operand(value, 0), 2)
            }
            opcode::FADD => (0..2).find_map(|side| self.part(llvm.operand(value, side), number, depth + 1)),
            opcode::FSUB => self.part(llvm.operand(value, 0), number, depth + 1),
            _ => None,
        }
    }

    /// `c ? s + x : s`, or `c ? s + x : s + y`.
    fn sometimes(&self, yes: Ref, no: Ref) -> Option<(Update, Vec<Ref>)> {
        let changed = |value: Ref, update: Update| self.chain(value, update, 0, 2).filter(|_| self.is_used_once(value));
        [(yes, no), (no, yes)].into_iter().find_map(|(one, other)| {
            let kept = |update| self.load_used(other, 2).filter(|load| self.stored.allows(other, *load, update));
            COMMUTING.into_iter().find_map(|update| {
                let found = kept(update).or_else(|| changed(other, update))?;
                (changed(one, update) == Some(found)).then(|| (update, vec![found]))
            })
        })
    }

    /// `c ? 1 : found`, which is `found || c`; `c ? all : 0`; either may be the condition.
    fn logical(&self, condition: Ref, yes: Ref, no: Ref) -> Option<(Update, Vec<Ref>)> {
        let llvm = self.llvm;
        let sets = |value: Ref| match llvm.constant(value)? {
            0 => Some(Update::Both),
            1 => Some(Update::Either),
            -1 if self.stored.is_bit(value) => Some(Update::Either),
            _ => None,
        };
        let (update, kept) = sets(yes).map(|update| (update, no)).or_else(|| Some((sets(no)?, yes)))?;
        let of_condition =
            || Some(condition).filter(|_| self.stored.is_bit(kept)).and_then(|condition| self.load(condition));
        self.load(kept).or_else(of_condition).map(|load| (update, vec![load]))
    }

    /// The load at the bottom of a chain of one operator: `s + a + b`.
    fn in_chain(&self, value: Ref, update: Update, depth: usize) -> Option<Ref> {
        self.chain(value, update, depth, 1)
    }

    /// The same; `most`: uses of the load.
    fn chain(&self, value: Ref, update: Update, depth: usize, most: usize) -> Option<Ref> {
        let (llvm, outer) = (self.llvm, value);
        let value = self.stored.strip(outer);
        if depth > DEEPEST || llvm.is_a_instruction(value).is_null() || !step(&self.left) {
            return None;
        }
        if !self.stored.allows(outer, value, update) {
            return None;
        }
        let code = llvm.opcode(value);
        let sides: &[u32] = match (code, update) {
            (opcode::SUB | opcode::FSUB, Update::Sum) => &[0],
            (opcode::ADD | opcode::FADD, Update::Sum)
            | (opcode::MUL | opcode::FMUL, Update::Product)
            | (opcode::AND, Update::And | Update::Both)
            | (opcode::OR, Update::Or | Update::Either)
            | (opcode::XOR, Update::Xor) => &[0, 1],
            (opcode::ICMP, Update::Xor) if self.stored.is_difference(value) => &[0, 1],
            (opcode::CALL, Update::Sum) if self.is_fused(value) => &[2],
            _ => return None,
        };
        let next = |operand: Ref| {
            let found = self.chain(operand, update, depth + 1, most)?;
            self.is_used_once(operand).then_some(found)
        };
        sides.iter().find_map(|side| {
            let operand = llvm.operand(value, *side);
            let load = self.load_used(operand, most).filter(|load| self.stored.allows(operand, *load, update));
            load.or_else(|| next(operand))
        })
    }

    fn is_fused(&self, call: Ref) -> bool {
        let name = self.llvm.callee(call).map(|callee| self.llvm.name(callee)).unwrap_or_default();
        name.starts_with("llvm.fmuladd.") || name.starts_with("llvm.fma.") || matches!(name.as_str(), "fma" | "fmaf")
    }

    fn of_call(&self, call: Ref) -> Option<(Update, Vec<Ref>)> {
        let llvm = self.llvm;
        if self.is_fused(call) {
            return self.in_chain(call, Update::Sum, 0).map(|load| (Update::Sum, vec![load]));
        }
        let name = llvm.callee(call).map(|callee| llvm.name(callee))?;
        if library::chooses_of_list(&name) {
            return self.of_list(call, if name.starts_with("_ZSt3max") { Update::Max } else { Update::Min });
        }
        let Choice { update, signed } = self.chooser(call)?;
        let sides = [llvm.operand(call, 0), llvm.operand(call, 1)];
        let ours = |ours: Ref, other: Ref| self.load_whole(ours, 1).filter(|_| self.stored.agrees(signed, ours, other));
        let one = ours(sides[0], sides[1]).or_else(|| ours(sides[1], sides[0])).map(|load| (update, vec![load]));
        one.or_else(|| [0, 1].iter().find_map(|side| self.extreme_of_more(llvm.operand(call, *side), update)))
    }

    /// What a call chooses of its two arguments.
    pub(crate) fn chooser(&self, call: Ref) -> Option<Choice> {
        let callee = self.llvm.callee(call)?;
        choosers::of_name(&self.llvm.name(callee)).or_else(|| self.choosers.get(&callee).copied())
    }

    /// `m = std::max(m, x)`: what is stored is read through what the call chose.
    fn of_choice(&self, load: Ref) -> Option<(Update, Vec<Ref>)> {
        let llvm = self.llvm;
        let call = llvm.operand(load, 0);
        if llvm.is_a_instruction(call).is_null() || !matches!(llvm.opcode(call), opcode::CALL | opcode::INVOKE) {
            return None;
        }
        let name = llvm.callee(call).map(|callee| llvm.name(callee)).filter(|name| library::chooses(name))?;
        let ours = |at: u32| same(llvm, llvm.operand(call, at), self.pointer, 0);
        let update = if name.starts_with("_ZSt3max") { Update::Max } else { Update::Min };
        if ours(0) == ours(1) {
            return None;
        }
        self.chosen.set(Some((call, usize::from(ours(1)))));
        Some((update, vec![load]))
    }

    /// `m = std::max({m, x, y})`: the list is an object of the statement, into which what was there is copied once.
    fn of_list(&self, call: Ref, update: Update) -> Option<(Update, Vec<Ref>)> {
        let llvm = self.llvm;
        let is = |value: Ref, code: i32| !llvm.is_a_instruction(value).is_null() && llvm.opcode(value) == code;
        let first = llvm.operand(call, 0);
        let list = if is(first, opcode::LOAD) { base(llvm, llvm.operand(first, 0)) } else { return None };
        let begins = users_through(llvm, list).into_iter().find(|user| is(*user, opcode::STORE))?;
        let elements = base(llvm, llvm.operand(begins, 0));
        if !is(list, opcode::ALLOCA) || !is(elements, opcode::ALLOCA) {
            return None;
        }
        let mut found = Vec::new();
        for user in users(llvm, elements) {
            let through = if llvm.opcode(user) == opcode::GEP { users(llvm, user) } else { vec![user] };
            for user in through {
                match llvm.opcode(user) {
                    opcode::STORE if base(llvm, llvm.operand(user, 0)) == elements => {}
                    opcode::STORE => found.extend(self.load(llvm.operand(user, 0))),
                    opcode::CALL => {}
                    _ => return None,
                }
            }
        }
        (found.len() == 1).then_some((update, found))
    }

    /// `ok = ok && x`, or one of the values that a condition chose.
    fn of_phi(&self, phi: Ref) -> Option<(Update, Vec<Ref>)> {
        let llvm = self.llvm;
        if llvm.incoming_count(phi) != 2 {
            return None;
        }
        let sides = [0, 1].map(|at| (llvm.incoming_value(phi, at), llvm.incoming_block(phi, at)));
        for (this, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            let Some(constant) = llvm.constant(this.0) else {
                continue;
            };
            let update = if constant == 0 { Update::Both } else { Update::Either };
            let first = self.condition(this.1).and_then(|condition| self.load(condition));
            if let Some(load) = first.or_else(|| self.load(other.0)) {
                return Some((update, vec![load]));
            }
        }
        // The block before both has the comparison.
        let before = sides.map(|(_, block)| self.only_predecessor(block));
        let condition = before[0].filter(|_| before[0] == before[1]).and_then(|block| self.condition(block))?;
        let first_if_true = self.llvm.successor(llvm.terminator(before[0]?), 0) == sides[0].1;
        let (yes, no) = if first_if_true { (sides[0].0, sides[1].0) } else { (sides[1].0, sides[0].0) };
        self.extreme(condition, yes, no).or_else(|| self.sometimes_of_two(yes, no))
    }

    /// `c ? s + x : s` on two ways, each of which reads for itself.
    fn sometimes_of_two(&self, yes: Ref, no: Ref) -> Option<(Update, Vec<Ref>)> {
        let changed = |value: Ref, update: Update| self.in_chain(value, update, 0).filter(|_| self.is_used_once(value));
        let kept = |value: Ref, update| self.load(value).filter(|load| self.stored.allows(value, *load, update));
        let either = |value: Ref, update| changed(value, update).or_else(|| kept(value, update));
        // One of them at least applies the operator.
        let applies = |update| changed(yes, update).is_some() || changed(no, update).is_some();
        let all = COMMUTING.into_iter().filter(|update| applies(*update));
        all.into_iter().find_map(|update| Some((update, vec![either(yes, update)?, either(no, update)?])))
    }

    /// `c ? yes : no`, one of them what was there.
    fn extreme(&self, condition: Ref, yes: Ref, no: Ref) -> Option<(Update, Vec<Ref>)> {
        let llvm = self.llvm;
        // Nothing else may know whether a greater one was found.
        if users(llvm, condition).len() > 1 {
            return None;
        }
        let Compared { left, right, signed, update } = self.chosen_by(condition, yes, no)?;
        let all = [left, right, yes, no];
        let loads: Vec<Ref> = all.into_iter().filter_map(|value| self.load_whole(value, 2)).collect();
        if !loads.is_empty() {
            let (ours, other) = if self.load_whole(left, 2).is_some() { (left, right) } else { (right, left) };
            return self.stored.agrees(signed, ours, other).then_some((update, loads));
        }
        // `max(m, x, y)`: one of both is itself what was chosen.
        [left, right].into_iter().find_map(|side| self.extreme_of_more(side, update))
    }

    /// `max()` of references, as Rust's library has it: which of two is chosen by what they refer to.
    fn of_references(&self, select: Ref, condition: Ref, chosen: [Ref; 2]) -> Option<(Update, Vec<Ref>)> {
        let llvm = self.llvm;
        if in_library(llvm, llvm.debug_location(select)) != Some(true) || users(llvm, condition).len() > 1 {
            return None;
        }
        let (left, right, greater, _) = self.comparison(condition)?;
        let is_load = |value: Ref| !llvm.is_a_instruction(value).is_null() && llvm.opcode(value) == opcode::LOAD;
        if !is_load(left) || !is_load(right) || !self.is_used_once(left) || !self.is_used_once(right) {
            return None;
        }
        let compared = [left, right].map(|load| llvm.operand(load, 0));
        let takes_left = compared == chosen;
        if !takes_left && compared != [chosen[1], chosen[0]] {
            return None;
        }
        let ours = chosen.into_iter().find(|value| self.is_ours(*value) && users(llvm, *value).len() == 2)?;
        Some((if takes_left == greater { Update::Max } else { Update::Min }, vec![ours]))
    }

    /// Which of two numbers `c ? yes : no` gives, if `c` compares these.
    pub(crate) fn chosen_by(&self, comparison: Ref, yes: Ref, no: Ref) -> Option<Compared> {
        let (left, right, greater, signed) = self.comparison(comparison)?;
        let takes_left = if self.stored.is_equal(left, yes) && self.stored.is_equal(right, no) {
            true
        } else if self.stored.is_equal(right, yes) && self.stored.is_equal(left, no) {
            false
        } else {
            return None;
        };
        let update = if takes_left == greater { Update::Max } else { Update::Min };
        Some(Compared { left, right, signed, update })
    }

    /// What was there at the bottom of several choices of one kind, each used by the next alone.
    fn extreme_of_more(&self, value: Ref, update: Update) -> Option<(Update, Vec<Ref>)> {
        let (llvm, outer, value) = (self.llvm, value, self.stored.strip(value));
        let is_plain = self.stored.allows(outer, value, update);
        if !is_plain || llvm.is_a_instruction(value).is_null() || !step(&self.left) {
            return None;
        }
        let is_choice = match llvm.opcode(value) {
            opcode::SELECT => users(llvm, value).len() <= 2,
            opcode::CALL => users(llvm, value).len() <= 1 && !self.is_fused(value),
            _ => false,
        };
        self.of_value(value).filter(|(other, _)| is_choice && *other == update)
    }

    /// Both sides of a comparison, whether it is "greater", and of integers, whether they have a sign.
    pub(crate) fn comparison(&self, condition: Ref) -> Option<(Ref, Ref, bool, Option<bool>)> {
        let llvm = self.llvm;
        if llvm.is_a_instruction(condition).is_null() {
            return None;
        }
        let (greater, signed) = match llvm.opcode(condition) {
            opcode::ICMP => match llvm.predicate(condition) {
                sign @ (34 | 35 | 38 | 39) => (true, Some(sign >= 38)),
                sign @ (36 | 37 | 40 | 41) => (false, Some(sign >= 38)),
                _ => return None,
            },
            opcode::FCMP => match llvm.real_predicate(condition) {
                2 | 3 | 10 | 11 => (true, None),
                4 | 5 | 12 | 13 => (false, None),
                _ => return None,
            },
            _ => return None,
        };
        Some((llvm.operand(condition, 0), llvm.operand(condition, 1), greater, signed))
    }

    pub(crate) fn condition(&self, block: Ref) -> Option<Ref> {
        let end = self.llvm.terminator(block);
        let is = !end.is_null() && self.llvm.opcode(end) == opcode::BR && self.llvm.is_conditional(end) != 0;
        is.then(|| self.llvm.operand(end, 0))
    }

    pub(crate) fn only_predecessor(&self, block: Ref) -> Option<Ref> {
        let llvm = self.llvm;
        let mut ends = users(llvm, llvm.block_as_value(block));
        ends.retain(|user| matches!(llvm.opcode(*user), opcode::BR | opcode::SWITCH));
        match ends.as_slice() {
            [end] => Some(llvm.block_of(*end)),
            _ => None,
        }
    }
}
