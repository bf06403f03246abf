//! Schedules: what a run takes on any number of processors.
//!
//! * [`Graph`]: the strands of a run, and what comes before what; built from rows in one pass.
//! * [`fn@greedy`]: a list scheduler, to which nothing costs anything: what a runtime can hope for.
//! * [`fn@stealing`]: randomised work stealing, as runtimes do it, in which steals cost.
//!
//! Both are simulations by events: no thread, no clock, and for the same input and seed the same result.
//!
//! Definitions: `docs/methods/predict.md`. Sources: TaskProf 8.2; Brent; Blumofe and Leiserson.

mod build;
mod events;
mod fold;
mod grain;
mod graph;
mod greedy;
mod parts;
mod stealing;
mod waiting;
mod workers;

use workspan_model::Nanos;

pub use build::BuildOptions;
pub use grain::Grain;
pub use graph::Graph;
pub use greedy::greedy;
pub(crate) use greedy::greedy_with_waiting;
pub use stealing::{stealing, Policy, Stealing};
pub(crate) use waiting::Charged;

/// Processors that a schedule may have.
pub const MOST_PROCESSORS: u32 = 1024;

/// What a run takes on a number of processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Their number.
    pub processors: u32,
    /// From the begin of the first strand to the end of the last.
    pub time: Nanos,
    /// Time that processors ran strands, or were blocked in them.
    pub busy: Nanos,
    /// Time that they took to steal, and to find that a branch had been stolen.
    pub overhead: Nanos,
    /// Time that they had nothing to do: the rest.
    pub idle: Nanos,
    /// Tasks and branches that another processor ran than the one that created them.
    pub steals: u64,
}

impl Schedule {
    /// Of times in units of the graph.
    fn new(processors: u32, time: i64, busy: i64, overhead: i64, steals: u64) -> Schedule {
        let [time, busy, overhead] = [time, busy, overhead].map(graph::nanos);
        // Each is rounded by itself.
        let idle = (time * i64::from(processors) - busy - overhead).at_least_zero();
        Schedule { processors, time, busy, overhead, idle, steals }
    }
}
