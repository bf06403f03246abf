//! Prediction: how long a run would take on any number of processors (TaskProf 8.2).
//!
//! ```text
//! laws(P)     = max(T_1 / P, span)                  no schedule is shorter
//! burdened(P) = max(T_1 / P, burdened span)         if what can be stolen on a path is stolen; from 2 processors on
//! most(P)     = (work + blocked) / P + span · (1 - 1/P)     no greedy schedule is longer (Brent)
//! speedup     = T_1 as recorded / time
//! efficiency  = speedup / P
//! ```
//!
//! `T_1`, the time on one processor, and the laws are those of [`mod@crate::laws`]. A strand that waits for the outside world
//! holds no processor.

use workspan_model::{Nanos, Ratio};

use crate::laws;
use crate::schedule::{greedy, stealing, Graph, Schedule, Stealing, MOST_PROCESSORS};

/// Of a program that makes good use of its processors.
pub const EFFICIENT: f64 = 0.8;

/// Schedules by work stealing for each number of processors, unless others are requested: the same for every command and the page,
/// so that all have the same median.
pub const SEEDS: u32 = 5;

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
    /// Sum of all strands, with what is requested.
    pub work: Nanos,
    /// Time that strands were blocked.
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
    /// Of a graph whose run takes one processor `recorded`, if a steal costs so much.
    pub fn of(graph: &Graph, recorded: Nanos, steal: Nanos) -> Bounds {
        let span = graph.span();
        Bounds {
            recorded,
            serial: recorded - graph.saved(),
            work: graph.work(),
            blocked: graph.blocked(),
            span,
            burdened_span: graph.burdened_span(steal),
        }
    }

    /// Speedup with as many processors as there may be: parallelism.
    pub fn most_speedup(&self) -> Option<Ratio> {
        laws::parallelism(self.recorded, self.span)
    }

    fn laws(&self) -> laws::Program {
        laws::Program { work: self.work, span: self.span, blocked: self.blocked, on_one: self.serial.max(self.work) }
    }
}

/// Predicts for all numbers of processors, one after the other. One takes the run `recorded`.
pub fn predict(graph: &Graph, recorded: Nanos, options: &Options) -> Prediction {
    let bounds = Bounds::of(graph, recorded, options.steal);
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
    let laws = bounds.laws();
    let work_law = laws::work_law(laws.on_one, processors);
    Point {
        processors,
        work_law,
        laws: laws.shortest(processors),
        burdened: work_law.max(if processors == 1 { bounds.span } else { bounds.burdened_span }),
        brent: laws.brent(processors),
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
        laws::speedup(self.recorded, time)
    }

    /// Predicted speedup over processors.
    pub fn efficiency(&self) -> Option<Ratio> {
        self.speedup(self.typical().time).map(|speedup| Ratio(speedup.0 / f64::from(self.processors)))
    }
}
