//! A task graph that was recorded, and what is missing from it.

use std::path::Path;

use anyhow::Context;
use workspan_graph::file::{Recording, NAME};
use workspan_graph::missing::problems;
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
