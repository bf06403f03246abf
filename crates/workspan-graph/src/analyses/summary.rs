//! What a chunk holds, without its accesses: control events, and between them how much was executed and touched.
//!
//! Tasks and their totals are made from summaries alone, so that nothing else of a recording need be read for them.

use workspan_trace::bytes::{Malformed, Reader, Writer};
use workspan_trace::control::{Kind, FIRST_SEGMENT};
use workspan_trace::program::{operation, Access as Mode};

use crate::events::{slot, Access, Control, Event};
use crate::program::{Entry, Program};

/// What a slot of an event holds, so that times, tickets and addresses of a damaged file can be summed, too.
const SLOT: u64 = (1 << (8 * workspan_trace::SLOT_BYTES)) - 1;

/// How much was executed and touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Segments.
    pub segments: u64,
    /// Basic blocks.
    pub blocks: u64,
    /// Accesses that read; those that read and write count here and there.
    pub loads: u64,
    /// Accesses that write.
    pub stores: u64,
    /// Bytes of all accesses.
    pub bytes: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.segments = self.segments.saturating_add(other.segments);
        self.blocks = self.blocks.saturating_add(other.blocks);
        self.loads = self.loads.saturating_add(other.loads);
        self.stores = self.stores.saturating_add(other.stores);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// A control event that ends a task or a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Events of the chunk before it.
    pub at: u64,
    /// What it is.
    pub control: Control,
}

/// A chunk without its accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Events in all.
    pub events: u64,
    /// Control events but allocations, releases and transfers, atomics and frames.
    pub marks: Vec<Mark>,
    /// What lies before each mark, and after the last.
    pub fragments: Vec<Tally>,
    /// How often each segment was executed, by id.
    pub counts: Vec<(u32, u64)>,
}

/// Makes a summary, event by event. What segments executed is summed up where a fragment ends: until then they are counted.
#[derive(Debug, Default)]
pub struct Summariser {
    /// Executions of each segment since the fragment began; those that have any.
    counts: Vec<u64>,
    touched: Vec<u32>,
    /// The same of the fragments before.
    totals: Vec<u64>,
    executed: Vec<u32>,
    accesses: Vec<Access>,
    fragment: Tally,
    summary: Summary,
}

impl Summariser {
    /// Begins, for a program as it is known now.
    pub fn begin(&mut self, program: &Program) {
        if self.counts.len() < program.ids() {
            self.counts.resize(program.ids(), 0);
            self.totals.resize(program.ids(), 0);
        }
    }

    /// Takes an event of the program.
    #[inline]
    pub fn add(&mut self, program: &Program, event: Event<'_>, entry: &Entry) {
        self.summary.events += 1;
        if event.id < FIRST_SEGMENT {
            self.control(program, event);
            return;
        }
        let count = &mut self.counts[event.id as usize];
        if *count == 0 {
            self.touched.push(event.id);
        }
        *count += 1;
        if entry.repeated {
            // Iterations beyond the first.
            let iterations = slot(event.slots, entry.slots.saturating_sub(1) as usize);
            *count = count.saturating_add(iterations.saturating_sub(1));
        } else if entry.dynamic {
            self.dynamic(program, event);
        }
    }

    fn control(&mut self, program: &Program, event: Event<'_>) {
        use Kind::{Allocate, Atomic, Frame, Free, Local, Semaphore};
        let Some(control) = event.control() else {
            return;
        };
        if control.kind == Kind::Transfer {
            let [_, bytes, writes, ..] = control.slots;
            self.fragment.loads += u64::from(writes == 0);
            self.fragment.stores += u64::from(writes != 0);
            self.fragment.bytes += bytes;
        } else if !matches!(control.kind, Allocate | Free | Atomic | Frame | Local | Semaphore) {
            self.summary.marks.push(Mark { at: self.summary.events - 1, control });
            self.end_fragment(program);
        }
    }

