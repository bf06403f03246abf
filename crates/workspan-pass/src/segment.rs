//! Segments of a function and their operations, as they were found.

use workspan_trace::program::{flag, operation, Access};

use crate::atomics::Order;
use crate::cfg::Loops;
use crate::lines::Repeat;
use crate::llvm::Ref;
use crate::locals::Touch;

pub use workspan_trace::facts::Run;

/// Segments of a function.
#[derive(Debug, Default)]
pub struct Plan {
    /// In the order of blocks.
    pub segments: Vec<Segment>,
    /// Blocks.
    pub blocks: usize,
    /// Loops; indices are of blocks.
    pub loops: Loops,
    /// First instruction of each block.
    pub first_instructions: Vec<Ref>,
    /// Blocks, as LLVM has them.
    pub handles: Vec<Ref>,
    /// Atomic operations that order.
    pub atomics: Vec<Atomic>,
}

/// An atomic operation that orders; it is a segment of its own.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// The instruction.
    pub instruction: Ref,
    /// The instruction after it.
    pub next: Ref,
    /// What it operates on.
    pub pointer: Ref,
    /// What it does to the order.
    pub order: Order,
}

/// A segment.
#[derive(Debug)]
pub struct Segment {
    /// Block.
    pub block: usize,
    /// Its event is written before this instruction.
    pub before: Ref,
    /// [`flag`].
    pub flags: u32,
    /// The call at its end.
    pub call: Option<Ref>,
    /// Operations.
    pub operations: Vec<Operation>,
    /// Reads and writes of locals without an address.
    pub touches: Vec<Touch>,
    /// Lines.
    pub runs: Vec<Run>,
    /// All iterations of its loop are one event.
    pub repeat: Option<Repeat>,
    /// Slots of its event.
    pub(crate) slots: usize,
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The instruction that accesses.
    pub instruction: Ref,
    /// Kind.
    pub access: Access,
    /// [`operation`].
    pub flags: u32,
    /// Bytes.
    pub size: u32,
    /// Where.
    pub address: Address,
    /// The size, where it is known at run time only.
    pub length: Option<Length>,
    /// Of a masked vector: mask and lane.
    pub mask: Option<(Ref, u32)>,
    /// What the address grows by in each iteration, where the segment repeats.
    pub step: i64,
}

/// Where an address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// A pointer.
    Pointer(Ref),
    /// A lane of a vector of pointers.
    Lane(Ref, u32),
    /// At a distance from an earlier operation.
    Near(usize, i64),
    /// In a global variable.
    Symbol(Ref, i64),
}

/// A size at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// A value.
    Value(Ref),
    /// As many elements of some size as a value says.
    Elements(Ref, u32),
    /// As many elements of some size as lanes of a mask are set.
    Lanes(Ref, u32),
}

impl Segment {
    pub(crate) fn new(block: usize, before: Ref, flags: u32) -> Segment {
        let slots = usize::from(flags & flag::FRAME != 0);
        Segment {
            block,
            before,
            flags,
            call: None,
            operations: Vec::new(),
            touches: Vec::new(),
            runs: Vec::new(),
            repeat: None,
            slots,
        }
    }

    /// Bytes of its event.
    pub fn bytes(&self) -> usize {
        workspan_trace::ID_BYTES + self.slots * workspan_trace::SLOT_BYTES
    }

    pub(crate) fn keep(self, segments: &mut Vec<Segment>) {
        let says = flag::BLOCK | flag::RETURN | flag::CALL | flag::FRAME;
        if self.flags & says != 0
            || !self.operations.is_empty()
            || self.runs.iter().any(|run| run.cost + run.touches > 0)
        {
            segments.push(self);
        }
    }
}

impl Operation {
    /// Slots of the event that belong to it.
    pub fn slots(&self) -> usize {
        usize::from(matches!(self.address, Address::Pointer(_) | Address::Lane(..)))
            + usize::from(self.length.is_some())
            + usize::from(self.mask.is_some())
            + usize::from(self.flags & operation::STEP_SLOT != 0)
    }
}
