//! A buffer's bytes as events, and their slots as accesses.

use workspan_trace::control::{Kind, FIRST_SEGMENT};
use workspan_trace::mpi::Passage;
use workspan_trace::program::{flag, operation, Access as Mode, Address, Operation, Segment};
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use crate::program::{Entry, Loaded, Program};

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct Event<'b> {
    /// Its id.
    pub id: u32,
    /// Its slots.
    pub slots: &'b [u8],
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Read, write, or both.
    pub mode: Mode,
    /// `workspan_trace::program::operation`.
    pub flags: u32,
    /// Operation, counted in the module.
    pub operation: u32,
}

/// A control event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Kind.
    pub kind: Kind,
    /// As many slots as the kind has; the rest is 0.
    pub slots: [u64; 5],
}

/// Why a buffer cannot be read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {id} at byte {at} is unknown or too short")]
pub struct Unknown {
    /// Its id.
    pub id: u32,
    /// Where.
    pub at: usize,
}

/// Walks through a buffer.
#[derive(Clone, Debug)]
pub struct Events<'p, 'b> {
    program: &'p Program,
    bytes: &'b [u8],
    at: usize,
}

impl<'p, 'b> Events<'p, 'b> {
    /// From the first event.
    pub fn new(program: &'p Program, bytes: &'b [u8]) -> Events<'p, 'b> {
        Events { program, bytes, at: 0 }
    }

    /// The next event, or the end.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<(Event<'b>, &'p Entry)>, Unknown> {
        let rest = &self.bytes[self.at..];
        let Some((id, rest)) = rest.split_first_chunk::<ID_BYTES>() else {
            return Ok(None);
        };
        let id = u32::from_le_bytes(*id);
        if id == 0 {
            return Ok(None);
        }
        let unknown = Unknown { id, at: self.at };
        let entry = self.program.entry(id).ok_or(unknown)?;
        let length = entry.slots as usize * SLOT_BYTES;
        let slots = rest.get(..length).ok_or(unknown)?;
        self.at += ID_BYTES + length;
        Ok(Some((Event { id, slots }, entry)))
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.at
    }
}

/// Which passage of which barrier.
pub fn episode(barrier: &Control) -> (u64, u64) {
    let [_, _, object, arrival, slot] = barrier.slots;
    (object, arrival / Passage::of(slot).count.max(1))
}

/// A slot.
#[inline]
pub fn slot(slots: &[u8], number: usize) -> u64 {
    word(slots.get(number * SLOT_BYTES..).unwrap_or_default())
}

/// The slot that some bytes begin with; those behind it do not count.
#[inline]
pub fn word(bytes: &[u8]) -> u64 {
    if let Some(bytes) = bytes.first_chunk::<8>() {
        return u64::from_le_bytes(*bytes) & ((1 << (8 * SLOT_BYTES)) - 1);
    }
    let mut last = [0; 8];
    if let Some(bytes) = bytes.first_chunk::<SLOT_BYTES>() {
        last[..SLOT_BYTES].copy_from_slice(bytes);
    }
    u64::from_le_bytes(last)
}

impl Event<'_> {
    /// As a control event, if it is one.
    #[inline]
    pub fn control(&self) -> Option<Control> {
        if self.id < FIRST_SEGMENT {
            self.control_event()
        } else {
            None
        }
    }

    fn control_event(&self) -> Option<Control> {
        let kind = Kind::of(self.id)?;
        let mut slots = [0; 5];
        for (number, value) in slots.iter_mut().take(kind.slots()).enumerate() {
            *value = slot(self.slots, number);
        }
        Some(Control { kind, slots })
    }

    /// The accesses of a segment, into `accesses`; the address of the frame, if it is there. Of one that repeats, those of the first
    /// iteration.
    pub fn accesses(&self, loaded: &Loaded, segment: &Segment, accesses: &mut Vec<Access>) -> Option<u64> {
        self.accesses_at(loaded, &loaded.variables, segment, accesses)
    }

    /// The same, of a process whose variables are elsewhere.
    pub fn accesses_at(
        &self,
        loaded: &Loaded,
        variables: &[u64],
        segment: &Segment,
        accesses: &mut Vec<Access>,
    ) -> Option<u64> {
        self.resolve(loaded, variables, segment, accesses, |_, _| ())
    }

    /// The accesses of the first iteration of a segment that repeats, what each address grows by, and how many iterations there are.
    pub fn iterations_at(
        &self,
        loaded: &Loaded,
        variables: &[u64],
        segment: &Segment,
        (accesses, steps): (&mut Vec<Access>, &mut Vec<i64>),
    ) -> u64 {
        steps.clear();
        let _ = self.resolve(loaded, variables, segment, accesses, |operation, step_slot| {
            let step = match (operation.address, step_slot) {
                (_, Some(step)) => step,
                (Address::Near { operation, .. }, None) => steps.get(operation as usize).copied().unwrap_or(0),
                _ => operation.step,
            };
            steps.push(step);
        });
        self.slots.len().checked_sub(SLOT_BYTES).map_or(0, |last| word(&self.slots[last..]))
    }

    #[inline]
    fn resolve(
        &self,
        loaded: &Loaded,
        variables: &[u64],
        segment: &Segment,
        accesses: &mut Vec<Access>,
        mut each: impl FnMut(&Operation, Option<i64>),
    ) -> Option<u64> {
        accesses.clear();
        let mut rest = self.slots;
        let mut take = || {
            let slot = word(rest);
            rest = rest.get(SLOT_BYTES..).unwrap_or_default();
            slot
        };
        let frame = (segment.flags & flag::FRAME != 0).then(&mut take);
        // Addresses of lanes that take no part count for those that are near them.
        let mut masked = Vec::new();
        for (number, operation) in (0..).zip(loaded.module.operations_of(segment)) {
            let address = match operation.address {
                Address::Slot => take(),
                Address::Near { operation, offset } => {
                    let base = accesses.get(operation as usize).map_or(0, |other: &Access| other.address);
                    base.wrapping_add_signed(offset)
                }
                Address::Symbol { symbol, offset } => {
                    let base = variables.get(symbol as usize).copied().unwrap_or(0);
                    base.wrapping_add_signed(offset)
                }
            };
            // Its highest bit is its sign.
            let step = (operation.flags & operation::STEP_SLOT != 0).then(|| (take() << 16).cast_signed() >> 16);
            let size = if operation.flags & operation::SIZE_SLOT != 0 { take() } else { operation.size.into() };
            if operation.flags & operation::MASK_SLOT != 0 && take() == 0 {
                masked.push(number as usize);
            }
            each(operation, step);
            let (mode, flags) = (operation.access, operation.flags);
            accesses.push(Access { address, size, mode, flags, operation: segment.first + number });
        }
        if !masked.is_empty() {
            let mut number = 0;
            accesses.retain(|_| {
                number += 1;
                masked.binary_search(&(number - 1)).is_err()
            });
        }
        frame
    }
}
