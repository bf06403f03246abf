//! Buffers to small chunks and back.
//!
//! An event is predicted: the segment by what followed the one before last time, each slot by its last value and the step
//! before. Runs of events that come as predicted are counted; of the others, what differs is written. Both streams then go
//! through zstd. Regular code takes next to nothing: a loop over an array is one run.
//!
//! **Cost:** a table entry for each segment and each slot of the program, whatever the chunk; they are fresh in each chunk,
//! so that chunks are independent, without being cleared.

use workspan_trace::bytes::{unzigzag, Malformed, Reader, Writer};
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use crate::events::{slot, Events, Unknown};
use crate::program::{Entry, Program};
use crate::summary::{Summariser, Summary};

/// Slots that one word of a mask covers.
const MASK: usize = 32;
/// A chunk never unfolds to more.
const MOST_BYTES: usize = workspan_trace::shm::CHUNK_BYTES;
const LEVEL: i32 = 1;

/// An encoded chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// Bytes of the events.
    pub raw: usize,
    /// What it holds.
    pub summary: Summary,
    /// Which events differ from the prediction, and in what; compressed.
    pub structure: Vec<u8>,
    /// By how much; compressed.
    pub residuals: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    epoch: u32,
    /// What followed it; 0: nothing yet.
    successor: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    last: i64,
    step: i64,
    known: bool,
}

/// What is predicted, the same on both sides.
#[derive(Debug, Default)]
struct Predictor {
    epoch: u32,
    segments: Vec<Segment>,
    slots: Vec<Slot>,
    before: u32,
    recent: i64,
}

impl Predictor {
    fn begin(&mut self, program: &Program) {
        self.epoch += 1;
        self.segments.resize(program.ids(), Segment::default());
        self.slots.resize(program.slots(), Slot::default());
        (self.before, self.recent) = (0, 0);
    }

    /// The predicted id; 0: none.
    #[inline]
    fn id(&self) -> u32 {
        let segment = &self.segments[self.before as usize];
        if segment.epoch == self.epoch {
            segment.successor
        } else {
            0
        }
    }

    /// The event is of this segment: its slots.
    #[inline]
    fn enter(&mut self, id: u32, entry: &Entry) -> std::ops::Range<usize> {
        let before = &mut self.segments[self.before as usize];
        *before = Segment { epoch: self.epoch, successor: id };
        self.before = id;
        let slots = entry.first_slot as usize..(entry.first_slot + entry.slots) as usize;
        let segment = &mut self.segments[id as usize];
        if segment.epoch != self.epoch {
            *segment = Segment { epoch: self.epoch, successor: 0 };
            self.slots[slots.clone()].fill(Slot::default());
        }
        slots
    }

    #[inline]
    fn learn(&mut self, slot: usize, value: i64) {
        let slot = &mut self.slots[slot];
        let step = if slot.known { value - slot.last } else { 0 };
        *slot = Slot { last: value, step, known: true };
        self.recent = value;
    }

    /// What a slot that differs is written relative to.
    #[inline]
    fn reference(&self, slot: usize) -> i64 {
        let slot = &self.slots[slot];
        if slot.known {
            slot.last
        } else {
            self.recent
        }
    }
}

/// Encodes chunks, one after the other.
#[derive(Debug, Default)]
pub struct Encoder {
    predictor: Predictor,
    summariser: Summariser,
    structure: Writer,
    residuals: Writer,
}

