//! What it costs to write every strand down: CPU time of programs with a cutoff, and bytes on disk.

use anyhow::Context;

use super::child::{Call, Ended};
use super::figure::{Figure, Target};
use super::pairs::{cpu, Pairs};
use super::spread::Spread;
use super::{openmp, overhead, table, Options};

const GROUP: &str = "record";

/// Loads of `overhead` and of `openmp`, whose tasks are of a size that makes sense.
const LOADS: &[(&str, Find)] = &[
    ("fib-cutoff", overhead::call),
    ("sum", overhead::call),
    ("sort", overhead::call),
    ("chunks", overhead::call),
    ("omp-fib-cutoff", openmp::load),
    ("omp-mergesort", openmp::load),
];

/// Finds a load by name.
type Find = fn(&str, u32) -> anyhow::Result<Call>;

/// CPU time, recorded over native, at most.
const CPU: f64 = 1.15;
/// Bytes of a strand on disk, at most.
pub(super) const BYTES: f64 = 12.0;

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let loads: Vec<_> = LOADS.iter().filter(|(name, _)| options.wants(GROUP, name)).collect();
    if !loads.is_empty() {
        table::group("Recording: every strand written down, over native");
    }
    for (name, find) in loads {
        for workers in [1, 2] {
            let pairs = Pairs::run_with(GROUP, name, &find(name, workers)?, &["--strands"], options.runs)?;
            let counts = pairs.runs.iter().map(|(_, recorded)| strands_and_bytes(recorded));
            let counts = counts.collect::<Option<Vec<_>>>().context("no word of the strands")?;
            let strands = Spread::of(counts.iter().map(|(strands, _)| *strands));
            // Of a handful the names of columns are most of it.
            let many = strands.median() > 10_000.0;
            let spread = Spread::of(counts.iter().map(|(strands, bytes)| bytes / strands));
            let bytes = Figure {
                group: GROUP,
                case: (*name).to_owned(),
                workers,
                quantity: "bytes per strand",
                value: spread.median(),
                spread,
                target: many.then_some(Target::AtMost(BYTES)),
                remark: format!("{} strands", strands.median()),
                behind: vec![("strands", strands)],
            };
            for figure in pairs.ratio("CPU time", cpu, cpu, Some(Target::AtMost(CPU))).into_iter().chain([bytes]) {
                table::row(&figure);
                figures.push(figure);
            }
        }
    }
    Ok(figures)
}

/// As `workspan record` reports them: `wrote N strands to FOLDER (M bytes)`, or in other words between the numbers.
fn strands_and_bytes(ended: &Ended) -> Option<(f64, f64)> {
    ended.talk.lines().find_map(|line| {
        let (strands, rest) = line.split_once(" strands ")?;
        let bytes = rest.rsplit_once('(')?.1.strip_suffix(" bytes)")?;
        Some((strands.rsplit(' ').next()?.parse().ok()?, bytes.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_strands_is_read() {
        let talk = "\nwrote 12 strands to a (b)/x.strands (3456 bytes)\nparallelism 2".to_owned();
        let ended = Ended { cpu: 0.0, output: String::new(), talk, report: serde_json::Value::Null };
        assert_eq!(strands_and_bytes(&ended), Some((12.0, 3456.0)));
    }
}
