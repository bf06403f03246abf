//! Factored speedup: what of a parallel run is algorithmic overhead, idle time and work inflation (Acar et al. 2).
//!
//! | measured | is |
//! |---|---|
//! | T_s | time of the sequential baseline |
//! | T_1 | time of the program with one worker; of its own for each P where the work depends on P |
//! | T_P, I_P | time with P workers, and time that they wait for work meanwhile |
//!
//! From these follow W_P = P·T_P − I_P and F_P = W_P − T_1 (facts 2.1 to 2.3), and the speedups of 2.3 and 2.8. With
//! several runs all are of expected values, never means of quotients (2.7).
//!
//! **Invariant:** means are whole nanoseconds and W_P, F_P differences of them, so the facts hold exactly.

mod causes;
mod estimate;
mod places;
mod reading;

pub use causes::{causes, Causes, Gap};
pub use estimate::{Estimate, Quotient};
pub use places::{places, Places, RegionFactors, SiteFactors};
pub use reading::{read, Bend, Cause, Curve, Profiled, Reading, Shape};

use workspan_model::Nanos;

/// One run with P workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// From start to end.
    pub time: Nanos,
    /// What its workers waited for work meanwhile, all together.
    pub idle: Nanos,
    /// What they had work for, but no processor, at least: blocked, or others were at work there.
    pub off: Nanos,
}

/// What was measured with P workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// P.
    pub workers: u32,
    /// The runs.
    pub runs: Vec<Sample>,
    /// Times with one worker, of the same work.
    pub one_worker: Vec<Nanos>,
    /// Of these, time without a processor.
    pub one_worker_off: Vec<Nanos>,
}

/// All that was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Times of the sequential baseline; none: the program itself with one worker is its own.
    pub baseline: Vec<Nanos>,
    /// Times of the program without its parallel constructs; none if there is no such program.
    pub elision: Vec<Nanos>,
    /// By P.
    pub points: Vec<Point>,
}

/// What runs with P workers amount to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// P.
    pub workers: u32,
    /// T_s.
    pub baseline: Estimate,
    /// True if that is T_1 of the smallest P, for want of a baseline.
    pub own_baseline: bool,
    /// T_elision.
    pub elision: Option<Estimate>,
    /// T_1, of the same work.
    pub one_worker: Estimate,
    /// T_P.
    pub time: Estimate,
    /// I_P.
    pub idle: Estimate,
    /// W_P = P·T_P − I_P; its spread is over W_P(R) of the runs.
    pub work: Estimate,
    /// F_P = W_P − T_1.
    pub inflation: Nanos,
    /// Of F_P: what the workers had no processor for, less that of the runs with one worker.
    pub off: Nanos,
    /// The curves.
    pub speedups: Speedups,
}

/// The speedups over the baseline, each an upper bound of the ones after it that it is above of; `None` where a time is
/// not above zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speedups {
    /// P.
    pub linear: f64,
    /// P·T_s / T_elision: what is lost by the code, without the cost of tasks.
    pub elision: Option<Quotient>,
    /// P·T_s / T_1: with neither idle time nor inflation.
    pub maximal: Option<Quotient>,
    /// P·T_s / (T_1 + I_P): without inflation.
    pub idle_specific: Option<Quotient>,
    /// P·T_s / (P·T_P − I_P): without idle time.
    pub inflation_specific: Option<Quotient>,
    /// T_s / T_P.
    pub actual: Option<Quotient>,
}

/// Factors for each P of which there are runs, with P and with one worker; by rising P.
pub fn factors(measured: &Measured) -> Vec<Factors> {
    let elision = (!measured.elision.is_empty()).then(|| Estimate::of(measured.elision.iter().copied()));
    let complete = |point: &&Point| point.workers > 0 && !point.runs.is_empty() && !point.one_worker.is_empty();
    let mut points: Vec<&Point> = measured.points.iter().filter(complete).collect();
    points.sort_by_key(|point| point.workers);
    let own_baseline = measured.baseline.is_empty();
    let times = if own_baseline { points.first().map(|point| &point.one_worker) } else { Some(&measured.baseline) };
    let baseline = Estimate::of(times.into_iter().flatten().copied());
    let of = |point: &&Point| Factors { own_baseline, ..of_point(baseline, elision, point) };
    points.iter().map(of).collect()
}

fn of_point(baseline: Estimate, elision: Option<Estimate>, point: &Point) -> Factors {
    let workers = point.workers;
    let one_worker = Estimate::of(point.one_worker.iter().copied());
    let time = Estimate::of(point.runs.iter().map(|run| run.time));
    let idle = Estimate::of(point.runs.iter().map(|run| run.idle));
    let available = |time: Nanos| time * i64::from(workers);
    let mut work = Estimate::of(point.runs.iter().map(|run| available(run.time) - run.idle));
    // The mean of W_P(R) but for rounding; so that fact 2.1 holds of the means to the nanosecond.
    work.mean = available(time.mean) - idle.mean;
    let p = f64::from(workers);
    // The runs with one worker and with P are others, so their errors are independent.
    let with_idle = Estimate {
        mean: one_worker.mean + idle.mean,
        low: one_worker.low + idle.low,
        high: one_worker.high + idle.high,
        deviation: root_of_squares(one_worker.deviation, idle.deviation),
        runs: one_worker.runs.min(idle.runs),
    };
    Factors {
        workers,
        baseline,
        own_baseline: false,
        elision,
        one_worker,
        time,
        idle,
        work,
        inflation: work.mean - one_worker.mean,
        off: Estimate::of(point.runs.iter().map(|run| run.off)).mean
            - Estimate::of(point.one_worker_off.iter().copied()).mean,
        speedups: Speedups {
            linear: p,
            elision: elision.and_then(|elision| Quotient::of(p, &baseline, &elision)),
            maximal: Quotient::of(p, &baseline, &one_worker),
            idle_specific: Quotient::of(p, &baseline, &with_idle),
            inflation_specific: Quotient::of(p, &baseline, &work),
            actual: Quotient::of(1.0, &baseline, &time),
        },
    }
}

#[expect(clippy::cast_possible_truncation, reason = "no more than the sum of the two; saturates")]
fn root_of_squares(a: Nanos, b: Nanos) -> Nanos {
    Nanos(a.as_f64().hypot(b.as_f64()).round() as i64)
}
