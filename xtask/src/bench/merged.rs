//! The balanced tree again, from runs that were recorded strand by strand and merged: what is left of the noise.

use super::figure::{Figure, Target};
use super::spread::Spread;
use super::tree::{joins, trees, LEAVES};
use super::{table, Options};

/// Nanoseconds per leaf, and the parallelism that must be found.
const SIZES: &[(u64, f64)] = &[(720_000, 245.0), (72_000, 245.0), (7_200, 235.0), (720, 180.0)];
/// The figure is the median of so many, each of so many runs.
const SAMPLES: usize = 5;
const RUNS: u32 = 5;

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if !options.wants("merged", "merged") {
        return Ok(figures);
    }
    table::group("Accuracy: the same tree, the least of five runs for each strand");
    for (nanos, workers, call) in trees(SIZES.iter().map(|(nanos, _)| *nanos))? {
        let mut parallelism = Vec::new();
        let mut leaf = Vec::new();
        for _ in 0..SAMPLES {
            let (work, span) = joins(&call.merged(RUNS)?)?;
            parallelism.push(work / span);
            leaf.push(work / LEAVES / 1000.0);
        }
        let spread = Spread::of(parallelism);
        let target = SIZES.iter().find(|(size, _)| *size == nanos).map(|(_, least)| Target::AtLeast(*least));
        let figure = Figure {
            group: "merged",
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
