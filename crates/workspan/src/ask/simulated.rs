//! A recorded run, simulated on other numbers of processors: what `predict` reports, and the dots of a page.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Context;
use workspan_analysis::predict::{point, prediction, Bounds, Options, Point, Prediction};
use workspan_analysis::schedule::{BuildOptions, Graph};
use workspan_analysis::strands::burdened_span;
use workspan_analysis::verdict::even_loops;
use workspan_analysis::what_if::Scenario;
use workspan_analysis::{bounded_by_locks, profile};
use workspan_model::{Recording, Run};

use crate::strands::StoredRows;

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// Its run, from 1.
    pub number: u32,
    /// That run, or what stands for it.
    pub run: &'a Run,
    /// Its strands.
    pub rows: &'a StoredRows,
}

/// What it takes.
#[derive(Debug)]
pub struct Simulated {
    /// The strands as a graph.
    pub graph: Graph,
    /// With the chunks of loops as they were.
    pub seen: Prediction,
    /// With even iterations, where the verdict is about these.
    pub even: Option<Prediction>,
}

/// Simulates a run with the changes of a scenario, on a graph that is built so.
pub fn simulated(
    of: Input<'_>,
    build: &BuildOptions,
    scenario: &Scenario,
    options: &Options,
) -> anyhow::Result<Simulated> {
    let Input { recording, run, rows, .. } = of;
    let changed = |graph: Graph| match scenario.changes.is_empty() {
        true => graph,
        false => graph.with_factors(scenario.factors(recording)),
    };
    let graph = changed(Graph::of(recording, rows, build).context("cannot read the strands")?);
    let mut bounds = Bounds::of(&graph, profile(recording, run).program.on_one, options.steal);
    if graph.folded() > 0 && scenario.changes.is_empty() && build.grain.is_empty() {
        bounds.burdened_span = burdened_span(recording, rows, options.steal).context("cannot read the strands")?;
    }
    let seen = on_threads(&graph, bounds, options);
    let even = even_graph(of, build)?.map(|graph| {
        let graph = changed(graph);
        on_threads(&graph, Bounds::of(&graph, bounds.recorded, options.steal), options)
    });
    Ok(Simulated { graph, seen, even })
}

/// The graph with even iterations, where the verdict is about these.
fn even_graph(of: Input<'_>, build: &BuildOptions) -> anyhow::Result<Option<Graph>> {
    let recording = bounded_by_locks(of.recording);
    let Some(run) = recording.runs.get((of.number as usize).saturating_sub(1)) else { return Ok(None) };
    let Some(even) = even_loops(&recording, run, &profile(&recording, run)) else { return Ok(None) };
    let build = BuildOptions { factors: even.factors, ..build.clone() };
    Graph::of(&recording, of.rows, &build).context("cannot read the strands").map(Some)
}

/// As [`predict`](workspan_analysis::predict()), on as many threads as there are processors. The most processors take longest, and are first.
fn on_threads(graph: &Graph, bounds: Bounds, options: &Options) -> Prediction {
    let numbers = &options.processors;
    let next = AtomicUsize::new(numbers.len());
    let compute = || {
        let mut points: Vec<Point> = Vec::new();
        while let Ok(at) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            points.push(point(graph, &bounds, options, numbers[at - 1]));
        }
        points
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(numbers.len());
    let points = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(compute)).collect();
        let mut points = compute();
        for other in others {
            points.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        points
    });
    prediction(bounds, points)
}
