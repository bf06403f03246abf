//! What the strands of a recording, if there are any, say to the verdict.

use std::path::Path;

use anyhow::Context;
use workspan_analysis::schedule::{BuildOptions, Graph, Stealing};
use workspan_analysis::verdict::{even_loops, simulated, Evidence, OfEven};
use workspan_analysis::{bounded_by_locks, profile};
use workspan_model::{Recording, Run};
use workspan_report::calls::Steal;

use crate::output;
use crate::strands::{self, StoredRows};

/// Pieces of the graph: a schedule of this number of takes a fraction of a second.
const MOST_PIECES: usize = 1 << 20;

/// What strands say.
#[derive(Debug, Default)]
pub struct Said {
    /// To the verdict. Nothing where strands are missing: a chain whose links are lost looks parallel.
    pub evidence: Option<Evidence>,
    /// What is missing, and by how much what is drawn from the rest may be off.
    pub doubt: Option<String>,
}

/// The typical run of `recording`, which is at `file`, on this number of processors; nothing without strands that can be read. What is
/// wrong with them is reported.
pub fn of(recording: &Recording, file: &Path, processors: u32) -> Said {
    let Some(number) = workspan_report::typical_run(recording) else {
        return Said::default();
    };
    if strands::folder(file).is_err() {
        return Said::default();
    }
    let open = || strands::open_beside(recording, file, u32::try_from(number + 1)?);
    let found = open().and_then(|rows| {
        let recording = bounded_by_locks(recording);
        let run = recording.runs.get(number).context("there is no such run")?;
        let found = from_rows(&recording, run, &rows, processors);
        rows.report_problems();
        found
    });
    found.unwrap_or_else(|error| {
        output::note(&format!("warning: the verdict is without strands: {error:#}"));
        Said::default()
    })
}

/// A run of `recording` on this number of processors; no evidence where its strands do not fit together.
pub fn from_rows(recording: &Recording, run: &Run, rows: &StoredRows, processors: u32) -> anyhow::Result<Said> {
    let options = BuildOptions { most: MOST_PIECES, ..BuildOptions::default() };
    let graph = Graph::of(recording, rows, &options).context("cannot read the strands")?;
    if let Some(doubt) = rows.doubt(recording, run)? {
        return Ok(Said { evidence: None, doubt: Some(doubt) });
    }
    let usable = graph.problems().is_empty() && graph.pieces() > 0;
    let stealing = Stealing::of(Steal::of(None, recording, run).cost(), 0);
    let profile = profile(recording, run);
    let even = even_loops(recording, run, &profile).filter(|_| usable).map(|even| {
        let options = BuildOptions { factors: even.factors.clone(), ..options };
        Graph::of(recording, rows, &options).context("cannot read the strands").map(|graph| (even, graph))
    });
    let even = even.transpose()?;
    let even = even.as_ref().map(|(loops, graph)| OfEven { loops, graph });
    let evidence = usable.then(|| simulated(recording, run, &profile, &graph, processors, &stealing, even));
    Ok(Said { evidence, doubt: None })
}