    fn end_fragment(&mut self, program: &Program) {
        let mut sum = std::mem::take(&mut self.fragment);
        for id in self.touched.drain(..) {
            let count = std::mem::take(&mut self.counts[id as usize]);
            let entry = program.entry(id).copied().unwrap_or_default();
            sum += Tally {
                segments: count,
                blocks: if entry.block { count } else { 0 },
                loads: count.saturating_mul(entry.loads.into()),
                stores: count.saturating_mul(entry.stores.into()),
                bytes: count.saturating_mul(entry.bytes.into()),
            };
            let total = &mut self.totals[id as usize];
            if *total == 0 {
                self.executed.push(id);
            }
            *total = total.saturating_add(count);
        }
        self.summary.fragments.push(sum);
    }

    /// Accesses whose size or number is in the event.
    fn dynamic(&mut self, program: &Program, event: Event<'_>) {
        let Some((loaded, segment)) = program.segment(event.id) else {
            return;
        };
        event.accesses(loaded, segment, &mut self.accesses);
        let dynamic = operation::SIZE_SLOT | operation::MASK_SLOT;
        for access in self.accesses.iter().filter(|access| access.flags & dynamic != 0) {
            self.fragment.loads += u64::from(access.mode != Mode::Store);
            self.fragment.stores += u64::from(access.mode != Mode::Load);
            self.fragment.bytes += access.size;
        }
    }

    /// The summary of the events so far.
    pub fn finish(&mut self, program: &Program) -> Summary {
        self.end_fragment(program);
        let mut summary = std::mem::take(&mut self.summary);
        self.executed.sort_unstable();
        for id in self.executed.drain(..) {
            let count = std::mem::take(&mut self.totals[id as usize]);
            summary.counts.push((id, count));
        }
        summary
    }
}

impl Summary {
    /// The encoding.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.number(self.events);
        out.number(self.marks.len() as u64);
        let mut before = [0; 5];
        for mark in &self.marks {
            out.number(mark.at);
            out.number(mark.control.kind as u64);
            let slots = &mark.control.slots[..mark.control.kind.slots()];
            for (slot, before) in slots.iter().zip(&mut before) {
                let value = slot.cast_signed();
                out.signed(value - *before);
                *before = value;
            }
        }
        for tally in &self.fragments {
            for value in [tally.segments, tally.blocks, tally.loads, tally.stores, tally.bytes] {
                out.number(value);
            }
        }
        out.number(self.counts.len() as u64);
        let mut last = 0;
        for (id, count) in &self.counts {
            out.number(u64::from(*id - last));
            out.number(*count);
            last = *id;
        }
        out.bytes
    }

    /// The summary that was encoded so.
    pub fn decode(bytes: &[u8]) -> Result<Summary, Malformed> {
        let mut from = Reader::new(bytes);
        let mut summary = Summary { events: from.number()?, ..Summary::default() };
        let mut before = [0_i64; 5];
        for _ in 0..from.count()? {
            let at = from.number()?;
            let kind = Kind::of(from.small()?).ok_or(Malformed)?;
            let mut slots = [0; 5];
            for number in 0..kind.slots() {
                before[number] = before[number].wrapping_add(from.signed()?);
                slots[number] = before[number].cast_unsigned() & SLOT;
            }
            summary.marks.push(Mark { at, control: Control { kind, slots } });
        }
        for _ in 0..=summary.marks.len() {
            let mut values = [0; 5];
            for value in &mut values {
                *value = from.number()?;
            }
            let [segments, blocks, loads, stores, bytes] = values;
            summary.fragments.push(Tally { segments, blocks, loads, stores, bytes });
        }
        let mut id: u32 = 0;
        for _ in 0..from.count()? {
            id = id.checked_add(from.small()?).ok_or(Malformed)?;
            summary.counts.push((id, from.number()?));
        }
        Ok(summary)
    }
}
