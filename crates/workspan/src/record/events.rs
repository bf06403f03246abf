//! Events that the collector counts by context.

use std::io;

use workspan_events::{Event, Refused};
use workspan_model::{ContextId, Recording};
use workspan_read::{read_events, AskedEvent, Snapshot};

/// As it is passed to the collector.
pub fn asked(event: &Event) -> AskedEvent {
    let attributes = &event.attributes;
    AskedEvent { device: attributes.device, config: attributes.config, user: attributes.user }
}

/// Adds what was counted to the recording's last run. `contexts`: by the collector's number, the recording's.
pub fn read(
    snapshot: &impl Snapshot,
    contexts: &[ContextId],
    events: &[Event],
    recording: &mut Recording,
) -> io::Result<()> {
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    let words = |error| Refused::of_code(i32::try_from(error).unwrap_or(0)).to_string();
    let known = recording.contexts.len();
    match recording.runs.last_mut() {
        Some(run) => read_events(snapshot, contexts, known, &names, words, run),
        None => Ok(()),
    }
}
