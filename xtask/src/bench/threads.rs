//! Programs on threads: what profiling costs.

use super::child::Call;
use super::figure::{Figure, Target};
use super::openmp::{difference, keep};
use super::pairs::{cpu, Pairs};
use super::{build, table, Options};

const GROUP: &str = "threads";

/// Times that a lock is taken and given back which nobody else wants.
const LOCKS: u32 = 20_000_000;
/// CPU time of these, profiled over native, at most.
const LOCK_RATIO: f64 = 2.5;
/// Nanoseconds more for taking or for giving back, at most.
const LOCK_NANOS: f64 = 25.0;
/// Threads that are created and joined one after the other.
const CREATED: u32 = 20_000;

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if options.wants(GROUP, "threads-lock") {
        table::group("Threads: a lock that nobody else wants, profiled over native");
        let pairs = run("threads-lock", "lock", LOCKS, options)?;
        if let Some(figure) = pairs.ratio("CPU time", cpu, cpu, Some(Target::AtMost(LOCK_RATIO))) {
            keep(&mut figures, figure);
        }
        let (scale, target) = (1e9 / f64::from(2 * LOCKS), Some(Target::AtMost(LOCK_NANOS)));
        keep(&mut figures, difference(GROUP, "threads-lock", 2, "ns more per event", &pairs, scale, target));
    }
    if options.wants(GROUP, "threads-create") {
        table::group("Threads: created and joined one after the other, profiled over native");
        let pairs = run("threads-create", "create", CREATED, options)?;
        if let Some(figure) = pairs.ratio("CPU time", cpu, cpu, None) {
            keep(&mut figures, figure);
        }
        let scale = 1e6 / f64::from(CREATED);
        keep(&mut figures, difference(GROUP, "threads-create", 2, "µs more per thread", &pairs, scale, None));
    }
    Ok(figures)
}

fn run(case: &str, name: &str, count: u32, options: &Options) -> anyhow::Result<Pairs> {
    let program = build::compiled("clang-19", "threads", "bench", "c", &["-pthread"])?;
    let call = Call { program, arguments: vec![name.to_owned(), count.to_string()], workers: 2, folder: build::root() };
    Pairs::run(GROUP, case, &call, options.runs)
}
