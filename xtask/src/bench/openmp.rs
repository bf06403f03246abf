//! OpenMP: what profiling costs, and how far its numbers can be believed.

use anyhow::Context;
use serde_json::Value;

use super::child::{Busy, Call};
use super::figure::{Figure, Target};
use super::overhead::MEMORY;
use super::pairs::{cpu, peak, Pairs};
use super::spread::Spread;
use super::{build, table, Options};

const GROUP: &str = "openmp";

/// A load of `programs/openmp`.
struct Load {
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    /// CPU time, profiled over native, at most.
    cpu: f64,
}

const LOADS: &[Load] = &[
    Load { name: "omp-fib", program: "fib", arguments: &["32", "0"], cpu: 3.0 },
    Load { name: "omp-fib-cutoff", program: "fib", arguments: &["40", "20"], cpu: 1.05 },
    Load { name: "omp-mergesort", program: "mergesort", arguments: &["4000000", "1000"], cpu: 1.05 },
    Load { name: "omp-loop-static", program: "loops", arguments: &["static", "10000"], cpu: 1.05 },
    Load { name: "omp-loop-dynamic", program: "loops", arguments: &["dynamic", "5000"], cpu: 1.05 },
];

/// How a load of `programs/openmp` is called by name.
pub(super) fn load(name: &str, workers: u32) -> anyhow::Result<Call> {
    LOADS.iter().find(|load| load.name == name).with_context(|| format!("there is no load `{name}`"))?.call(workers)
}

impl Load {
    fn call(&self, workers: u32) -> anyhow::Result<Call> {
        call(self.program, self.arguments, workers)
    }
}

/// Nanoseconds per leaf of a tree of 256, and the parallelism that must be found.
const TREE: &[(u64, f64)] = &[(720_000, 240.0), (72_000, 230.0), (7_200, 130.0), (720, 50.0)];
/// The same with two tasks a node; in a program that has run such a tree before, and in one that has not.
const TREE_OF_TWO: &[(u64, f64)] = &[(720_000, 240.0), (72_000, 235.0), (7_200, 190.0), (720, 90.0)];
const WAYS_OF_TWO: &[(&str, &str)] = &[("two", "two tasks a node"), ("two-cold", "two tasks a node, cold")];
/// A figure of accuracy is the median of this number of runs, each on its own.
const SAMPLES: usize = 5;
/// Closed-form programs that take longer than this number of milliseconds are excluded.
const UNITS: u64 = 60;

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    overhead(options, &mut figures)?;
    start_up(options, &mut figures)?;
    tree(options, &mut figures)?;
    triangle(options, &mut figures)?;
    closed_forms(options, &mut figures)?;
    Ok(figures)
}

pub(super) fn keep(figures: &mut Vec<Figure>, figure: Figure) {
    table::row(&figure);
    figures.push(figure);
}

fn call(program: &str, arguments: &[&str], workers: u32) -> anyhow::Result<Call> {
    let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
    Ok(Call { program: build::c_program("openmp", program)?, arguments, workers, folder: build::root() })
}

fn overhead(options: &Options, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let loads: Vec<&Load> = LOADS.iter().filter(|load| options.wants(GROUP, load.name)).collect();
    if !loads.is_empty() {
        table::group("OpenMP: profiled over native");
    }
    for load in loads {
        for workers in [1, 2] {
            let pairs = Pairs::run(GROUP, load.name, &load.call(workers)?, options.runs)?;
            let rows = [
                pairs.ratio("CPU time", cpu, cpu, Some(Target::AtMost(load.cpu))),
                pairs.ratio("memory", peak, peak, Some(Target::AtMost(MEMORY))),
            ];
            for figure in rows.into_iter().flatten() {
                keep(figures, figure);
            }
            if load.name == "omp-fib" && workers == 1 {
                let tasks = pairs.runs.last().and_then(|run| run.1.report["program"]["tasks"].as_f64());
                let tasks = tasks.context("a report without tasks")?;
                let more = difference(GROUP, load.name, workers, "ns more per task", &pairs, 1e9 / tasks, None);
                keep(figures, more);
            }
        }
    }
    Ok(())
}

/// How much more CPU time a profiled run took than the native one before or after it.
pub(super) fn difference(
    group: &'static str,
    case: &str,
    workers: u32,
    quantity: &'static str,
    pairs: &Pairs,
    scale: f64,
    target: Option<Target>,
) -> Figure {
    let spread = Spread::of(pairs.runs.iter().map(|(native, profiled)| (profiled.cpu - native.cpu) * scale));
    let (case, value) = (case.to_owned(), spread.median());
    Figure { group, case, workers, quantity, value, spread, target, behind: Vec::new(), remark: String::new() }
}

fn start_up(options: &Options, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    if !options.wants(GROUP, "omp-start") {
        return Ok(());
    }
    for workers in [1, 2] {
        let pairs = Pairs::run(GROUP, "omp-start", &call("loops", &["static", "1", "10"], workers)?, options.runs)?;
        let target = Some(Target::AtMost(5.0));
        keep(figures, difference(GROUP, "omp-start", workers, "ms more CPU time", &pairs, 1e3, target));
    }
    Ok(())
}

