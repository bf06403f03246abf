//! The balanced tree again, from runs that were recorded strand by strand and merged: what is left of the noise.

use super::figure::Figure;
use super::tree::measure_trees;
use super::{openmp, table, Options};

/// Nanoseconds per leaf, and the parallelism that must be found.
const SIZES: &[(u64, f64)] = &[(720_000, 245.0), (72_000, 245.0), (7_200, 235.0), (720, 180.0)];
/// Each sample is of this number of runs.
const RUNS: u32 = 5;

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if options.wants("merged", "merged") {
        table::group("Accuracy: the same tree, the least of five runs for each strand");
        figures = measure_trees("merged", SIZES, |call| call.merged(RUNS))?;
    }
    if options.wants("merged", "omp-merged") {
        table::group("OpenMP: the same with tasks");
        figures.extend(openmp::measure_trees(SIZES, |call| call.merged(RUNS))?);
    }
    Ok(figures)
}
