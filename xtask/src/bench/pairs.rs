//! Pairs of a native and a profiled run. The two of a pair follow one another, in turns, so that what the machine does
//! meanwhile hits both alike.

use super::child::{Call, Ended};
use super::figure::{Figure, Target};
use super::spread::Spread;

/// Pairs of one call.
#[derive(Debug)]
pub(super) struct Pairs {
    group: &'static str,
    case: String,
    workers: u32,
    /// Native, profiled.
    pub(super) runs: Vec<(Ended, Ended)>,
}

impl Pairs {
    /// Runs `count` pairs, after one that warms up files and caches.
    pub(super) fn run(group: &'static str, case: &str, call: &Call, count: u32) -> anyhow::Result<Pairs> {
        Pairs::run_with(group, case, call, &[], count)
    }

    /// The same with further options of `workspan record`.
    pub(super) fn run_with(
        group: &'static str,
        case: &str,
        call: &Call,
        options: &[&str],
        count: u32,
    ) -> anyhow::Result<Pairs> {
        call.native()?;
        call.profiled_with(options)?;
        let mut runs = Vec::new();
        for turn in 0..count {
            runs.push(if turn % 2 == 0 {
                let native = call.native()?;
                (native, call.profiled_with(options)?)
            } else {
                let profiled = call.profiled_with(options)?;
                (call.native()?, profiled)
            });
        }
        Ok(Pairs { group, case: case.to_owned(), workers: call.workers, runs })
    }

    /// The figure of a quantity of the profiled run over one of the native run: medians, with the pairs' spread.
    pub(super) fn ratio(
        &self,
        quantity: &'static str,
        native: impl Fn(&Ended) -> Option<f64>,
        profiled: impl Fn(&Ended) -> Option<f64>,
        target: Option<Target>,
    ) -> Option<Figure> {
        let pairs: Option<Vec<(f64, f64)>> = self.runs.iter().map(|(n, p)| Some((native(n)?, profiled(p)?))).collect();
        let pairs = pairs?;
        let natives = Spread::of(pairs.iter().map(|pair| pair.0));
        let profileds = Spread::of(pairs.iter().map(|pair| pair.1));
        Some(Figure {
            group: self.group,
            case: self.case.clone(),
            workers: self.workers,
            quantity,
            value: profileds.median() / natives.median(),
            spread: Spread::of(pairs.iter().map(|(native, profiled)| profiled / native)),
            target,
            behind: vec![("native", natives), ("profiled", profileds)],
            remark: String::new(),
        })
    }
}

/// CPU time.
#[expect(clippy::unnecessary_wraps, reason = "the form that `Pairs::ratio` takes")]
pub(super) fn cpu(ended: &Ended) -> Option<f64> {
    Some(ended.cpu)
}

/// Work as the report has it, in seconds.
pub(super) fn work(ended: &Ended) -> Option<f64> {
    Some(ended.report["program"]["work_ns"].as_f64()? / 1e9)
}

/// The largest resident set, which the programs of `programs/bench` print, in MiB.
pub(super) fn peak(ended: &Ended) -> Option<f64> {
    let line = ended.output.lines().find_map(|line| line.strip_prefix("peak_kib "))?;
    Some(line.parse::<f64>().ok()? / 1024.0)
}