fn tree(options: &Options, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    if !options.wants(GROUP, "omp-tree") {
        return Ok(());
    }
    table::group("OpenMP: region parallelism of a tree of 256 equal leaves");
    figures.extend(measure_trees(TREE, |call| Ok(call.profiled()?.report))?);
    for (way, name) in WAYS_OF_TWO {
        for (nanos, least, call) in trees(TREE_OF_TWO, Some(way))? {
            let case = format!("tree, {name}, {} µs per leaf", nanos as f64 / 1000.0);
            let figure = accuracy(GROUP, &case, &call, "parallelism", Target::AtLeast(least), || {
                let (work, span) = largest(&call.profiled()?.report)?;
                Ok(work / span)
            })?;
            keep(figures, figure);
        }
    }
    Ok(())
}

/// The parallelism of trees, by the reports of several samples. `sizes`: nanoseconds per leaf, and what must be found.
pub(super) fn measure_trees(
    sizes: &[(u64, f64)],
    sample: impl Fn(&Call) -> anyhow::Result<Value>,
) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (nanos, least, call) in trees(sizes, None)? {
        let case = format!("tree, {} µs per leaf", nanos as f64 / 1000.0);
        let figure = accuracy(GROUP, &case, &call, "parallelism", Target::AtLeast(least), || {
            let (work, span) = largest(&sample(&call)?)?;
            Ok(work / span)
        })?;
        keep(&mut figures, figure);
    }
    Ok(figures)
}

/// Trees of 256 leaves of these sizes, each with one thread and with two; `way` as the program takes it.
fn trees(sizes: &[(u64, f64)], way: Option<&str>) -> anyhow::Result<Vec<(u64, f64, Call)>> {
    let rate = call("tree", &["rate"], 1)?.native()?.output;
    let rate: u64 = rate.lines().next().and_then(|line| line.parse().ok()).context("no rate")?;
    let mut trees = Vec::new();
    for (nanos, least) in sizes {
        let steps = (rate * nanos / 1000).max(1).to_string();
        for workers in [1, 2] {
            let arguments: Vec<&str> = ["8", &steps].into_iter().chain(way).collect();
            trees.push((*nanos, *least, call("tree", &arguments, workers)?));
        }
    }
    Ok(trees)
}

fn triangle(options: &Options, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    if !options.wants(GROUP, "omp-triangle") {
        return Ok(());
    }
    let call = call("triangle", &["100000"], 1)?;
    let figure = accuracy(
        GROUP,
        "static loop, 64 virtual cores",
        &call,
        "parallelism over 32.5",
        Target::NearOne(0.02),
        || {
            let (work, span) = largest(&call.profiled_with(&["--logical-cores", "64"])?.report)?;
            Ok(work / span / 32.5)
        },
    )?;
    keep(figures, figure);
    Ok(())
}

fn closed_forms(options: &Options, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    if !options.wants(GROUP, "omp-closed") {
        return Ok(());
    }
    table::group("OpenMP: parallelism of closed-form programs over its exact value, on a busy machine");
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let load = build::program("bench")?;
    for workers in [1, 2] {
        let list = call("constructs", &["list"], workers)?.native()?.output;
        let busy = Busy::start(&load.native, processors)?;
        for name in list.lines().filter_map(closed_form) {
            let exact = call("constructs", &[name], workers)?.profiled_with(&["--clock", "virtual"])?.report;
            let Some(exact) = parallelism(&exact) else {
                continue;
            };
            let call = call("constructs", &[name, "1000000"], workers)?;
            let mut figure = accuracy(GROUP, name, &call, "parallelism over exact", Target::NearOne(0.05), || {
                Ok(parallelism(&call.profiled()?.report).context("a report without regions")? / exact)
            })?;
            figure.remark = format!("exact {exact:.2}");
            keep(figures, figure);
        }
        drop(busy);
    }
    Ok(())
}

/// The name of a case whose answer is exact with any number of threads, and that does not take too long.
fn closed_form(line: &str) -> Option<&str> {
    let mut words = line.split(' ');
    let (name, work, how) = (words.next()?, words.next()?, words.nth(1)?);
    (how == "exact" && work.parse::<u64>().is_ok_and(|units| units <= UNITS)).then_some(name)
}

pub(super) fn accuracy(
    group: &'static str,
    case: &str,
    call: &Call,
    quantity: &'static str,
    target: Target,
    sample: impl Fn() -> anyhow::Result<f64>,
) -> anyhow::Result<Figure> {
    let samples: Result<Vec<f64>, _> = (0..SAMPLES).map(|_| sample()).collect();
    let spread = Spread::of(samples?);
    let (case, value, workers, target) = (case.to_owned(), spread.median(), call.workers, Some(target));
    Ok(Figure { group, case, workers, quantity, value, spread, target, behind: Vec::new(), remark: String::new() })
}

/// Regions that are no serial code, nor there to warm the team up: work and span.
fn regions(report: &Value) -> impl Iterator<Item = (f64, f64)> + '_ {
    let regions = report["regions"].as_array().into_iter().flatten();
    let warm_up = |region: &Value| region["place"]["file"].as_str().is_some_and(|file| file.ends_with("cost.h"));
    let parallel =
        regions.filter(move |region| region["kind"] != "serial" && region["kind"] != "thread" && !warm_up(region));
    parallel.map(|region| (region["work_ns"].as_f64().unwrap_or(0.0), region["span_ns"].as_f64().unwrap_or(0.0)))
}

/// Work and span of the region with the most work.
fn largest(report: &Value) -> anyhow::Result<(f64, f64)> {
    regions(report).max_by(|a, b| a.0.total_cmp(&b.0)).context("a report without a region")
}

/// Of all regions together, so that the start of the program is none of it.
fn parallelism(report: &Value) -> Option<f64> {
    let (work, span) = regions(report).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (span > 0.0).then(|| work / span)
}
