//! What the strands of a recording, if there are any, say to the verdict.

use std::path::Path;

use workspan_analysis::schedule::{BuildOptions, Graph, Stealing};
use workspan_analysis::verdict::{simulated, Evidence};
use workspan_analysis::{bounded_by_locks, Rows};
use workspan_model::{Recording, Run};
use workspan_report::calls::Steal;

use crate::strands;

/// Pieces of the graph: a schedule of so many takes a fraction of a second.
const MOST_PIECES: usize = 1 << 20;

/// The typical run of `recording`, which is at `file`, on so many processors; `None` without strands that can be read.
pub fn of(recording: &Recording, file: &Path, processors: u32) -> Option<Evidence> {
    let number = workspan_report::typical_run(recording)?;
    let rows = strands::open(file, u32::try_from(number + 1).ok()?).ok()?.rows;
    let recording = bounded_by_locks(recording);
    from_rows(&recording, recording.runs.get(number)?, &rows, processors)
}

fn from_rows<R: Rows>(recording: &Recording, run: &Run, rows: &R, processors: u32) -> Option<Evidence> {
    let options = BuildOptions { most: MOST_PIECES, ..BuildOptions::default() };
    let graph = Graph::of(recording, rows, &options).ok()?;
    let usable = graph.problems().is_empty() && graph.pieces() > 0;
    let steal = Steal::of(None, recording, run).cost();
    usable.then(|| simulated(recording, run, &graph, processors, &Stealing::of(steal, 0)))
}
