//! Parallelism over time: how many contexts run work tasks, in equal intervals of the run.
//!
//! A context that waits in a join, at a barrier or for a lock runs no work task. Threads that wait for a processor count as
//! running: the graph knows what the program lets run at the same time.

use crate::graph::{Graph, Type};

/// An interval of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Ticks when it begins.
    pub start: u64,
    /// Mean number of contexts that ran work tasks.
    pub parallelism: f64,
}

/// Divides the run into intervals.
pub fn observed(graph: &Graph, intervals: usize) -> Vec<Interval> {
    let work = || graph.tasks.iter().filter(|task| task.kind == Type::Work && task.end > task.start);
    let (first, last) = work().fold((u64::MAX, 0), |(first, last), task| (first.min(task.start), last.max(task.end)));
    let count = intervals.max(1) as u64;
    if first >= last {
        return Vec::new();
    }
    let width = (last - first).div_ceil(count);
    let mut ticks = vec![0_u64; intervals.max(1)];
    for task in work() {
        let (from, to) = (task.start - first, task.end - first);
        for (number, ticks) in (0..).zip(&mut ticks).skip(usize::try_from(from / width).unwrap_or(0)) {
            let start: u64 = number * width;
            if start >= to {
                break;
            }
            *ticks += to.min(start + width).saturating_sub(from.max(start));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a mean that is shown")]
    let mean = |ticks: u64| ticks as f64 / width as f64;
    (0..)
        .zip(ticks)
        .map(|(number, ticks)| Interval { start: first + number * width, parallelism: mean(ticks) })
        .collect()
}
