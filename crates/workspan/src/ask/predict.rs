//! `workspan predict`: how long the program would take on other numbers of processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{ensure, Context};
use workspan_analysis::predict::{point, prediction, Bounds, Options, Point, Prediction};
use workspan_analysis::schedule::{BuildOptions, Grain, Graph};
use workspan_analysis::strands::burdened_span;
use workspan_analysis::verdict::{any_order_of_locks, even_loops};
use workspan_analysis::{bounded_by_locks, profile, what_if, Scenario};
use workspan_model::{Nanos, Ratio, Recording, SiteId};
use workspan_report::calls::Steal;
use workspan_report::predict::{answer, csv, json, text, Asked};
use workspan_report::text::Style;

use crate::args::{self, Cutoff};
use crate::exit::Outcome;
use crate::parts::{scenario, SpeedUp};
use crate::strands::Recorded;
use crate::{output, strands};

/// Runs the verb.
pub fn run(args: &args::Predict) -> anyhow::Result<Outcome> {
    let speed_ups = args.speed_up.iter().map(|spec| spec.parse()).collect::<anyhow::Result<Vec<SpeedUp>>>()?;
    let file = strands::recording_of(&args.file);
    let recorded = strands::open(&file, args.run)?;
    let recording = &recorded.recording;
    let (changes, scenario) = scenario(&speed_ups, recording, &|| recorded.places())?;
    let grain = grain(&args.grain, recording)?;
    let join_cost_ps = recorded.run.join_cost_ps;
    let options_of_graph = BuildOptions { grain: grain.clone(), join_cost_ps, ..BuildOptions::default() };
    let mut graph = Graph::of(recording, &recorded.rows, &options_of_graph).context("cannot read the strands")?;
    recorded.rows.report_problems();
    if !changes.is_empty() {
        graph = graph.with_factors(scenario.factors(recording));
    }
    let steal = Steal::of(args.steal, recording, &recorded.run);
    let options = Options { processors: args.processors.0.clone(), steal: steal.cost(), seeds: args.seeds };
    let mut bounds = Bounds::of(&graph, profile(recording, &recorded.run).program.on_one, steal.cost());
    if graph.folded() > 0 && changes.is_empty() && grain.is_empty() {
        bounds.burdened_span =
            burdened_span(recording, &recorded.rows, steal.cost()).context("cannot read the strands")?;
    }
    let computed = on_threads(&graph, bounds, &options);
    let even = match even_graph(&recorded, args.run, &options_of_graph)? {
        Some(graph) => {
            let graph = if changes.is_empty() { graph } else { graph.with_factors(scenario.factors(recording)) };
            let bounds = Bounds::of(&graph, bounds.recorded, steal.cost());
            Some(on_threads(&graph, bounds, &options))
        }
        None => None,
    };
    let any_order = any_order(&recorded, args.run).filter(|_| changes.is_empty());
    let asked = Asked { any_order, recording, run: args.run, changes, grain: &grain, steal, seeds: args.seeds };
    let mut view = answer(asked, &graph, &computed, even.as_ref());
    view.warnings.splice(0..0, unfound(&recorded, scenario)?);
    view.warnings.splice(0..0, recorded.doubt()?);
    let style = Style { colour: output::colour_stdout(), ..Style::default() };
    output::data(&match (args.json, args.csv) {
        (true, _) => json(&view) + "\n",
        (false, true) => csv(&view),
        (false, false) => text(&view, style, output::unicode()),
    })?;
    Ok(Outcome::OK)
}

/// Parts of the scenario that name no strand.
fn unfound(recorded: &Recorded, scenario: Scenario) -> anyhow::Result<Vec<String>> {
    if scenario.changes.is_empty() {
        return Ok(Vec::new());
    }
    let computed = what_if(&recorded.recording, &recorded.rows, &[scenario]).context("cannot read the strands")?;
    let outcome = computed.outcomes.first().context("no change was requested")?;
    Ok(workspan_report::what_if::unfound(&recorded.recording, &computed.before, outcome))
}

/// The graph with even iterations, where the verdict is about these.
fn even_graph(recorded: &Recorded, number: u32, options: &BuildOptions) -> anyhow::Result<Option<Graph>> {
    let recording = bounded_by_locks(&recorded.recording);
    let Some(run) = recording.runs.get((number as usize).saturating_sub(1)) else { return Ok(None) };
    let Some(even) = even_loops(&recording, run, &profile(&recording, run)) else { return Ok(None) };
    let options = BuildOptions { factors: even.factors, ..options.clone() };
    Graph::of(&recording, &recorded.rows, &options).context("cannot read the strands").map(Some)
}

/// The most speedup in any other order of locks, where that matters.
fn any_order(recorded: &Recorded, number: u32) -> Option<Ratio> {
    let recording = bounded_by_locks(&recorded.recording);
    let run = recording.runs.get((number as usize).checked_sub(1)?)?;
    any_order_of_locks(&recording, run, &profile(&recording, run))
}

/// Sites by their handles, several of which may share one.
fn grain(cutoffs: &[Cutoff], recording: &Recording) -> anyhow::Result<Vec<Grain>> {
    let mut grain = Vec::new();
    for Cutoff { site, least } in cutoffs {
        let known = grain.len();
        let sites = (0..).zip(&recording.sites).filter(|(_, at)| at.stable_id(&recording.sites) == *site);
        grain.extend(sites.map(|(id, _)| Grain { site: SiteId(id), least: Nanos(*least) }));
        ensure!(grain.len() > known, "the recording has no site `{site}`");
    }
    Ok(grain)
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
