//! A task graph that was recorded, and what is missing from it.

use std::path::Path;

use anyhow::Context;
use workspan_graph::file::{Recording, NAME};

use crate::output;

/// Opens a graph, and says what is missing from it.
pub fn open(folder: &Path) -> anyhow::Result<Recording> {
    let path = folder.join(NAME);
    let recording = Recording::open(&path).with_context(|| {
        let hint = if folder.is_file() { "; a task graph is a folder, NAME.graph" } else { "" };
        format!("cannot read the task graph {} (made by `workspan graph record`{hint})", folder.display())
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
    found
}
