//! Events counted by context, in a `RUN ` section.

use workspan_model::EventCounts;

use crate::codec::{Decoder, Encoder};

/// Bits of what is known of an event.
const WHOLE: u64 = 1;
const OUTSIDE_KERNEL: u64 = 2;

/// Contexts in which an event never came are excluded.
pub(super) fn encode(e: &mut Encoder, events: &[EventCounts]) {
    e.unsigned(events.len() as u64);
    for event in events {
        let bits = u64::from(event.whole.is_some()) * WHOLE + u64::from(event.outside_kernel) * OUTSIDE_KERNEL;
        e.text(&event.name).text(event.refused.as_deref().unwrap_or_default()).unsigned(bits);
        for value in [event.counted_ppm, event.threads, event.missing_threads] {
            e.unsigned(u64::from(value));
        }
        e.unsigned(event.whole.unwrap_or(0));
        let some = || (0u64..).zip(&event.counts).filter(|(_, count)| **count != 0);
        e.unsigned(some().count() as u64);
        for (context, count) in some() {
            e.unsigned(context).unsigned(*count);
        }
    }
}

pub(super) fn decode(d: &mut Decoder<'_>, contexts: usize) -> Option<Vec<EventCounts>> {
    /// More than anybody counts at a time: each has a count for every context.
    const MOST: usize = 64;
    let count = d.count().filter(|count| *count <= MOST)?;
    (0..count).map(|_| decode_one(d, contexts)).collect()
}

fn decode_one(d: &mut Decoder<'_>, contexts: usize) -> Option<EventCounts> {
    let name = d.text()?;
    let refused = Some(d.text()?).filter(|text| !text.is_empty());
    let bits = d.unsigned()?;
    let [counted_ppm, threads, missing_threads] = [d.small()?, d.small()?, d.small()?];
    let whole = Some(d.unsigned()?).filter(|_| bits & WHOLE != 0);
    let mut counts = vec![0; contexts];
    for _ in 0..d.count()? {
        let context = usize::try_from(d.unsigned()?).ok()?;
        *counts.get_mut(context)? = d.unsigned()?;
    }
    let outside_kernel = bits & OUTSIDE_KERNEL != 0;
    Some(EventCounts { name, counts, whole, counted_ppm, threads, missing_threads, refused, outside_kernel })
}
