//! The static description of an instrumented module: what a compiler unit leaves in the program once.
//!
//! A **segment** is the part of a basic block between two calls; its event is written when it begins. It has the
//! operations that access memory, in program order; [`Module::slots`] says which slots of the event hold what.

use crate::bytes::{Malformed, Reader, Writer};
use crate::facts::{Facts, Sizes};
use crate::{MOST_SLOTS, READABLE, VERSION};

pub use crate::NONE;

/// Bits of [`Segment::flags`].
pub mod flag {
    /// First of its basic block.
    pub const BLOCK: u32 = 1;
    /// First of its function.
    pub const ENTRY: u32 = 1 << 1;
    /// The function returns at its end, or in the call at its end (a tail call).
    pub const RETURN: u32 = 1 << 2;
    /// A call is at its end.
    pub const CALL: u32 = 1 << 3;
    /// It follows a call, which has therefore returned.
    pub const AFTER_CALL: u32 = 1 << 4;
    /// The first slot is the address of the frame: at function entries, and where unwinding or `longjmp` may arrive.
    pub const FRAME: u32 = 1 << 5;
    /// Unwinding arrives here.
    pub const LANDING: u32 = 1 << 6;
    /// First of the header of its loop.
    pub const HEADER: u32 = 1 << 7;
    /// Its block ends in a condition, right after it. Only where the pass runs before optimisation.
    pub const BRANCH: u32 = 1 << 8;
    /// A loop of one block, whose accesses move by constant steps: one event, written when it ends, for all iterations. The last
    /// slot says how many there were; the others are as in the first one.
    pub const REPEATED: u32 = 1 << 9;
    /// A loop is left to here, and nothing goes on from here: it throws, panics or ends the program. Only where the pass runs before
    /// optimisation.
    pub const DEAD_END: u32 = 1 << 10;
}

/// What a call of a function of C++'s streams is named after whose stream is a local text, and one of Fortran's whose file is a text:
/// nothing else sees it.
pub const TEXT_STREAM: &str = "a stream of a text";

/// A compiler unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its source file.
    pub name: String,
    /// Functions.
    pub functions: Vec<Function>,
    /// Segments, by number.
    pub segments: Vec<Segment>,
    /// Operations, segment by segment.
    pub operations: Vec<Operation>,
    /// Loops.
    pub loops: Vec<Loop>,
    /// Places in the source.
    pub places: Vec<Place>,
    /// Names of called functions, source files, and functions that were inlined.
    pub texts: Vec<String>,
    /// Names of variables whose addresses are known; the run-time adds the addresses.
    pub symbols: Vec<String>,
    /// What else is known of it.
    pub facts: Facts,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// As linked.
    pub name: String,
    /// Place of its declaration, or [`NONE`].
    pub place: u32,
    /// Basic blocks.
    pub blocks: u32,
}

/// Part of a basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Function.
    pub function: u32,
    /// Basic block, counted in the function.
    pub block: u32,
    /// [`flag`].
    pub flags: u32,
    /// Innermost loop, or [`NONE`].
    pub in_loop: u32,
    /// Place of its first instruction that has one, or [`NONE`].
    pub place: u32,
    /// Place of the call at its end, or [`NONE`].
    pub call_place: u32,
    /// Name of the called function in [`Module::texts`], or [`NONE`]: an indirect call.
    pub callee: u32,
    /// First operation.
    pub first: u32,
    /// Operations.
    pub operations: u32,
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Access {
    /// Read.
    #[default]
    Load = 0,
    /// Write.
    Store = 1,
    /// Read and write at once: an atomic update, or compare and exchange.
    Update = 2,
}

/// Bits of [`Operation::flags`].
pub mod operation {
    /// Atomic.
    pub const ATOMIC: u32 = 1;
    /// Volatile.
    pub const VOLATILE: u32 = 1 << 1;
    /// Of `memcpy`, `memset` and the like.
    pub const BULK: u32 = 1 << 2;
    /// A slot after the address holds the size.
    pub const SIZE_SLOT: u32 = 1 << 3;
    /// A slot holds 1 if the lane takes part, else 0.
    pub const MASK_SLOT: u32 = 1 << 4;
    /// Of a vector.
    pub const VECTOR: u32 = 1 << 5;
    /// No access: the scope of a variable begins here, and what the bytes held is gone.
    pub const SCOPE: u32 = 1 << 6;
    /// In a library's function, as a table has it: at least these bytes.
    pub const LIBRARY: u32 = 1 << 7;
    /// Of a variable that each thread has for itself.
    pub const THREAD_LOCAL: u32 = 1 << 8;
    /// A slot after the address holds what that grows by in each iteration, with its sign.
    pub const STEP_SLOT: u32 = 1 << 9;
}

