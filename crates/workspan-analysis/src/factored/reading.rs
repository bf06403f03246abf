//! What the curves say: which gap is largest (Acar et al. 2.4), and which curve bends (2.5).
//!
//! Words are left to the report; here they are values. Nothing is said that the errors of the curves do not allow.

use workspan_model::Nanos;

use super::{causes, Causes, Factors, Gap, Quotient};

/// A curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Curve {
    /// P·T_s / T_elision.
    Elision,
    /// P·T_s / T_1.
    Maximal,
    /// P·T_s / (T_1 + I_P).
    IdleSpecific,
    /// P·T_s / (P·T_P − I_P).
    InflationSpecific,
    /// T_s / T_P.
    Actual,
}

impl Curve {
    /// All of them, from the top.
    pub const ALL: [Curve; 5] =
        [Curve::Elision, Curve::Maximal, Curve::IdleSpecific, Curve::InflationSpecific, Curve::Actual];

    /// Its value at one P.
    pub fn at(self, factors: &Factors) -> Option<Quotient> {
        let speedups = &factors.speedups;
        match self {
            Curve::Elision => speedups.elision,
            Curve::Maximal => speedups.maximal,
            Curve::IdleSpecific => speedups.idle_specific,
            Curve::InflationSpecific => speedups.inflation_specific,
            Curve::Actual => speedups.actual,
        }
    }
}

/// How a curve ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bend {
    /// As it began.
    Straight,
    /// It rises less than it did.
    Bends,
    /// More workers give next to nothing.
    Flattens,
    /// More workers make it worse.
    Falls,
}

/// A curve and how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Which.
    pub curve: Curve,
    /// How.
    pub bend: Bend,
    /// Between which P that shows.
    pub between: (u32, u32),
}

/// A part of the gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// More work than the baseline's, the cost of tasks excluded where it is known.
    Algorithmic,
    /// The cost of tasks.
    TaskOverhead,
    /// Workers that wait for work.
    Idle,
    /// Workers had work but no processor.
    NoProcessor,
    /// The same work takes longer on several workers.
    Inflation,
}

/// What the curves say.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The largest P, of which the causes are.
    pub workers: u32,
    /// The gap there.
    pub causes: Causes,
    /// Its parts that matter, the largest first.
    pub largest: Vec<(Cause, Nanos)>,
    /// How the curves end; none of a single P.
    pub shapes: Vec<Shape>,
}

/// A cause below this share of the time that the workers have is not worth a word.
const MATTERS: f64 = 0.03;
/// A curve has bent where it rises by less than this share of how it began,
const BENT: f64 = 0.8;
/// and is flat below this.
const FLAT: f64 = 0.2;

/// What a profile reports beyond the times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profiled {
    /// What the creation of tasks costs with one worker: S_1, for want of an elision.
    pub task_overhead: Nanos,
    /// The span with the largest P.
    pub span: Nanos,
}

/// Reads the curves; `None` without any.
pub fn read(factors: &[Factors], profiled: Option<Profiled>) -> Option<Reading> {
    let last = factors.last()?;
    let task_overhead = match &last.elision {
        Some(elision) => last.one_worker.mean - elision.mean,
        None => profiled.map_or(Nanos::ZERO, |profiled| profiled.task_overhead),
    };
    // The program's own time with one worker has the cost of tasks in it.
    let in_baseline = if last.own_baseline { task_overhead } else { Nanos::ZERO };
    let gap = Gap {
        workers: last.workers,
        baseline: last.baseline.mean - in_baseline,
        one_worker: last.one_worker.mean,
        task_overhead,
        time: last.time.mean,
        idle: last.idle.mean,
        span: profiled.map(|profiled| profiled.span),
        off: last.off,
    };
    let causes = causes(&gap);
    let available = last.time.mean * i64::from(last.workers);
    let mut largest = vec![
        (Cause::Algorithmic, causes.algorithmic),
        (Cause::TaskOverhead, causes.task_overhead),
        (Cause::Idle, causes.idle()),
        (Cause::NoProcessor, causes.no_processor),
        (Cause::Inflation, causes.inflation),
    ];
    largest.retain(|(_, time)| time.over(available).is_some_and(|share| share.0 >= MATTERS));
    largest.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let shapes = Curve::ALL.iter().filter_map(|curve| shape(*curve, factors)).collect();
    Some(Reading { workers: last.workers, causes, largest, shapes })
}

/// How a curve ends, against how it began.
fn shape(curve: Curve, factors: &[Factors]) -> Option<Shape> {
    let [.., before, last] = factors else {
        return None;
    };
    let first = factors.first()?;
    let [start, from, to] = [curve.at(first)?, curve.at(before)?, curve.at(last)?];
    // Every curve begins at no workers and no speedup.
    let begun = start.value.0 / f64::from(first.workers);
    let steps = f64::from(last.workers.saturating_sub(before.workers).max(1));
    let rise = to.value.0 - from.value.0;
    // What the errors allow it to be at best.
    let margin = from.margin().hypot(to.margin());
    let best = (rise + margin) / steps;
    let bend = if rise + margin < 0.0 {
        Bend::Falls
    } else if best < FLAT * begun {
        Bend::Flattens
    } else if best < BENT * begun {
        Bend::Bends
    } else {
        Bend::Straight
    };
    Some(Shape { curve, bend, between: (before.workers, last.workers) })
}
