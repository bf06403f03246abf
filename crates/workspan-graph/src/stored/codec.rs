//! Buffers to small chunks and back.
//!
//! An event is predicted: the segment by what followed the one before last time, each slot by its last value and the step
//! before. Runs of events that come as predicted are counted; of the others, what differs is written. Both streams then go
//! through zstd. Regular code takes next to nothing: a loop over an array is one run.
//!
//! **Cost:** for each event a look at the segment's table entry and two comparisons for each slot. Tables have an entry for each
//! segment and each slot of the program, whatever the chunk; they are fresh in each chunk, so that chunks are independent,
//! without being cleared. Whatever can be summed up afterwards is not summed up event by event ([`crate::summary`]).

use workspan_trace::bytes::{unzigzag, Malformed, Reader, Writer};
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use crate::events::{word, Event, Unknown};
use crate::program::{Entry, Program};
use crate::summary::{Summariser, Summary};

/// Slots that one word of a mask covers.
const MASK: usize = 32;
/// A chunk never unfolds to more.
const MOST_BYTES: usize = 1 << 20;
/// Bytes behind a buffer's end that the reader of its last slot may look at.
const PADDING: usize = 8;
const LEVEL: i32 = 1;
/// A stream shorter than this is not compressed: zstd has nothing to gain.
const SHORT: usize = 64;

/// Streams of at most this part of the events are not compressed where the program would have to wait for it.
const SMALL: usize = 4;

/// Whether somebody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Haste {
    /// Nobody.
    None,
    /// Buffers come faster than they are encoded.
    Behind,
}

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
    /// What followed it; 0: nothing yet. And the bytes of that event's slots.
    successor: u32,
    length: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    last: u64,
    step: u64,
}

/// What is predicted, the same on both sides.
#[derive(Debug, Default)]
struct Predictor {
    epoch: u32,
    segments: Vec<Segment>,
    slots: Vec<Slot>,
    before: u32,
    /// The latest slot of a segment that came for the first time: what the first slots of others are written relative to.
    recent: u64,
}

impl Predictor {
    fn begin(&mut self, program: &Program) {
        self.epoch += 1;
        if self.segments.len() < program.ids() {
            self.segments.resize(program.ids(), Segment::default());
            self.slots.resize(program.slots(), Slot::default());
        }
        self.segments[0] = Segment { epoch: self.epoch, ..Segment::default() };
        (self.before, self.recent) = (0, 0);
    }

    /// The predicted id; 0: none.
    #[inline]
    fn id(&self) -> u32 {
        self.segments[self.before as usize].successor
    }

    /// The same, and the bytes of its slots.
    #[inline]
    fn event(&self) -> (u32, usize) {
        let segment = &self.segments[self.before as usize];
        (segment.successor, segment.length as usize)
    }

    /// The event, which was not predicted, is of this segment, and its slots have `length` bytes.
    #[inline]
    fn learn(&mut self, id: u32, length: usize) {
        let segment = &mut self.segments[self.before as usize];
        (segment.successor, segment.length) = (id, u32::try_from(length).unwrap_or(u32::MAX));
    }

    /// The event is of this segment, which is predicted from now on. True if it is the first of the chunk that is.
    #[inline]
    fn enter(&mut self, id: u32) -> bool {
        self.segments[self.before as usize].successor = id;
        self.go_to(id)
    }

    #[inline]
    fn go_to(&mut self, id: u32) -> bool {
        self.before = id;
        let segment = &mut self.segments[id as usize];
        let is_first = segment.epoch != self.epoch;
        if is_first {
            *segment = Segment { epoch: self.epoch, ..Segment::default() };
        }
        is_first
    }

    #[inline]
    fn slots(&mut self, entry: &Entry) -> &mut [Slot] {
        let first = entry.first_slot as usize;
        &mut self.slots[first..first + entry.slots as usize]
    }
}

/// Encodes chunks, one after the other.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "zstd's state")]
pub struct Encoder {
    predictor: Predictor,
    summariser: Summariser,
    structure: Writer,
    residuals: Writer,
    packer: Option<zstd::bulk::Compressor<'static>>,
}

impl Encoder {
    /// Encodes the events of a buffer, up to the first that is unknown.
    pub fn encode(&mut self, program: &Program, raw: &[u8]) -> std::io::Result<(Encoded, Option<Unknown>)> {
        let mut own = Vec::with_capacity(raw.len() + PADDING);
        own.extend_from_slice(raw);
        self.encode_own(program, own, Haste::None)
    }

