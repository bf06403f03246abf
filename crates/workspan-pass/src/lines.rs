//! Lines: values that grow by the same amount in each iteration of a loop of one block.
//!
//! **Invariant:** the value of a line in iteration `n` is that of iteration 0 plus `n` times a step, modulo 2⁶⁴. Built of lines are
//! sums, differences, products with what does not change, and elements of arrays; narrower integers are not, since they wrap.

use std::collections::HashMap;

use crate::llvm::{opcode, type_kind, Llvm, Ref};

/// How deep an expression may be.
const DEPTH: u32 = 12;

/// A loop that writes one event.
#[derive(Clone, Copy, Debug)]
pub struct Repeat {
    /// Its block.
    pub block: Ref,
    /// The way out, a block of its own.
    pub way_out: Ref,
    /// A value that counts the iterations.
    pub counter: Counter,
}

/// What counts iterations: `(next − first) / step`.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// In the iteration after the last.
    pub next: Ref,
    /// In the first one.
    pub first: Ref,
    /// What it grows by.
    pub step: i64,
}

/// Loops of a function that write one event, by their blocks.
pub type Repeats = HashMap<Ref, Repeat>;

/// Values as they change from one iteration of a block's loop to the next.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "handles")]
pub struct Lines<'l> {
    /// LLVM.
    pub llvm: &'l Llvm,
    /// Layout of types.
    pub layout: Ref,
    /// The block.
    pub block: Ref,
}

/// How a line grows from one iteration to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// By a constant.
    By(i64),
    /// By something that is the same in all iterations, and known at run time only.
    Unknown,
}

/// The iteration that a value is wanted of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The last one.
    Last,
    /// The one that would follow.
    Next,
}

