//! What the pass knows of a module beyond its accesses, when it instruments before optimisation: variables that need no
//! event, reductions, conditions of loops. The dependence profile is computed from it.
//!
//! A local variable whose address goes nowhere has no memory for certain: the optimiser keeps it in a register. Its reads and
//! writes are known from the segment alone ([`Touch`]), so that they cost nothing at run time and still are dependences.
//!
//! **Invariant:** every index is valid in the module that it was decoded with.

use crate::bytes::{Malformed, Reader, Writer};
use crate::NONE;

/// Facts of a module; empty if it was instrumented after optimisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The module was instrumented before optimisation.
    pub early: bool,
    /// Local variables, function by function: those without an address; then numbers and pointers with one, which have no touches.
    pub locals: Vec<Local>,
    /// Their reads and writes, segment by segment.
    pub touches: Vec<Touch>,
    /// Lines, segment by segment.
    pub runs: Vec<Run>,
    /// How many runs each segment has.
    pub segments: Vec<u32>,
    /// One for each operation.
    pub operations: Vec<Meaning>,
    /// One for each loop.
    pub loops: Vec<LoopFacts>,
}

/// A local variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Local {
    /// Function.
    pub function: u32,
    /// Name, in the texts of the module; [`NONE`]: the compiler made it up.
    pub name: u32,
    /// Line of its declaration; 0: unknown.
    pub line: u32,
}

/// What is done with a local variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Deed {
    /// It is read.
    #[default]
    Read = 0,
    /// It is written.
    Write = 1,
    /// Its scope begins: what it held is gone.
    Begin = 2,
}

/// A read or write of a local variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touch {
    /// Variable, counted in the module.
    pub local: u32,
    /// What is done.
    pub deed: Deed,
    /// [`Update`], or 0.
    pub update: u8,
    /// Place, or [`NONE`].
    pub place: u32,
    /// Every iteration of the innermost loop around it does it.
    pub always: bool,
}

/// Consecutive instructions of a segment that stand on one line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Line; 0: unknown.
    pub line: u32,
    /// Instructions, without those that only move locals.
    pub cost: u32,
    /// Operations.
    pub operations: u32,
    /// Touches.
    pub touches: u32,
}

/// Form of the facts that is written and read.
const FORM: u32 = 2;
/// Bit of [`Meaning::whole`] in a description, beyond those of the operator.
const WHOLE: u32 = 9;
/// Bit of [`Meaning::always`] and [`Touch::always`].
const ALWAYS: u32 = 10;
/// Bit of [`Meaning::alone`].
const ALONE: u32 = 11;
/// Lowest bit of [`Meaning::fixed`], and how many values it has.
const FIXED: u32 = 12;
const FIXED_MOST: u32 = 15;
/// Bit of [`Meaning::pointer`].
const POINTER: u32 = 16;
/// Bit of [`Meaning::moves`].
const MOVES: u32 = 17;

/// What an operation means in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    /// Name of the variable that it reaches memory by, in the texts, or [`NONE`].
    pub variable: u32,
    /// [`Update`], or 0.
    pub update: u8,
    /// The variable is accessed itself, not through a pointer.
    pub direct: bool,
    /// The variable is a number or a pointer by itself, and all of it is accessed.
    pub whole: bool,
    /// The local variable with an address that it is, counted in the module, + 1; 0: none.
    pub local: u32,
    /// Every iteration of the innermost loop around it does it.
    pub always: bool,
    /// It applies an operator, and nothing else depends on what that gives.
    pub alone: bool,
    /// The number of loops around it, from the innermost one on, in which each iteration reaches the same address, and what it writes is no constant.
    pub fixed: u8,
    /// In the next loop around it an index changes: it reaches several elements.
    pub moves: bool,
    /// What it reads is a pointer or a part of Fortran's description of an array, or what it writes is all of the latter.
    pub pointer: bool,
}

