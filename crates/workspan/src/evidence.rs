//! What the strands of a recording, if there are any, say to the verdict.

use std::path::Path;

use anyhow::Context;
use workspan_analysis::bounded_by_locks;
use workspan_analysis::schedule::{BuildOptions, Graph, Stealing};
use workspan_analysis::verdict::{simulated, Evidence};
use workspan_model::{Recording, Run};
use workspan_report::calls::Steal;

use crate::output;
use crate::strands::{self, StoredRows};

/// Pieces of the graph: a schedule of this number of takes a fraction of a second.
const MOST_PIECES: usize = 1 << 20;

/// The typical run of `recording`, which is at `file`, on this number of processors; `None` without strands that can be read. What is
/// wrong with them is reported.
pub fn of(recording: &Recording, file: &Path, processors: u32) -> Option<Evidence> {
    let number = workspan_report::typical_run(recording)?;
    strands::folder(file).ok()?;
    let found = strands::open_beside(recording, file, u32::try_from(number + 1).ok()?).and_then(|rows| {
        let recording = bounded_by_locks(recording);
        let run = recording.runs.get(number).context("there is no such run")?;
        let found = from_rows(&recording, run, &rows, processors);
        rows.report_problems();
        found
    });
    found.unwrap_or_else(|error| {
        output::note(&format!("warning: the verdict is without strands: {error:#}"));
        None
    })
}

/// A run of `recording` on this number of processors; `None` where its strands do not fit together.
pub fn from_rows(
    recording: &Recording,
    run: &Run,
    rows: &StoredRows,
    processors: u32,
) -> anyhow::Result<Option<Evidence>> {
    let options = BuildOptions { most: MOST_PIECES, ..BuildOptions::default() };
    let graph = Graph::of(recording, rows, &options).context("cannot read the strands")?;
    let usable = graph.problems().is_empty() && graph.pieces() > 0;
    let stealing = Stealing::of(Steal::of(None, recording, run).cost(), 0);
    Ok(usable.then(|| simulated(recording, run, &graph, processors, &stealing)))
}
