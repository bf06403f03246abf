//! The closed-form programs of `programs/shapes` in real time, with leaves of a millisecond, while other processes keep
//! every processor busy: region parallelism over its exact value.

use anyhow::Context;
use serde_json::Value;

use super::child::{Busy, Call};
use super::figure::{Figure, Target};
use super::spread::Spread;
use super::{build, table, Options};

/// A unit of cost.
const NANOS: u64 = 1_000_000;
/// How far the parallelism may be off.
const TOLERANCE: f64 = 0.03;
/// The figure is the median of this number of runs.
const SAMPLES: usize = 5;
/// Shapes whose tasks outlive the region that is looked at, or that make `main` a worker, which it is already.
const UNFIT: &[&str] = &["spawn-detached", "spawn-fifo", "current-thread"];

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if !options.wants("shapes", "shapes") {
        return Ok(figures);
    }
    let program = build::program("shapes")?;
    let load = build::program("bench")?;
    table::group("Accuracy: region parallelism of closed-form programs over its exact value, on a busy machine");
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    for workers in [1, 2] {
        let call =
            |arguments: Vec<String>| Call { program: program.clone(), arguments, workers, folder: build::root() };
        let list = call(vec!["list".to_owned()]).native()?.output;
        let busy = Busy::start(&load.native, processors)?;
        for line in list.lines() {
            let Some((name, exact)) = parse(line) else {
                continue;
            };
            let call = call(vec![name.to_owned(), NANOS.to_string()]);
            let mut samples = Vec::new();
            for _ in 0..SAMPLES {
                samples.push(scope(&call.profiled()?.report)? / exact);
            }
            let spread = Spread::of(samples);
            let figure = Figure {
                group: "shapes",
                case: name.to_owned(),
                workers,
                quantity: "parallelism over exact",
                value: spread.median(),
                spread,
                target: Some(Target::NearOne(TOLERANCE)),
                behind: Vec::new(),
                remark: format!("exact {exact:.2}"),
            };
            table::row(&figure);
            figures.push(figure);
        }
        drop(busy);
    }
    Ok(figures)
}

/// Name and parallelism of a shape that has a closed form for a region.
fn parse(line: &str) -> Option<(&str, f64)> {
    let mut words = line.split(' ');
    let name = words.next().filter(|name| !UNFIT.contains(name))?;
    let mut number = || words.next()?.parse::<f64>().ok().filter(|number| *number > 0.0);
    Some((name, number()? / number()?))
}

/// Parallelism of the scope around the shape: the last region that is one.
fn scope(report: &Value) -> anyhow::Result<f64> {
    let regions = report["regions"].as_array().context("a report without regions")?;
    let place = |region: &Value| region["place"]["file"].as_str().is_some_and(|file| file.ends_with("main.rs"));
    let region = regions.iter().find(|region| region["kind"] == "scope" && place(region));
    region.and_then(|region| region["parallelism"].as_f64()).context("a report without the scope of `main`")
}