/// Operators that may be applied in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Update {
    /// `+`, also `-`.
    Sum = 1,
    /// `*`
    Product = 2,
    /// `&`
    And = 3,
    /// `|`
    Or = 4,
    /// `^`
    Xor = 5,
    /// The smaller one.
    Min = 6,
    /// The larger one.
    Max = 7,
    /// `&&`
    Both = 8,
    /// `||`
    Either = 9,
}

impl Update {
    /// By its number.
    pub fn of(number: u8) -> Option<Update> {
        use Update::{And, Both, Either, Max, Min, Or, Product, Sum, Xor};
        let all = [Sum, Product, And, Or, Xor, Min, Max, Both, Either];
        usize::from(number).checked_sub(1).and_then(|number| all.get(number).copied())
    }

    /// True for operators of which `found = 1` and `all = 0` are uses, too.
    pub fn is_of_constant(self) -> bool {
        matches!(self, Update::Both | Update::Either)
    }

    /// As OpenMP writes it.
    pub fn sign(self) -> &'static str {
        match self {
            Update::Sum => "+",
            Update::Product => "*",
            Update::And => "&",
            Update::Or => "|",
            Update::Xor => "^",
            Update::Min => "min",
            Update::Max => "max",
            Update::Both => "&&",
            Update::Either => "||",
        }
    }
}

/// Bits of [`LoopFacts::flags`].
pub mod loop_flag {
    /// It can be left from more than one place.
    pub const EARLY_EXIT: u32 = 1;
    /// Whether it goes on depends on data, not on a counter alone.
    pub const DATA_EXIT: u32 = 1 << 1;
    /// It is never left by a condition.
    pub const ENDLESS: u32 = 1 << 2;
}

/// What is known of a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopFacts {
    /// [`loop_flag`].
    pub flags: u32,
    /// Place of the statement, or [`NONE`].
    pub place: u32,
    /// Its last line; 0: unknown.
    pub last_line: u32,
    /// Basic block that begins the body.
    pub body: u32,
    /// Variables that advance by the same step in each iteration.
    pub inductions: Vec<Induction>,
}

/// A variable that advances by the same step in each iteration of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Induction {
    /// Variable.
    pub local: u32,
    /// Step; 0: not constant, but the same for each iteration.
    pub step: i64,
    /// The condition of the loop reads it.
    pub control: bool,
}

impl Facts {
    /// Appends the encoding.
    pub fn encode(&self, out: &mut Writer) {
        out.number(if self.early { FORM.into() } else { 0 });
        if !self.early {
            return;
        }
        out.number(self.locals.len() as u64);
        for local in &self.locals {
            out.number(local.function.into());
            out.number(u64::from(local.name.wrapping_add(1)));
            out.number(local.line.into());
        }
        for runs in &self.segments {
            out.number((*runs).into());
        }
        for run in &self.runs {
            for value in [run.line, run.cost, run.operations, run.touches] {
                out.number(value.into());
            }
        }
        for touch in &self.touches {
            out.number(touch.local.into());
            let always = u64::from(touch.always) << ALWAYS;
            out.number(u64::from(touch.deed as u8) | u64::from(touch.update) << 2 | always);
            out.number(u64::from(touch.place.wrapping_add(1)));
        }
        for meaning in &self.operations {
            out.number(u64::from(meaning.variable.wrapping_add(1)));
            let bits = [
                (meaning.whole, WHOLE),
                (meaning.always, ALWAYS),
                (meaning.alone, ALONE),
                (meaning.pointer, POINTER),
                (meaning.moves, MOVES),
            ];
            let bits = bits.into_iter().fold(0, |bits, (is_set, bit)| bits | u64::from(is_set) << bit);
            let fixed = u64::from(meaning.fixed).min(FIXED_MOST.into()) << FIXED;
            out.number(u64::from(meaning.direct) | u64::from(meaning.update) << 1 | bits | fixed);
            out.number(meaning.local.into());
        }
        for each in &self.loops {
            out.number(each.flags.into());
            out.number(u64::from(each.place.wrapping_add(1)));
            out.number(each.last_line.into());
            out.number(each.body.into());
            out.number(each.inductions.len() as u64);
            for induction in &each.inductions {
                out.number(u64::from(induction.local) << 1 | u64::from(induction.control));
                out.signed(induction.step);
            }
        }
    }