impl Encoder {
    /// Encodes the events of a buffer, up to the first that is unknown.
    pub fn encode(&mut self, program: &Program, raw: &[u8]) -> std::io::Result<(Encoded, Option<Unknown>)> {
        self.predictor.begin(program);
        self.structure.bytes.clear();
        self.residuals.bytes.clear();
        let mut events = Events::new(program, raw);
        let mut run = 0;
        let error = loop {
            let (event, entry) = match events.next_event() {
                Ok(Some(found)) => found,
                Ok(None) => break None,
                Err(error) => break Some(error),
            };
            self.summariser.add(program, event, entry);
            let as_predicted = self.predictor.id() == event.id;
            let slots = self.predictor.enter(event.id, entry);
            let mut masks = [0_u32; workspan_trace::MOST_SLOTS / MASK + 1];
            let mut differs = !as_predicted;
            for (number, at) in slots.clone().enumerate() {
                let value = slot(event.slots, number).cast_signed();
                let Slot { last, step, .. } = self.predictor.slots[at];
                if last + step != value {
                    masks[number / MASK] |= 1 << (number % MASK);
                    differs = true;
                    self.residuals.signed(value - self.predictor.reference(at));
                }
                self.predictor.learn(at, value);
            }
            if differs {
                self.structure.number(run);
                self.structure.number(if as_predicted { 0 } else { event.id.into() });
                for mask in &masks[..slots.len().div_ceil(MASK)] {
                    self.structure.number((*mask).into());
                }
                run = 0;
            } else {
                run += 1;
            }
        };
        let encoded = Encoded {
            raw: events.position(),
            summary: self.summariser.finish(),
            structure: zstd::bulk::compress(&self.structure.bytes, LEVEL)?,
            residuals: zstd::bulk::compress(&self.residuals.bytes, LEVEL)?,
        };
        Ok((encoded, error))
    }
}

/// Decodes chunks, one after the other.
#[derive(Debug, Default)]
pub struct Decoder {
    predictor: Predictor,
}

impl Decoder {
    /// The events of a chunk, as they were in the buffer.
    pub fn decode(&mut self, program: &Program, chunk: &Encoded) -> Result<Vec<u8>, Malformed> {
        if chunk.raw > MOST_BYTES {
            return Err(Malformed);
        }
        // An event that differs takes a few bytes in each stream, and no more than its slots.
        let most = MOST_BYTES * 3;
        let unpack = |bytes| zstd::bulk::decompress(bytes, most).map_err(|_| Malformed);
        let (structure, residuals) = (unpack(&chunk.structure)?, unpack(&chunk.residuals)?);
        let (mut structure, mut residuals) = (Reader::new(&structure), Reader::new(&residuals));
        self.predictor.begin(program);
        let mut raw = Vec::with_capacity(chunk.raw + 8);
        while raw.len() < chunk.raw {
            let run = if structure.rest().is_empty() { u64::MAX } else { structure.number()? };
            for _ in 0..run {
                if raw.len() >= chunk.raw {
                    break;
                }
                let id = self.predictor.id();
                let entry = program.entry(id).filter(|_| id != 0).ok_or(Malformed)?;
                self.event(id, entry, |_| Ok(None), &mut raw)?;
            }
            if run == u64::MAX {
                break;
            }
            let code = structure.small()?;
            let id = if code == 0 { self.predictor.id() } else { code };
            let entry = program.entry(id).filter(|_| id != 0).ok_or(Malformed)?;
            let mut masks = [0; workspan_trace::MOST_SLOTS / MASK + 1];
            for mask in masks.get_mut(..(entry.slots as usize).div_ceil(MASK)).ok_or(Malformed)? {
                *mask = structure.small()?;
            }
            let differs = |number: usize| {
                let differs = masks[number / MASK] & 1 << (number % MASK) != 0;
                differs.then(|| residuals.number().map(unzigzag)).transpose()
            };
            self.event(id, entry, differs, &mut raw)?;
        }
        if raw.len() == chunk.raw {
            Ok(raw)
        } else {
            Err(Malformed)
        }
    }

    #[inline]
    fn event(
        &mut self,
        id: u32,
        entry: &Entry,
        mut differs: impl FnMut(usize) -> Result<Option<i64>, Malformed>,
        raw: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        raw.extend_from_slice(&id.to_le_bytes()[..ID_BYTES]);
        for (number, at) in self.predictor.enter(id, entry).enumerate() {
            let Slot { last, step, .. } = self.predictor.slots[at];
            let value = match differs(number)? {
                Some(residual) => self.predictor.reference(at).wrapping_add(residual),
                None => last.wrapping_add(step),
            } & ((1 << 48) - 1);
            self.predictor.learn(at, value);
            raw.extend_from_slice(&value.to_le_bytes()[..SLOT_BYTES]);
        }
        Ok(())
    }
}
