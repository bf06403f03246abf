//! A sample of the memory: of all cache lines those whose number has certain lowest bits. What falls into a set of a cache stays
//! apart from all else, so that a cache of [`CLASSES`] sets or more is exact in the sets that are drawn.
//!
//! Recorded are all control events, the segments next to them, loops that one event stands for, and segments that touch a drawn line. Summaries are those of
//! all events: tasks, and how much they executed and touched, are exact.

use workspan_trace::bytes::{Malformed, Reader, Writer};

use crate::codec::{Encoded, Encoder, Haste};
use crate::events::{Access, Control, Events};
use crate::file::{Problem, Recording};
use crate::program::Program;
use crate::replay::{self, Consumer, Executed, Iterations};
use crate::summary::Summariser;

/// Bytes of a line.
pub const LINE: u64 = 64;
/// Classes that lines are divided into.
pub const CLASSES: usize = 256;

/// Which lines are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// One of how many.
    pub one_in: u32,
    /// A bit for each class.
    drawn: [u64; 4],
}

impl Sample {
    /// One of 2 to 32 lines, a power of two.
    pub fn new(one_in: u32) -> Option<Sample> {
        if !one_in.is_power_of_two() || !(2..=32).contains(&one_in) {
            return None;
        }
        let mut classes: Vec<u64> = (0..CLASSES as u64).collect();
        classes.sort_by_key(|class| hash(*class));
        let mut sample = Sample { one_in, drawn: [0; 4] };
        for class in classes.into_iter().take(CLASSES / one_in as usize) {
            sample.drawn[(class / 64) as usize] |= 1 << (class % 64);
        }
        Some(sample)
    }

    /// The class of a line.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below 256")]
    pub fn class(line: u64) -> usize {
        (line % CLASSES as u64) as usize
    }

    /// True if a line is recorded.
    #[inline]
    pub fn has(&self, line: u64) -> bool {
        let class = line % CLASSES as u64;
        self.drawn[(class / 64) as usize] >> (class % 64) & 1 != 0
    }

    /// Classes that are drawn.
    pub fn classes(&self) -> u64 {
        self.drawn.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    pub(crate) fn encode(&self, out: &mut Writer) {
        out.number(self.one_in.into());
        self.drawn.iter().for_each(|bits| out.number(*bits));
    }

    pub(crate) fn decode(from: &mut Reader<'_>) -> Result<Sample, Malformed> {
        let mut sample = Sample { one_in: from.small()?, drawn: [0; 4] };
        for bits in &mut sample.drawn {
            *bits = from.number()?;
        }
        if sample.classes() == 0 || u64::from(sample.one_in).checked_mul(sample.classes()) != Some(CLASSES as u64) {
            return Err(Malformed);
        }
        Ok(sample)
    }

    fn touched_by(&self, access: &Access) -> bool {
        let last = access.address.saturating_add(access.size.saturating_sub(1)) / LINE;
        let first = access.address / LINE;
        access.size > 0 && (last - first >= CLASSES as u64 || (first..=last).any(|line| self.has(line)))
    }

    /// The parts of accesses that lie in drawn lines.
    fn part(&self, accesses: &[Access], into: &mut Vec<Access>) {
        into.clear();
        for access in accesses.iter().filter(|access| access.size > 0) {
            let end = access.address.saturating_add(access.size);
            for line in access.address / LINE..=(end - 1) / LINE {
                if self.has(line) {
                    let address = access.address.max(line * LINE);
                    into.push(Access {
                        address,
                        size: end.min((line * LINE).saturating_add(LINE)) - address,
                        ..*access
                    });
                }
            }
        }
    }
}

fn hash(class: u64) -> u64 {
    let mut state = class.wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

/// Encodes samples of chunks, one after the other.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "zstd's state")]
pub struct Sampler {
    summariser: Summariser,
    accesses: Vec<Access>,
}

impl Sampler {
    /// Encodes what a sample has of a buffer. True if it holds an event that is not understood.
    pub fn encode(
        &mut self,
        encoder: &mut Encoder,
        (program, sample): (&Program, &Sample),
        raw: &[u8],
        haste: Haste,
    ) -> std::io::Result<(Encoded, bool)> {
        self.summariser.begin(program);
        let mut out = Vec::with_capacity(raw.len() / 4);
        let mut events = Events::new(program, raw);
        // The last segment that is not recorded, and what came before.
        let (mut skipped, mut after_control, mut unknown) = (None, true, false);
        loop {
            let from = events.position();
            let (event, entry) = match events.next_event() {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(_) => {
                    unknown = true;
                    break;
                }
            };
            self.summariser.add(program, event, entry);
            let here = from..events.position();
            let is_control = event.control().is_some();
            let wanted = is_control || after_control || entry.repeated || self.touches(program, sample, &event);
            if let Some(before) = skipped.take().filter(|_| is_control) {
                out.extend_from_slice(&raw[before]);
            }
            if wanted {
                out.extend_from_slice(&raw[here]);
            } else {
                skipped = Some(here);
            }
            after_control = is_control;
        }
        // An allocation may begin the next chunk.
        if let Some(last) = skipped {
            out.extend_from_slice(&raw[last]);
        }
        let all = self.summariser.finish(program);
        let (mut encoded, _) = encoder.encode_own(program, out, haste)?;
        // Marks are where the recorded events have them.
        (encoded.summary.fragments, encoded.summary.counts) = (all.fragments, all.counts);
        Ok((encoded, unknown))
    }

    fn touches(&mut self, program: &Program, sample: &Sample, event: &crate::events::Event<'_>) -> bool {
        let Some((loaded, segment)) = program.segment(event.id) else {
            return true;
        };
        event.accesses(loaded, segment, &mut self.accesses);
        self.accesses.iter().any(|access| sample.touched_by(access))
    }
}

/// Replays what a recording has of the accesses: of a sample those to drawn lines, each part in a line by itself.
pub fn replay(recording: &Recording, consumer: &mut impl Consumer) -> Result<(), Problem> {
    match recording.sample {
        None => replay::replay(recording, consumer),
        Some(sample) => replay::replay(recording, &mut Drawn { sample, consumer, accesses: Vec::new() }),
    }
}

/// Keeps accesses to other lines from a consumer.
struct Drawn<'c, C> {
    sample: Sample,
    consumer: &'c mut C,
    accesses: Vec<Access>,
}

impl<C: Consumer> Consumer for Drawn<'_, C> {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        self.sample.part(accesses, &mut self.accesses);
        self.consumer.segment(executed, &self.accesses);
    }

    fn repeated(&mut self, executed: Executed<'_>, iterations: Iterations<'_>, list: &mut Vec<Access>) {
        self.consumer.segment(executed, &[]);
        iterations.each(list, |accesses| {
            self.sample.part(accesses, &mut self.accesses);
            if !self.accesses.is_empty() {
                self.consumer.segment(executed, &self.accesses);
            }
        });
    }

    fn transfer(&mut self, executed: Executed<'_>, access: &Access) {
        self.sample.part(std::slice::from_ref(access), &mut self.accesses);
        for part in &self.accesses {
            self.consumer.transfer(executed, part);
        }
    }

    fn control(&mut self, context: u32, control: Control) {
        self.consumer.control(context, control);
    }

    fn after(&mut self, context: u32, before: u32) {
        self.consumer.after(context, before);
    }

    fn arrive(&mut self, context: u32, barrier: Control) {
        self.consumer.arrive(context, barrier);
    }
}
