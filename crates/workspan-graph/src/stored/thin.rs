//! Chunks without the segments that touch no line of a sample ([`crate::sample`]).

use crate::codec::{Encoded, Encoder, Haste};
use crate::events::{Access, Event, Events};
use crate::program::Program;
use crate::sample::Sample;
use crate::summary::Summariser;

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

    fn touches(&mut self, program: &Program, sample: &Sample, event: &Event<'_>) -> bool {
        let Some((loaded, segment)) = program.segment(event.id) else {
            return true;
        };
        event.accesses(loaded, segment, &mut self.accesses);
        self.accesses.iter().any(|access| sample.touched_by(access))
    }
}
