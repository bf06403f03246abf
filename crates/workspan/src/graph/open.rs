//! A task graph that was recorded, and what is missing from it.

use std::path::Path;

use anyhow::Context;
use workspan_graph::file::{Recording, NAME};
use workspan_graph::program::place;
use workspan_graph::races::Place;

use crate::known::Known;
use crate::output;

/// Opens a graph, and says what is missing from it.
pub fn open(folder: &Path) -> anyhow::Result<Recording> {
    let path = folder.join(NAME);
    let recording = Recording::open(&path).with_context(|| {
        let name = folder.display();
        if let Some(known) = Known::of(folder).filter(|known| folder.is_file() || *known != Known::Graph) {
            return format!("{name} is no folder of a task graph; {}", known.advice(folder));
        }
        let what = if folder.is_file() {
            format!("{name} is no task graph, which is a folder, NAME.graph")
        } else if folder.is_dir() && !path.exists() {
            format!("there is no task graph in the folder {name}")
        } else {
            format!("cannot read the task graph {name}")
        };
        format!("{what} (`workspan graph record` writes one)")
    })?;
    for problem in problems(&recording) {
        output::note(&format!("{}: {problem}", folder.display()));
    }
    Ok(recording)
}

/// What is missing from a recording.
pub fn problems(recording: &Recording) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(at) = recording.damaged {
        found.push(format!("damaged from byte {at} on: what follows is missing"));
    }
    match &recording.end {
        None => found.push("the recording was cut short: what followed is missing".to_owned()),
        Some(end) => {
            if end.signal != 0 {
                found.push(format!("the program was ended by signal {}: its last events may be missing", end.signal));
            }
            if end.gave_up != 0 {
                found.push(format!("{} times a thread went on without recording", end.gave_up));
            }
            if end.untracked != 0 {
                found.push(format!("{} threads, barriers or modules did not fit into a table", end.untracked));
            }
            if end.unknown != 0 {
                found.push(format!("{} buffers hold events that are not understood", end.unknown));
            }
            if end.refused != 0 {
                found.push(format!("{} more processes of the program are not in the graph", end.refused));
            }
        }
    }
    let ranks = &recording.ranks;
    for rank in ranks.ranks.iter().filter(|rank| !rank.complete) {
        found.push(format!("the graph of rank {} is not complete", rank.rank));
    }
    let missing = (ranks.size as usize).saturating_sub(ranks.ranks.len());
    if missing > 0 {
        found.push(format!("{missing} of {} ranks are missing", ranks.size));
    }
    if ranks.received_only > 0 {
        found.push(format!("{} messages were received that no rank here has sent", ranks.received_only));
    }
    found
}

/// Where an operation stands in the source, and in which function.
pub fn place_of(recording: &Recording, (module, operation): Place) -> (String, Option<String>) {
    let at = recording.program.place(module as usize, operation as usize);
    let loaded = recording.program.modules.get(module as usize);
    let place = loaded.and_then(|loaded| {
        let place = loaded.module.operations.get(operation as usize)?.place;
        loaded.module.places.get(place as usize)
    });
    let function = place.zip(loaded).map(|(place, loaded)| loaded.module.text(place.function).to_owned());
    let shown = at.map_or_else(|| "code without debug information".to_owned(), |(file, line)| format!("{file}:{line}"));
    (shown, function)
}

/// The call that allocated, by the segment that ended in it.
pub fn allocation_site(recording: &Recording, segment: u32) -> Option<(&str, u32)> {
    let (loaded, segment) = recording.program.segment(segment)?;
    place(&loaded.module, segment.call_place)
}

/// The same, as it is shown.
pub fn call(recording: &Recording, segment: u32) -> Option<String> {
    allocation_site(recording, segment).map(|(file, line)| format!("{file}:{line}"))
}

/// Ticks of the cycle counter as nanoseconds.
pub fn nanos(recording: &Recording, ticks: u64) -> u64 {
    let rate = u128::from(recording.meta.ticks_per_second.max(1));
    u64::try_from(u128::from(ticks) * 1_000_000_000 / rate).unwrap_or(u64::MAX)
}
