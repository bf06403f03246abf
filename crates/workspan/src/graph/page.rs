//! `workspan graph report --html`: what all back ends find in a graph, each with its usual options, on one page.

use std::path::Path;

use workspan_graph::drawn::smallest;
use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;

use super::misses::Cache;
use super::open::open;
use super::{cache, code, misses, races, report, sharing, shown, timeline, waits, working_set};
use crate::args::graph::GraphReport;
use crate::exit::Outcome;

/// Intervals of the table of parallelism over time.
const INTERVALS: usize = 20;
/// Bytes of a cache line, and lines of a set.
const LINE: u64 = 64;
const WAYS: u64 = 4;
/// The cache whose misses have their places, in KiB: that of a core, as many have it.
const KIB: u64 = 32;

/// Runs the verb: a page if one is wanted, else the report.
pub fn run(args: &GraphReport) -> anyhow::Result<Outcome> {
    let Some(file) = &args.form.html else {
        return report::run(args);
    };
    let recording = open(&args.folder)?;
    write(file, &args.folder, &recording, &Graph::of(&recording))?;
    Ok(Outcome::OK)
}

fn write(file: &Path, folder: &Path, recording: &Recording, graph: &Graph) -> anyhow::Result<()> {
    let most = usize::MAX;
    // A sample says nothing of smaller caches.
    let kib = if recording.sample.is_some() { smallest(WAYS) >> 10 } else { KIB };
    let each = Cache { kib, line: LINE, ways: WAYS, shared: false };
    let answers = [
        report::answer(folder, recording, graph, most),
        timeline::answer(recording, graph, INTERVALS),
        code::answer(recording, graph, most)?,
        waits::answer(recording, graph)?,
        cache::answer(recording, cache::Cache { line: LINE, ways: WAYS, shared: false, sample: None })?,
        misses::answer(recording, each, false)?,
        misses::answer(recording, each, true)?,
        working_set::answer(recording, graph, LINE, working_set::By::Site)?,
        working_set::answer(recording, graph, LINE, working_set::By::Feeds)?,
        sharing::answer(recording, LINE, false)?,
        sharing::answer(recording, LINE, true)?,
        races::answer(recording, races::find(recording)?.found(), most),
    ];
    shown::page(file, recording, "graph", &report::in_a_line(recording, graph), &answers)
}