    /// The same of a buffer that nobody needs any more.
    pub fn encode_own(
        &mut self,
        program: &Program,
        mut raw: Vec<u8>,
        haste: Haste,
    ) -> std::io::Result<(Encoded, Option<Unknown>)> {
        let end = raw.len();
        raw.extend_from_slice(&[0; PADDING]);
        self.structure.bytes.clear();
        self.residuals.bytes.clear();
        self.predictor.begin(program);
        self.summariser.begin(program);
        let (length, unknown) = self.events(program, &raw, end);
        let packer = match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(zstd::bulk::Compressor::new(LEVEL)?),
        };
        let streams = [&self.structure.bytes, &self.residuals.bytes];
        let is_small = streams.iter().map(|stream| stream.len()).sum::<usize>() <= length / SMALL;
        let shortest = if haste == Haste::Behind && is_small { usize::MAX } else { SHORT };
        let encoded = Encoded {
            raw: length,
            summary: self.summariser.finish(program),
            structure: pack(packer, streams[0], shortest)?,
            residuals: pack(packer, streams[1], shortest)?,
        };
        Ok((encoded, unknown))
    }

    /// How many bytes were understood, and what came then.
    fn events(&mut self, program: &Program, padded: &[u8], end: usize) -> (usize, Option<Unknown>) {
        let (mut at, mut run) = (0, 0_u64);
        while at + ID_BYTES <= end {
            let rest = &padded[at..];
            let Some(id) = rest.first_chunk::<ID_BYTES>().map(|bytes| u32::from_le_bytes(*bytes)) else {
                break;
            };
            if id == 0 {
                break;
            }
            // Where the next event is must not wait for the entry of this one: most are as predicted.
            let (predicted, predicted_length) = self.predictor.event();
            let as_predicted = predicted == id;
            let entry = program.entry(id);
            let length = if as_predicted {
                predicted_length
            } else {
                let Some(entry) = entry else {
                    return (at, Some(Unknown { id, at }));
                };
                let length = entry.slots as usize * SLOT_BYTES;
                self.predictor.learn(id, length);
                length
            };
            let Some(entry) = entry.filter(|_| at + ID_BYTES + length <= end) else {
                return (at, Some(Unknown { id, at }));
            };
            let slots = &rest[ID_BYTES..ID_BYTES + length + PADDING - SLOT_BYTES];
            self.summariser.add(program, Event { id, slots: &slots[..length] }, entry);
            let is_first = self.predictor.go_to(id);
            let code = if as_predicted { 0 } else { id };
            if is_first {
                self.first(code, run, entry, slots);
                run = 0;
            } else if entry.slots as usize > MASK {
                self.long(code, run, entry, slots);
                run = 0;
            } else {
                let mut mask = 0_u32;
                let table = self.predictor.slots(entry);
                let mut rest = slots;
                for (number, slot) in table.iter_mut().enumerate() {
                    let value = word(rest);
                    rest = rest.get(SLOT_BYTES..).unwrap_or_default();
                    let step = value.wrapping_sub(slot.last);
                    mask |= u32::from(step != slot.step) << number;
                    *slot = Slot { last: value, step };
                }
                if as_predicted && mask == 0 {
                    run += 1;
                } else {
                    self.structure.number(run);
                    self.structure.number(code.into());
                    if !table.is_empty() {
                        self.structure.number(mask.into());
                    }
                    while mask != 0 {
                        self.residuals.signed(table[mask.trailing_zeros() as usize].step.cast_signed());
                        mask &= mask - 1;
                    }
                    run = 0;
                }
            }
            at += ID_BYTES + length;
        }
        (at.min(end), None)
    }

    /// A segment that comes for the first time: its slots are relative to each other.
    #[cold]
    fn first(&mut self, code: u32, run: u64, entry: &Entry, slots: &[u8]) {
        self.structure.number(run);
        self.structure.number(code.into());
        let mut recent = self.predictor.recent;
        let table = self.predictor.slots(entry);
        for (slot, bytes) in table.iter_mut().zip(slots.windows(PADDING).step_by(SLOT_BYTES)) {
            let value = word(bytes);
            self.residuals.signed(value.wrapping_sub(recent).cast_signed());
            *slot = Slot { last: value, step: 0 };
            recent = value;
        }
        self.predictor.recent = recent;
    }

    /// One with more slots than a word has bits.
    #[cold]
    fn long(&mut self, code: u32, run: u64, entry: &Entry, slots: &[u8]) {
        self.structure.number(run);
        self.structure.number(code.into());
        let mut values = slots.windows(PADDING).step_by(SLOT_BYTES).map(word);
        for table in self.predictor.slots(entry).chunks_mut(MASK) {
            let mut mask = 0_u32;
            for (number, (slot, value)) in table.iter_mut().zip(&mut values).enumerate() {
                let step = value.wrapping_sub(slot.last);
                if step != slot.step {
                    mask |= 1 << number;
                    self.residuals.signed(step.cast_signed());
                }
                *slot = Slot { last: value, step };
            }
            self.structure.number(mask.into());
        }
    }
}

/// A stream as it is stored: whether it is compressed, and it.
fn pack(packer: &mut zstd::bulk::Compressor<'_>, bytes: &[u8], shortest: usize) -> std::io::Result<Vec<u8>> {
    if bytes.len() >= shortest {
        let packed = packer.compress(bytes)?;
        if packed.len() < bytes.len() {
            return Ok([&[1], packed.as_slice()].concat());
        }
    }
    Ok([&[0], bytes].concat())
}

