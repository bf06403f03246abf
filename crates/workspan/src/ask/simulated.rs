//! A recorded run, simulated on other numbers of processors: what `predict` reports, and the dots of a page.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Context;
use workspan_analysis::predict::{point, prediction, Bounds, Options, Point, Prediction};
use workspan_analysis::schedule::{BuildOptions, Graph, Schedule};
use workspan_analysis::strands::burdened_span;
use workspan_analysis::verdict::even_loops;
use workspan_analysis::what_if::Scenario;
use workspan_analysis::{bounded_by_locks, profile};
use workspan_model::{Nanos, Recording, Run};
use workspan_report::under_lock::UnderLock;

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
    // A change may be of what is under the lock.
    let bound = |held: Nanos| if scenario.changes.is_empty() { held } else { Nanos::ZERO };
    let held = bound(held(of, &graph).unwrap_or_default());
    let seen = at_least(on_threads(&graph, bounds, options), held);
    let even = even_graph(of, build)?.map(|(graph, locked)| {
        let graph = changed(graph);
        let locked = bound((locked - graph.saved()).at_least_zero());
        at_least(on_threads(&graph, Bounds::of(&graph, bounds.recorded, options.steal), options), held.max(locked))
    });
    Ok(Simulated { graph, seen, even })
}

/// What code under one lock takes, if that is longer than any chain of strands: these leave out the order of locks. What is saved may be
/// part of it.
fn held(of: Input<'_>, graph: &Graph) -> Option<Nanos> {
    let held = UnderLock::of(of.recording, of.number)?.held;
    (held > graph.recorded_span()).then(|| (held - graph.saved()).at_least_zero())
}

/// The same if no schedule is shorter than `held`, what one lock is held. Who waits for it is idle, as is who waits for the longest path: so
/// a greedy schedule is longer by that at most.
fn at_least(found: Prediction, held: Nanos) -> Prediction {
    if held == Nanos::ZERO {
        return found;
    }
    let Prediction { mut bounds, mut points, .. } = found;
    for point in &mut points {
        let processors = i64::from(point.processors.max(1));
        point.laws = point.laws.max(held);
        point.burdened = point.burdened.max(held);
        point.brent += held - Nanos(held.0 / processors);
        extend(&mut point.greedy, held);
        point.stealing.iter_mut().for_each(|schedule| extend(schedule, held));
    }
    bounds.span = bounds.span.max(held);
    bounds.burdened_span = bounds.burdened_span.max(held);
    prediction(bounds, points)
}

fn extend(schedule: &mut Schedule, held: Nanos) {
    let longer = (held - schedule.time).at_least_zero();
    schedule.time += longer;
    schedule.idle += longer * i64::from(schedule.processors);
}

/// The graph with even iterations, where the verdict is about these; and what code under one lock takes, if that is longer than its span.
fn even_graph(of: Input<'_>, build: &BuildOptions) -> anyhow::Result<Option<(Graph, Nanos)>> {
    let recording = bounded_by_locks(of.recording);
    let Some(run) = recording.runs.get((of.number as usize).saturating_sub(1)) else { return Ok(None) };
    let Some(even) = even_loops(&recording, run, &profile(&recording, run)) else { return Ok(None) };
    let build = BuildOptions { factors: even.factors, ..build.clone() };
    let graph = Graph::of(&recording, of.rows, &build).context("cannot read the strands")?;
    Ok(Some((graph, even.locked)))
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
