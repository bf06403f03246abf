//! What profiling costs: CPU time, memory, and how much of the cost is left in the measured work.

use anyhow::Context;

use super::child::Call;
use super::figure::{Figure, Target};
use super::pairs::{cpu, peak, work, Pairs};
use super::{build, table, Options};

/// A load of `programs/bench`.
struct Load {
    name: &'static str,
    /// So often that a native run takes a third of a second or more.
    repeat: u32,
    /// CPU time, profiled over native, at most.
    cpu: f64,
    /// Measured work over native CPU time, at most.
    work: Option<f64>,
}

const LOADS: &[Load] = &[
    Load { name: "fib", repeat: 2, cpu: 2.6, work: Some(1.25) },
    Load { name: "fib-cutoff", repeat: 12, cpu: 1.03, work: None },
    Load { name: "sum", repeat: 150, cpu: 1.03, work: None },
    Load { name: "sort", repeat: 1, cpu: 1.03, work: None },
    Load { name: "sort-unstable", repeat: 2, cpu: 1.03, work: None },
    Load { name: "chunks", repeat: 60, cpu: 1.03, work: None },
    Load { name: "tasks-iter", repeat: 10, cpu: 1.5, work: None },
    Load { name: "tasks-spawn", repeat: 5, cpu: 1.5, work: None },
];

/// Largest resident set, profiled over native, at most.
pub(super) const MEMORY: f64 = 1.1;

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let loads: Vec<&Load> = LOADS.iter().filter(|load| options.wants("overhead", load.name)).collect();
    if loads.is_empty() {
        return Ok(figures);
    }
    table::group("Overhead: profiled over native");
    for load in loads {
        for workers in [1, 2] {
            let pairs = Pairs::run("overhead", load.name, &call(load.name, workers)?, options.runs)?;
            // Idle workers of a second thread search for work natively too, so native work is known with one only.
            let work_limit = load.work.filter(|_| workers == 1).map(Target::AtMost);
            let rows = [
                pairs.ratio("CPU time", cpu, cpu, Some(Target::AtMost(load.cpu))),
                pairs.ratio("memory", peak, peak, Some(Target::AtMost(MEMORY))),
                pairs.ratio("work over native CPU time", cpu, work, work_limit),
            ];
            for figure in rows.into_iter().flatten() {
                table::row(&figure);
                figures.push(figure);
            }
        }
    }
    Ok(figures)
}

/// How a load of `programs/bench` is called by name.
pub(super) fn call(name: &str, workers: u32) -> anyhow::Result<Call> {
    let load = LOADS.iter().find(|load| load.name == name).with_context(|| format!("there is no load `{name}`"))?;
    let arguments = vec![load.name.to_owned(), load.repeat.to_string()];
    Ok(Call { program: build::program("bench")?, arguments, workers, folder: build::root() })
}