    /// Reads what [`Facts::encode`] wrote. `sizes`: of the module.
    pub fn decode(from: &mut Reader<'_>, sizes: Sizes) -> Result<Facts, Malformed> {
        let form = from.small()?;
        let mut facts = Facts { early: form != 0, ..Facts::default() };
        if !facts.early {
            return Ok(facts);
        }
        if form != FORM {
            return Err(Malformed);
        }
        for _ in 0..from.count()? {
            let function = below(from.small()?, sizes.functions)?;
            let name = or_none(from.small()?, sizes.texts)?;
            facts.locals.push(Local { function, name, line: from.small()? });
        }
        let mut runs: usize = 0;
        for _ in 0..sizes.segments {
            let count = from.small()?;
            runs = runs.checked_add(count as usize).ok_or(Malformed)?;
            facts.segments.push(count);
        }
        let (mut operations, mut touches) = (0_u64, 0_u64);
        for _ in 0..runs {
            let run =
                Run { line: from.small()?, cost: from.small()?, operations: from.small()?, touches: from.small()? };
            operations += u64::from(run.operations);
            touches += u64::from(run.touches);
            facts.runs.push(run);
        }
        if operations != sizes.operations as u64 {
            return Err(Malformed);
        }
        for _ in 0..touches {
            let local = below(from.small()?, facts.locals.len())?;
            let head = from.small()?;
            let deed = match head & 3 {
                0 => Deed::Read,
                1 => Deed::Write,
                2 => Deed::Begin,
                _ => return Err(Malformed),
            };
            let update = u8::try_from((head & !(1 << ALWAYS)) >> 2).map_err(|_| Malformed)?;
            let always = head >> ALWAYS & 1 != 0;
            facts.touches.push(Touch { local, deed, update, place: or_none(from.small()?, sizes.places)?, always });
        }
        for _ in 0..sizes.operations {
            let variable = or_none(from.small()?, sizes.texts)?;
            let head = from.small()?;
            let [whole, always, alone, pointer, moves] =
                [WHOLE, ALWAYS, ALONE, POINTER, MOVES].map(|bit| head >> bit & 1 != 0);
            let fixed = (head >> FIXED & FIXED_MOST) as u8;
            let bits = 1 << WHOLE | 1 << ALWAYS | 1 << ALONE | FIXED_MOST << FIXED | 1 << POINTER | 1 << MOVES;
            let update = u8::try_from((head & !bits) >> 1).map_err(|_| Malformed)?;
            let local = below(from.small()?, facts.locals.len() + 1)?;
            let direct = head & 1 != 0;
            facts.operations.push(Meaning {
                variable,
                update,
                direct,
                whole,
                local,
                always,
                alone,
                fixed,
                moves,
                pointer,
            });
        }
        for _ in 0..sizes.loops {
            let flags = from.small()?;
            let place = or_none(from.small()?, sizes.places)?;
            let mut each =
                LoopFacts { flags, place, last_line: from.small()?, body: from.small()?, inductions: Vec::new() };
            for _ in 0..from.count()? {
                let head = from.small()?;
                let local = below(head >> 1, facts.locals.len())?;
                each.inductions.push(Induction { local, step: from.signed()?, control: head & 1 != 0 });
            }
            facts.loops.push(each);
        }
        Ok(facts)
    }
}

/// How many of what a module has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    /// Functions.
    pub functions: usize,
    /// Texts.
    pub texts: usize,
    /// Places.
    pub places: usize,
    /// Segments.
    pub segments: usize,
    /// Operations.
    pub operations: usize,
    /// Loops.
    pub loops: usize,
}

fn below(value: u32, most: usize) -> Result<u32, Malformed> {
    if (value as usize) < most {
        Ok(value)
    } else {
        Err(Malformed)
    }
}

fn or_none(value: u32, most: usize) -> Result<u32, Malformed> {
    match value.wrapping_sub(1) {
        NONE => Ok(NONE),
        value => below(value, most),
    }
}
