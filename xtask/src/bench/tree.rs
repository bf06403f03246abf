//! A balanced tree of 256 equal leaves: its region's parallelism is 256, but the span is a maximum over noisy leaves.

use anyhow::Context;
use serde_json::Value;

use super::child::Call;
use super::figure::{Figure, Target};
use super::spread::Spread;
use super::{build, table, Options};

/// 2^8 leaves.
const DEPTH: u32 = 8;
/// Leaves.
const LEAVES: f64 = (1 << DEPTH) as f64;
/// Nanoseconds per leaf, and the parallelism that must be found.
const SIZES: &[(u64, f64)] = &[(720_000, 240.0), (72_000, 230.0), (7_200, 150.0), (720, 60.0)];
/// The figure is the median of this number of runs, each on its own.
const SAMPLES: usize = 5;

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    if !options.wants("tree", "tree") {
        return Ok(Vec::new());
    }
    table::group("Accuracy: region parallelism of a tree of 256 equal leaves");
    measure_trees("tree", SIZES, |call| Ok(call.profiled()?.report))
}

/// The parallelism of trees, by the reports of several samples. `sizes`: nanoseconds per leaf, and what must be found.
pub(super) fn measure_trees(
    group: &'static str,
    sizes: &[(u64, f64)],
    sample: impl Fn(&Call) -> anyhow::Result<Value>,
) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (nanos, workers, call) in trees(sizes.iter().map(|(nanos, _)| *nanos))? {
        let mut parallelism = Vec::new();
        let mut leaf = Vec::new();
        for _ in 0..SAMPLES {
            let (work, span) = joins(&sample(&call)?)?;
            parallelism.push(work / span);
            leaf.push(work / LEAVES / 1000.0);
        }
        let spread = Spread::of(parallelism);
        let target = sizes.iter().find(|(size, _)| *size == nanos).map(|(_, least)| Target::AtLeast(*least));
        let figure = Figure {
            group,
            case: format!("{} µs per leaf", nanos as f64 / 1000.0),
            workers,
            quantity: "parallelism",
            value: spread.median(),
            spread,
            target,
            behind: vec![("leaf_us", Spread::of(leaf))],
            remark: String::new(),
        };
        table::row(&figure);
        figures.push(figure);
    }
    Ok(figures)
}

/// Trees whose leaves take this number of nanoseconds, each with one worker and with two.
fn trees(sizes: impl Iterator<Item = u64>) -> anyhow::Result<Vec<(u64, u32, Call)>> {
    let program = build::program("bench")?;
    let call = |arguments: &[String], workers| Call {
        program: program.clone(),
        arguments: arguments.to_vec(),
        workers,
        folder: build::root(),
    };
    let rate = call(&["rate".to_owned()], 1).native()?.output;
    let rate: u64 = rate.lines().next().and_then(|line| line.parse().ok()).context("no rate")?;
    let tree = |nanos: u64, workers| {
        let steps = (rate * nanos / 1000).max(1);
        (nanos, workers, call(&["tree".to_owned(), DEPTH.to_string(), steps.to_string()], workers))
    };
    Ok(sizes.flat_map(|nanos| [tree(nanos, 1), tree(nanos, 2)]).collect())
}

/// Work and span of the region with the most work.
fn joins(report: &Value) -> anyhow::Result<(f64, f64)> {
    let regions = report["regions"].as_array().context("a report without regions")?;
    let number = |region: &Value, name: &str| region[name].as_f64().unwrap_or(0.0);
    let found =
        regions.iter().filter(|region| region["kind"] == "join").map(|region| (number(region, "work_ns"), region));
    let (work, region) = found.max_by(|a, b| a.0.total_cmp(&b.0)).context("a report without a join")?;
    Ok((work, number(region, "span_ns")))
}