/// An access to memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// Kind.
    pub access: Access,
    /// [`operation`].
    pub flags: u32,
    /// Bytes; 0 with [`operation::SIZE_SLOT`].
    pub size: u32,
    /// Where.
    pub address: Address,
    /// Place, or [`NONE`].
    pub place: u32,
    /// What the address grows by from one iteration to the next, of a segment that is [`flag::REPEATED`]; 0 with
    /// [`operation::STEP_SLOT`].
    pub step: i64,
}

/// Where an address is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Address {
    /// In a slot.
    #[default]
    Slot,
    /// At a distance from an earlier operation of the segment that has a slot.
    Near {
        /// Which operation of the segment.
        operation: u32,
        /// Distance.
        offset: i64,
    },
    /// In a variable.
    Symbol {
        /// Which of [`Module::symbols`].
        symbol: u32,
        /// Distance from its beginning.
        offset: i64,
    },
}

/// A natural loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loop {
    /// Function.
    pub function: u32,
    /// The loop around it, or [`NONE`].
    pub parent: u32,
    /// Basic block of its header.
    pub header: u32,
    /// Place, or [`NONE`].
    pub place: u32,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// File, in [`Module::texts`].
    pub file: u32,
    /// Line, from 1; 0: unknown.
    pub line: u32,
    /// Column, from 1; 0: unknown.
    pub column: u32,
    /// Function of the source, in [`Module::texts`], or [`NONE`].
    pub function: u32,
    /// Place of the call that was inlined, or [`NONE`]: an earlier one.
    pub inlined_at: u32,
}

impl Operation {
    /// Slots of the event that belong to it.
    pub fn slots(&self) -> usize {
        usize::from(self.address == Address::Slot)
            + usize::from(self.flags & operation::SIZE_SLOT != 0)
            + usize::from(self.flags & operation::MASK_SLOT != 0)
            + usize::from(self.flags & operation::STEP_SLOT != 0)
    }
}

impl Module {
    /// Operations of a segment.
    pub fn operations_of(&self, segment: &Segment) -> &[Operation] {
        let first = segment.first as usize;
        self.operations.get(first..first + segment.operations as usize).unwrap_or_default()
    }

    /// Slots of the event of a segment: the frame first, then those of each operation: address, size, mask; then the iterations.
    pub fn slots(&self, segment: &Segment) -> usize {
        let frame = usize::from(segment.flags & flag::FRAME != 0);
        let iterations = usize::from(segment.flags & flag::REPEATED != 0);
        iterations + frame + self.operations_of(segment).iter().map(Operation::slots).sum::<usize>()
    }

    /// A text, or nothing.
    pub fn text(&self, index: u32) -> &str {
        self.texts.get(index as usize).map_or("", String::as_str)
    }