/// Decodes chunks, one after the other.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "zstd's state")]
pub struct Decoder {
    predictor: Predictor,
    unpacker: Option<zstd::bulk::Decompressor<'static>>,
    streams: [Vec<u8>; 2],
}

impl Decoder {
    /// The events of a chunk, as they were in the buffer.
    pub fn decode(&mut self, program: &Program, chunk: &Encoded) -> Result<Vec<u8>, Malformed> {
        let mut raw = Vec::new();
        self.decode_into(program, chunk, &mut raw)?;
        raw.truncate(chunk.raw);
        Ok(raw)
    }

    /// The same, followed by some zeros.
    pub fn decode_into(&mut self, program: &Program, chunk: &Encoded, raw: &mut Vec<u8>) -> Result<(), Malformed> {
        if chunk.raw > MOST_BYTES {
            return Err(Malformed);
        }
        let [mut structure, mut residuals] = std::mem::take(&mut self.streams);
        self.unpack(&chunk.structure, &mut structure)?;
        self.unpack(&chunk.residuals, &mut residuals)?;
        raw.clear();
        raw.resize(chunk.raw + PADDING, 0);
        self.predictor.begin(program);
        let streams = (Reader::new(&structure), Reader::new(&residuals));
        let decoded = self.events(program, streams, &mut Out { raw, at: 0, end: chunk.raw });
        self.streams = [structure, residuals];
        decoded
    }

    fn unpack(&mut self, stream: &[u8], into: &mut Vec<u8>) -> Result<(), Malformed> {
        let (packed, bytes) = stream.split_first().ok_or(Malformed)?;
        into.clear();
        if *packed == 0 {
            into.extend_from_slice(bytes);
            return Ok(());
        }
        // An event that differs takes a few bytes in each stream, and no more than its slots.
        into.reserve(MOST_BYTES * 3);
        let unpacker = match &mut self.unpacker {
            Some(unpacker) => unpacker,
            none => none.insert(zstd::bulk::Decompressor::new().map_err(|_| Malformed)?),
        };
        unpacker.decompress_to_buffer(bytes, into).map(drop).map_err(|_| Malformed)
    }

    fn events(
        &mut self,
        program: &Program,
        (mut structure, mut residuals): (Reader<'_>, Reader<'_>),
        out: &mut Out<'_>,
    ) -> Result<(), Malformed> {
        while out.at < out.end {
            let run = if structure.rest().is_empty() { u64::MAX } else { structure.number()? };
            for _ in 0..run {
                if out.at >= out.end {
                    break;
                }
                let id = self.predictor.id();
                let entry = program.entry(id).filter(|_| id != 0).ok_or(Malformed)?;
                out.begin(id, entry)?;
                if self.predictor.enter(id) {
                    return Err(Malformed);
                }
                for slot in self.predictor.slots(entry) {
                    slot.last = slot.last.wrapping_add(slot.step) & word(&[0xff; 8]);
                    out.slot(slot.last);
                }
            }
            if run == u64::MAX || out.at >= out.end {
                break;
            }
            let code = structure.small()?;
            let id = if code == 0 { self.predictor.id() } else { code };
            let entry = program.entry(id).filter(|_| id != 0).ok_or(Malformed)?;
            out.begin(id, entry)?;
            if self.predictor.enter(id) {
                let mut recent = self.predictor.recent;
                for slot in self.predictor.slots(entry) {
                    recent = recent.wrapping_add(residuals.signed()?.cast_unsigned()) & word(&[0xff; 8]);
                    *slot = Slot { last: recent, step: 0 };
                    out.slot(recent);
                }
                self.predictor.recent = recent;
                continue;
            }
            for table in self.predictor.slots(entry).chunks_mut(MASK) {
                let mask = structure.small()?;
                for (number, slot) in table.iter_mut().enumerate() {
                    if mask & 1 << number != 0 {
                        slot.step = residuals.number().map(unzigzag)?.cast_unsigned();
                    }
                    slot.last = slot.last.wrapping_add(slot.step) & word(&[0xff; 8]);
                    out.slot(slot.last);
                }
            }
        }
        if out.at == out.end {
            Ok(())
        } else {
            Err(Malformed)
        }
    }
}

/// Where events are written: there are some bytes more than the events take.
struct Out<'r> {
    raw: &'r mut Vec<u8>,
    at: usize,
    end: usize,
}

impl Out<'_> {
    /// An event, if there is room for it.
    #[inline]
    fn begin(&mut self, id: u32, entry: &Entry) -> Result<(), Malformed> {
        if self.at + ID_BYTES + entry.slots as usize * SLOT_BYTES > self.end {
            return Err(Malformed);
        }
        self.raw[self.at..self.at + ID_BYTES].copy_from_slice(&id.to_le_bytes());
        self.at += ID_BYTES;
        Ok(())
    }

    #[inline]
    fn slot(&mut self, value: u64) {
        // Two zeros more than it has; the next one overwrites them.
        self.raw[self.at..self.at + 8].copy_from_slice(&value.to_le_bytes());
        self.at += SLOT_BYTES;
    }
}
