//! What a schedule amounts to.

use workspan_model::Nanos;

use super::graph;

/// What a run takes on a number of processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Their number.
    pub processors: u32,
    /// From the begin of the first strand to the end of the last.
    pub time: Nanos,
    /// Time that processors ran strands.
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
    pub(super) fn new(processors: u32, time: i64, busy: i64, overhead: i64, steals: u64) -> Schedule {
        let [time, busy, overhead] = [time, busy, overhead].map(graph::nanos);
        // Each is rounded by itself.
        let idle = (time * i64::from(processors) - busy - overhead).at_least_zero();
        Schedule { processors, time, busy, overhead, idle, steals }
    }
}
