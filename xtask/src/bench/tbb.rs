//! oneTBB: what profiling costs, and how far its numbers can be believed.

use anyhow::Context;

use super::child::Call;
use super::figure::{Figure, Target};
use super::openmp::{accuracy, difference, keep};
use super::overhead::MEMORY;
use super::pairs::{cpu, peak, Pairs};
use super::{build, table, Options};

const GROUP: &str = "tbb";

/// A task for each addition: more than a million. No more than this number of nanoseconds for each.
const FIB: (&[&str], f64) = (&["fib", "30"], 60.0);
/// Programs of which each chunk does something.
const LOADS: &[(&str, &[&str])] =
    &[("tbb-parallel-for", &["for", "10000000"]), ("tbb-parallel-sort", &["sort", "10000000"])];
/// CPU time of these, profiled over native, at most.
const CPU: f64 = 1.03;
/// Nanoseconds per leaf of a tree of 256, and the parallelism that must be found.
const TREE: &[(u64, f64)] = &[(720_000, 245.0), (72_000, 235.0), (7_200, 200.0), (720, 80.0)];

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    tasks(options, &mut figures)?;
    loads(options, &mut figures)?;
    tree(options, &mut figures)?;
    Ok(figures)
}

fn call(arguments: &[&str], workers: u32) -> anyhow::Result<Call> {
    let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
    let program = build::compiled("g++", "tbb", "bench", "cpp", &["-ltbb"])?;
    Ok(Call { program, arguments, workers, folder: build::root() })
}

fn tasks(options: &Options, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let (arguments, most) = FIB;
    if !options.wants(GROUP, "tbb-fib") {
        return Ok(());
    }
    table::group("oneTBB: a task, profiled over native");
    for workers in [1, 2] {
        let pairs = Pairs::run(GROUP, "tbb-fib", &call(arguments, workers)?, options.runs)?;
        let output = &pairs.runs.last().context("no run")?.0.output;
        let tasks = output.lines().find_map(|line| line.strip_prefix("tasks ")?.parse::<f64>().ok());
        let tasks = tasks.context("no number of tasks")?;
        let target = (workers == 1).then_some(Target::AtMost(most));
        keep(figures, difference(GROUP, "tbb-fib", workers, "ns more per task", &pairs, 1e9 / tasks, target));
    }
    Ok(())
}

fn loads(options: &Options, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let loads: Vec<_> = LOADS.iter().filter(|(name, _)| options.wants(GROUP, name)).collect();
    if !loads.is_empty() {
        table::group("oneTBB: algorithms, profiled over native");
    }
    for (name, arguments) in loads {
        for workers in [1, 2] {
            let pairs = Pairs::run(GROUP, name, &call(arguments, workers)?, options.runs)?;
            let rows = [
                pairs.ratio("CPU time", cpu, cpu, Some(Target::AtMost(CPU))),
                pairs.ratio("memory", peak, peak, Some(Target::AtMost(MEMORY))),
            ];
            for figure in rows.into_iter().flatten() {
                keep(figures, figure);
            }
        }
    }
    Ok(())
}

fn tree(options: &Options, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    if !options.wants(GROUP, "tbb-tree") {
        return Ok(());
    }
    table::group("oneTBB: parallelism of a tree of 256 equal leaves");
    let rate = call(&["rate"], 1)?.native()?.output;
    let rate: u64 = rate.lines().next().and_then(|line| line.parse().ok()).context("no rate")?;
    for (nanos, least) in TREE {
        let steps = (rate * nanos / 1000).max(1).to_string();
        for workers in [1, 2] {
            let call = call(&["tree", "8", &steps], workers)?;
            let case = format!("tree, {} µs per leaf", *nanos as f64 / 1000.0);
            let figure = accuracy(GROUP, &case, &call, "parallelism", Target::AtLeast(*least), || {
                measured(&call.profiled()?.report)
            })?;
            keep(figures, figure);
        }
    }
    Ok(())
}

/// The parallelism of the task with the most work: the one that has the whole tree.
fn measured(report: &serde_json::Value) -> anyhow::Result<f64> {
    let regions = report["regions"].as_array().context("a report without regions")?;
    let parallel = regions.iter().filter(|region| region["kind"] != "serial" && region["kind"] != "thread");
    let numbers = parallel.filter_map(|region| Some((region["work_ns"].as_f64()?, region["span_ns"].as_f64()?)));
    let (work, span) = numbers.max_by(|a, b| a.0.total_cmp(&b.0)).context("a report without tasks")?;
    Ok(work / span)
}