    /// The encoding.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.number(VERSION.into());
        out.text(&self.name);
        out.number(self.texts.len() as u64);
        self.texts.iter().for_each(|text| out.text(text));
        out.number(self.symbols.len() as u64);
        self.symbols.iter().for_each(|text| out.text(text));
        out.number(self.places.len() as u64);
        for place in &self.places {
            for value in [place.file, place.line, place.column, place.function, place.inlined_at] {
                out.number(u64::from(value.wrapping_add(1)));
            }
        }
        out.number(self.functions.len() as u64);
        for function in &self.functions {
            out.text(&function.name);
            out.number(u64::from(function.place.wrapping_add(1)));
            out.number(function.blocks.into());
        }
        out.number(self.loops.len() as u64);
        for each in &self.loops {
            for value in [each.function, each.parent, each.header, each.place] {
                out.number(u64::from(value.wrapping_add(1)));
            }
        }
        out.number(self.segments.len() as u64);
        let mut before = [0; 2];
        for segment in &self.segments {
            // Neighbours are of the same function.
            out.signed(i64::from(segment.function) - before[0]);
            out.signed(i64::from(segment.block) - before[1]);
            before = [segment.function.into(), segment.block.into()];
            for value in [segment.flags, segment.operations] {
                out.number(value.into());
            }
            for value in [segment.in_loop, segment.place, segment.call_place, segment.callee] {
                out.number(u64::from(value.wrapping_add(1)));
            }
            for operation in self.operations_of(segment) {
                encode_operation(operation, &mut out);
                if segment.flags & flag::REPEATED != 0 {
                    out.signed(operation.step);
                }
            }
        }
        self.facts.encode(&mut out);
        out.bytes
    }

    /// The module that was encoded so, and what follows it. Every index in it is valid.
    pub fn decode(bytes: &[u8]) -> Result<(Module, &[u8]), Malformed> {
        let mut from = Reader::new(bytes);
        if !READABLE.contains(&from.small()?) {
            return Err(Malformed);
        }
        let mut module = Module { name: from.text()?, ..Module::default() };
        for _ in 0..from.count()? {
            module.texts.push(from.text()?);
        }
        for _ in 0..from.count()? {
            module.symbols.push(from.text()?);
        }
        let texts = module.texts.len();
        for number in 0..from.count()? {
            let mut value = || Ok(from.small()?.wrapping_sub(1));
            let place = Place {
                file: value().and_then(|v| index(v, texts))?,
                line: value()?,
                column: value()?,
                function: value().and_then(|v| index(v, texts))?,
                inlined_at: value().and_then(|v| index(v, number))?,
            };
            module.places.push(place);
        }
        let places = module.places.len();
        for _ in 0..from.count()? {
            let name = from.text()?;
            let place = index(from.small()?.wrapping_sub(1), places)?;
            module.functions.push(Function { name, place, blocks: from.small()? });
        }
        let functions = module.functions.len();
        for number in 0..from.count()? {
            let mut value = || Ok(from.small()?.wrapping_sub(1));
            let each = Loop {
                function: value().and_then(|v| exactly(v, functions))?,
                parent: value().and_then(|v| index(v, number))?,
                header: value()?,
                place: value().and_then(|v| index(v, places))?,
            };
            module.loops.push(each);
        }
        module.decode_segments(&mut from)?;
        let sizes = Sizes {
            functions,
            texts,
            places,
            segments: module.segments.len(),
            operations: module.operations.len(),
            loops: module.loops.len(),
        };
        module.facts = Facts::decode(&mut from, sizes)?;
        Ok((module, from.rest()))
    }

    fn decode_segments(&mut self, from: &mut Reader<'_>) -> Result<(), Malformed> {
        let (places, texts, loops, functions) =
            (self.places.len(), self.texts.len(), self.loops.len(), self.functions.len());
        let mut before = [0_i64; 2];
        for _ in 0..from.count()? {
            for value in &mut before {
                *value = value.checked_add(from.signed()?).ok_or(Malformed)?;
            }
            let [function, block] = before.map(|value| u32::try_from(value).map_err(|_| Malformed));
            let (flags, operations) = (from.small()?, from.count()?);
            let mut value = |most| from.small().and_then(|v| index(v.wrapping_sub(1), most));
            let segment = Segment {
                function: exactly(function?, functions)?,
                block: block?,
                flags,
                in_loop: value(loops)?,
                place: value(places)?,
                call_place: value(places)?,
                callee: value(texts)?,
                first: u32::try_from(self.operations.len()).map_err(|_| Malformed)?,
                operations: u32::try_from(operations).map_err(|_| Malformed)?,
            };
            for number in 0..operations {
                let mut operation = self.decode_operation(number, from)?;
                if flags & flag::REPEATED != 0 {
                    operation.step = from.signed()?;
                }
                self.operations.push(operation);
            }
            if self.slots(&segment) > MOST_SLOTS {
                return Err(Malformed);
            }
            self.segments.push(segment);
        }
        Ok(())
    }

    fn decode_operation(&self, number: usize, from: &mut Reader<'_>) -> Result<Operation, Malformed> {
        let head = from.small()?;
        let access = match head & 3 {
            0 => Access::Load,
            1 => Access::Store,
            2 => Access::Update,
            _ => return Err(Malformed),
        };
        let (flags, size) = (head >> 4, from.small()?);
        let address = match (head >> 2) & 3 {
            0 => Address::Slot,
            1 => Address::Near { operation: exactly(from.small()?, number)?, offset: from.signed()? },
            2 => Address::Symbol { symbol: exactly(from.small()?, self.symbols.len())?, offset: from.signed()? },
            _ => return Err(Malformed),
        };
        let place = index(from.small()?.wrapping_sub(1), self.places.len())?;
        Ok(Operation { access, flags, size, address, place, step: 0 })
    }
}

fn encode_operation(operation: &Operation, out: &mut Writer) {
    let mode = match operation.address {
        Address::Slot => 0,
        Address::Near { .. } => 1,
        Address::Symbol { .. } => 2,
    };
    out.number(u64::from(operation.access as u32 | mode << 2 | operation.flags << 4));
    out.number(operation.size.into());
    if let Address::Near { operation: other, offset } | Address::Symbol { symbol: other, offset } = operation.address {
        out.number(other.into());
        out.signed(offset);
    }
    out.number(u64::from(operation.place.wrapping_add(1)));
}

/// An index, or none.
fn index(value: u32, most: usize) -> Result<u32, Malformed> {
    if value == NONE {
        Ok(NONE)
    } else {
        exactly(value, most)
    }
}

fn exactly(value: u32, most: usize) -> Result<u32, Malformed> {
    if (value as usize) < most {
        Ok(value)
    } else {
        Err(Malformed)
    }
}

#[cfg(test)]
mod tests;