impl Lines<'_> {
    /// How an address grows; nothing if it is no line.
    pub fn growth_of(&self, pointer: Ref) -> Option<Growth> {
        self.growth(pointer, DEPTH)
    }

    fn is_inside(&self, value: Ref) -> bool {
        !self.llvm.is_a_instruction(value).is_null() && self.llvm.block_of(value) == self.block
    }

    /// A width in which lines do not wrap: a pointer's.
    fn is_wide(&self, value: Ref) -> bool {
        let ty = self.llvm.type_of(value);
        match self.llvm.type_kind(ty) {
            type_kind::INTEGER => self.llvm.int_width(ty) == 64,
            type_kind::POINTER => self.llvm.address_space(ty) == 0,
            _ => false,
        }
    }

    /// How a value grows from one iteration to the next, if it is a line.
    fn growth(&self, value: Ref, depth: u32) -> Option<Growth> {
        let llvm = self.llvm;
        if !self.is_inside(value) {
            return Some(Growth::By(0));
        }
        if depth == 0 {
            return None;
        }
        let operand = |number| llvm.operand(value, number);
        let of = |number| self.growth(operand(number), depth - 1);
        if !self.is_wide(value) {
            return self.unchanged(value, depth);
        }
        match llvm.opcode(value) {
            opcode::PHI => self.phi(value).map(|(_, growth)| growth),
            opcode::ADD => of(0)?.plus(of(1)?),
            opcode::SUB => of(0)?.plus(of(1)?.times(-1)?),
            opcode::MUL => match (llvm.constant(operand(0)), llvm.constant(operand(1)), of(0)?, of(1)?) {
                (_, Some(factor), growth, _) | (Some(factor), _, _, growth) => growth.times(factor),
                (_, _, Growth::By(0), Growth::By(0)) => Some(Growth::By(0)),
                (_, _, Growth::By(0), _) | (_, _, _, Growth::By(0)) => Some(Growth::Unknown),
                _ => None,
            },
            opcode::SHL => match (llvm.constant(operand(1)), of(0)?, of(1)?) {
                (Some(bits @ 0..62), growth, _) => growth.times(1 << bits),
                (_, Growth::By(0), Growth::By(0)) => Some(Growth::By(0)),
                (_, _, Growth::By(0)) => Some(Growth::Unknown),
                _ => None,
            },
            opcode::OR => match (llvm.constant(operand(1)), of(0)?) {
                // Bits below the step are the same in all iterations, and set or not.
                (Some(bits @ 1..0x1_0000_0000), Growth::By(step))
                    if step % (bits + 1).cast_unsigned().next_power_of_two().cast_signed() == 0 =>
                {
                    Some(Growth::By(step))
                }
                _ => self.unchanged(value, depth),
            },
            opcode::GEP => self.element(value, depth),
            opcode::BITCAST | opcode::PTR_TO_INT | opcode::INT_TO_PTR if self.is_wide(operand(0)) => of(0),
            _ => self.unchanged(value, depth),
        }
    }

    /// Nothing for what is computed from something that changes.
    fn unchanged(&self, value: Ref, depth: u32) -> Option<Growth> {
        let llvm = self.llvm;
        let code = llvm.opcode(value);
        let pure = matches!(code, opcode::ADD..=opcode::XOR | opcode::GEP | opcode::FREEZE)
            || matches!(code, opcode::FIRST_CAST..=opcode::LAST_CAST | opcode::ICMP | opcode::FCMP | opcode::SELECT);
        let count = u32::try_from(llvm.operands(value)).unwrap_or(0);
        let is_same = |number| self.growth(llvm.operand(value, number), depth - 1) == Some(Growth::By(0));
        (pure && (0..count).all(is_same)).then_some(Growth::By(0))
    }

    /// The value of a line in the next iteration, and how it grows, if it is one of the block's own.
    fn phi(&self, phi: Ref) -> Option<(Ref, Growth)> {
        let llvm = self.llvm;
        let number = (0..llvm.incoming_count(phi)).find(|number| llvm.incoming_block(phi, *number) == self.block)?;
        let next = llvm.incoming_value(phi, number);
        let (mut at, mut total) = (next, Growth::By(0));
        for _ in 0..DEPTH {
            if at == phi {
                return Some((next, total));
            }
            if !self.is_inside(at) {
                return None;
            }
            let [left, right] = [0, 1].map(|number| llvm.operand(at, number));
            let by = |value| match llvm.constant(value) {
                Some(step) => Some(Growth::By(step)),
                None => (!self.is_inside(value)).then_some(Growth::Unknown),
            };
            let grows = match llvm.opcode(at) {
                opcode::ADD => by(right)?,
                opcode::SUB => by(right)?.times(-1)?,
                opcode::GEP => match crate::address::constant_offset(llvm, self.layout, at) {
                    Some(step) => Growth::By(step),
                    None if llvm.operands(at) == 2 && self.is_wide(right) => {
                        // Unknown whatever the elements' size.
                        by(right)?;
                        Growth::Unknown
                    }
                    None => return None,
                },
                _ => return None,
            };
            total = total.plus(grows)?;
            at = left;
        }
        None
    }

    fn element(&self, gep: Ref, depth: u32) -> Option<Growth> {
        let llvm = self.llvm;
        let mut total = self.growth(llvm.operand(gep, 0), depth - 1)?;
        let mut ty = llvm.gep_source_type(gep);
        for number in 1..u32::try_from(llvm.operands(gep)).ok()? {
            let index = llvm.operand(gep, number);
            let size = |ty| i64::try_from(llvm.abi_size(self.layout, ty)).ok();
            let growth = if number == 1 {
                if llvm.type_kind(ty) == type_kind::SCALABLE_VECTOR {
                    return None;
                }
                self.growth(index, depth - 1)?.times(size(ty)?)?
            } else if llvm.type_kind(ty) == type_kind::STRUCT {
                ty = llvm.struct_element(ty, u32::try_from(llvm.constant(index)?).ok()?);
                Growth::By(0)
            } else if matches!(llvm.type_kind(ty), type_kind::ARRAY | type_kind::VECTOR) {
                ty = llvm.element_type(ty);
                self.growth(index, depth - 1)?.times(size(ty)?)?
            } else {
                return None;
            };
            if growth != Growth::By(0) && !self.is_wide(index) {
                return None;
            }
            total = total.plus(growth)?;
        }
        Some(total)
    }

    /// A value of the loop that counts its iterations.
    pub fn counter(&self) -> Option<Counter> {
        let llvm = self.llvm;
        let phis = llvm.instructions(self.block).into_iter().take_while(|i| llvm.opcode(*i) == opcode::PHI);
        let lines = phis.filter(|phi| self.is_wide(*phi) && llvm.incoming_count(*phi) == 2).filter_map(|phi| {
            let (next, Growth::By(step)) = self.phi(phi)? else {
                return None;
            };
            let first = (0..2).find(|number| llvm.incoming_block(phi, *number) != self.block)?;
            (step != 0).then(|| Counter { next, first: llvm.incoming_value(phi, first), step })
        });
        // Nothing need be kept of one that begins with a constant.
        lines.min_by_key(|line| u8::from(llvm.constant(line.first).is_none()))
    }

    /// Writes down what a line is in the last iteration, or would be in the next, behind the loop.
    pub fn value(&self, builder: Ref, value: Ref, when: When) -> Ref {
        let llvm = self.llvm;
        let none = c"".as_ptr();
        if !self.is_inside(value) || self.unchanged(value, DEPTH).is_some() {
            return value;
        }
        let operand = |number| self.value(builder, llvm.operand(value, number), when);
        // Built without the promises of the original, which hold for iterations that there are.
        match llvm.opcode(value) {
            opcode::PHI => self.phi_value(builder, value, when),
            opcode::ADD => llvm.build_add(builder, operand(0), operand(1), none),
            opcode::SUB => llvm.build_sub(builder, operand(0), operand(1), none),
            opcode::MUL => llvm.build_mul(builder, operand(0), operand(1), none),
            opcode::SHL => llvm.build_shl(builder, operand(0), operand(1), none),
            opcode::OR => llvm.build_or(builder, operand(0), operand(1), none),
            opcode::PTR_TO_INT => llvm.build_ptr_to_int(builder, operand(0), llvm.type_of(value), none),
            opcode::INT_TO_PTR => llvm.build_int_to_ptr(builder, operand(0), llvm.type_of(value), none),
            opcode::BITCAST => operand(0),
            opcode::GEP => {
                let count = u32::try_from(llvm.operands(value)).unwrap_or(1);
                let mut indices: Vec<Ref> = (1..count).map(operand).collect();
                let ty = llvm.gep_source_type(value);
                llvm.build_gep(builder, ty, operand(0), indices.as_mut_ptr(), count - 1, none)
            }
            _ => value,
        }
    }

    /// The same of one that the loop carries. The next value is there anyway; the last one is made of it rather than kept.
    fn phi_value(&self, builder: Ref, phi: Ref, when: When) -> Ref {
        let llvm = self.llvm;
        let none = c"".as_ptr();
        match (self.phi(phi), when) {
            (Some((next, _)), When::Next) => next,
            (Some((next, Growth::By(step))), When::Last) => {
                let word = llvm.int_type(llvm.context_of_value(phi), 64);
                let mut back = llvm.const_int(word, step.wrapping_neg().cast_unsigned(), 0);
                if llvm.type_kind(llvm.type_of(phi)) == type_kind::POINTER {
                    let byte = llvm.int_type(llvm.context_of_value(phi), 8);
                    llvm.build_gep(builder, byte, next, &raw mut back, 1, none)
                } else {
                    llvm.build_add(builder, next, back, none)
                }
            }
            _ => phi,
        }
    }
}

impl Growth {
    fn plus(self, other: Growth) -> Option<Growth> {
        match (self, other) {
            (Growth::By(one), Growth::By(other)) => one.checked_add(other).map(Growth::By),
            _ => Some(Growth::Unknown),
        }
    }

    fn times(self, factor: i64) -> Option<Growth> {
        match self {
            Growth::By(step) => step.checked_mul(factor).map(Growth::By),
            Growth::Unknown => Some(Growth::Unknown),
        }
    }
}

impl Counter {
    /// Writes down the number of iterations.
    pub fn iterations(&self, llvm: &Llvm, builder: Ref, word: Ref) -> Ref {
        let none = c"".as_ptr();
        let as_word = |value: Ref| {
            let is_pointer = llvm.type_kind(llvm.type_of(value)) == type_kind::POINTER;
            if is_pointer {
                llvm.build_ptr_to_int(builder, value, word, none)
            } else {
                value
            }
        };
        let grown = llvm.build_sub(builder, as_word(self.next), as_word(self.first), none);
        if self.step == 1 {
            return grown;
        }
        let step = llvm.const_int(word, self.step.cast_unsigned(), 0);
        llvm.build_exact_sdiv(builder, grown, step, none)
    }
}
