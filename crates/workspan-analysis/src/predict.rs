//! Prediction: how long a run would take on any number of processors (TaskProf 8.2).
//!
//! ```text
//! T_1         = work + time blocked                 what one processor takes
//! laws(P)     = max(T_1 / P, span)                  no schedule is shorter
//! burdened(P) = max(T_1 / P, burdened span)         if what can be stolen on a path is stolen; from 2 processors on
//! most(P)     = T_1 / P + span · (1 - 1/P)          no greedy schedule is longer (Brent)
//! speedup     = T_1 as recorded / time
//! efficiency  = speedup / P
//! ```
//!
//! A strand that is blocked holds its processor, as it holds its worker in the runtimes.

use workspan_model::{Nanos, Ratio};

use crate::bounds::{brent, work_law};
use crate::schedule::{greedy, stealing, Graph, Schedule, Stealing, MOST_PROCESSORS};

/// Of a program that makes good use of its processors.
pub const EFFICIENT: f64 = 0.8;

/// What is to be predicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Numbers of processors, 1 to [`MOST_PROCESSORS`].
    pub processors: Vec<u32>,
    /// What a steal costs.
    pub steal: Nanos,
    /// This number of schedules by work stealing, each with other choices.
    pub seeds: u32,
}

/// What holds for any number of processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// `T_1` as recorded.
    pub recorded: Nanos,
    /// `T_1` with what is requested.
    pub serial: Nanos,
    /// Of it, time that strands were blocked.
    pub blocked: Nanos,
    /// The longest path.
    pub span: Nanos,
    /// The same if what can be stolen is stolen.
    pub burdened_span: Nanos,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// For any number of processors.
    pub bounds: Bounds,
    /// For each that was requested, ascending.
    pub points: Vec<Point>,
    /// The largest of them that is used well, as are all below ([`EFFICIENT`]).
    pub scales_to: Option<u32>,
}

/// A number of processors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// The number.
    pub processors: u32,
    /// `T_1 / P`.
    pub work_law: Nanos,
    /// No schedule is shorter.
    pub laws: Nanos,
    /// Hardly any is, if steals cost what they do.
    pub burdened: Nanos,
    /// No greedy schedule is longer.
    pub brent: Nanos,
    /// A greedy one.
    pub greedy: Schedule,
    /// By work stealing, by rising time: as many as seeds.
    pub stealing: Vec<Schedule>,
    /// `T_1` as recorded.
    pub recorded: Nanos,
}

impl Bounds {
    /// Of a graph, if a steal costs so much.
    pub fn of(graph: &Graph, steal: Nanos) -> Bounds {
        Bounds {
            recorded: graph.recorded_time(),
            serial: graph.serial_time(),
            blocked: graph.blocked(),
            span: graph.span(),
            burdened_span: graph.burdened_span(steal),
        }
    }

    /// Speedup with as many processors as there may be.
    pub fn most_speedup(&self) -> Option<Ratio> {
        self.recorded.over(self.span)
    }
}

/// Predicts for all numbers of processors, one after the other.
pub fn predict(graph: &Graph, options: &Options) -> Prediction {
    let bounds = Bounds::of(graph, options.steal);
    let mut numbers = options.processors.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let points = numbers.into_iter().map(|processors| point(graph, &bounds, options, processors)).collect();
    prediction(bounds, points)
}

/// Predicts for one of them: they may be computed on several threads.
pub fn point(graph: &Graph, bounds: &Bounds, options: &Options, processors: u32) -> Point {
    let processors = processors.clamp(1, MOST_PROCESSORS);
    // Of one processor nobody steals: they are all the same.
    let seeds = if processors == 1 { options.seeds.min(1) } else { options.seeds };
    let mut schedules: Vec<Schedule> =
        (0..seeds).map(|seed| stealing(graph, processors, &Stealing::of(options.steal, u64::from(seed)))).collect();
    schedules.sort_by_key(|schedule| schedule.time);
    let work_law = work_law(bounds.serial, processors);
    Point {
        processors,
        work_law,
        laws: work_law.max(bounds.span),
        burdened: work_law.max(if processors == 1 { bounds.span } else { bounds.burdened_span }),
        brent: brent(bounds.serial, bounds.span, processors),
        greedy: greedy(graph, processors),
        stealing: schedules,
        recorded: bounds.recorded,
    }
}

/// All of them together.
pub fn prediction(bounds: Bounds, mut points: Vec<Point>) -> Prediction {
    points.sort_by_key(|point| point.processors);
    let is_efficient = |point: &&Point| point.efficiency().is_some_and(|share| share.0 >= EFFICIENT);
    let scales_to = points.iter().take_while(is_efficient).last().map(|point| point.processors);
    Prediction { bounds, points, scales_to }
}

impl Point {
    /// The schedule that is predicted: the median of those by work stealing; the greedy one if there are none.
    pub fn typical(&self) -> &Schedule {
        self.stealing.get(self.stealing.len().saturating_sub(1) / 2).unwrap_or(&self.greedy)
    }

    /// `T_1` as recorded, over a time.
    pub fn speedup(&self, time: Nanos) -> Option<Ratio> {
        self.recorded.over(time)
    }

    /// Predicted speedup over processors.
    pub fn efficiency(&self) -> Option<Ratio> {
        self.speedup(self.typical().time).map(|speedup| Ratio(speedup.0 / f64::from(self.processors)))
    }
}
