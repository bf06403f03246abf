//! Parallelism over time (Contech, Fig. 6): how many contexts run work tasks, in equal intervals.
//!
//! **Observed:** as the program ran. A context that waits in a join, at a barrier or for a lock runs no work task. Threads that
//! wait for a processor count as running: the graph knows what the program lets run at the same time. **Potential:** as the
//! program could have run, if every task began when the last of its predecessors ended. Both do the same work, in the time of
//! the instrumented run. The potential one ends after the span.

use crate::graph::{Graph, Type};
use crate::path::{cost, earliest};

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
    let work = graph.tasks.iter().filter(|task| task.kind == Type::Work && task.end > task.start);
    divide(work.map(|task| (task.start, task.end)).collect(), intervals)
}

/// Divides the run that no task waits in, but for its predecessors.
pub fn potential(graph: &Graph, intervals: usize) -> Vec<Interval> {
    let begun =
        graph.tasks.iter().zip(earliest(graph)).map(|(task, (start, _))| (start, start.saturating_add(cost(task))));
    divide(begun.filter(|(start, end)| end > start).collect(), intervals)
}

fn divide(work: Vec<(u64, u64)>, intervals: usize) -> Vec<Interval> {
    let (first, last) =
        work.iter().fold((u64::MAX, 0), |(first, last), (start, end)| (first.min(*start), last.max(*end)));
    let count = intervals.max(1) as u64;
    if first >= last {
        return Vec::new();
    }
    let width = (last - first).div_ceil(count);
    let mut ticks = vec![0_u64; intervals.max(1)];
    for (start, end) in work {
        let (from, to) = (start - first, end - first);
        for (number, ticks) in (0..).zip(&mut ticks).skip(usize::try_from(from / width).unwrap_or(0)) {
            let start: u64 = width.saturating_mul(number);
            if start >= to {
                break;
            }
            *ticks = ticks.saturating_add(to.min(start.saturating_add(width)).saturating_sub(from.max(start)));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a mean that is shown")]
    let mean = |ticks: u64| ticks as f64 / width as f64;
    (0..)
        .zip(ticks)
        .map(|(number, ticks)| Interval {
            start: width.saturating_mul(number).saturating_add(first),
            parallelism: mean(ticks),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Tally;
    use crate::task::Task;

    /// Three tasks of 4, one after the other in the run; the second and third need only the first.
    #[test]
    fn what_could_run_at_the_same_time_does_so_potentially() {
        let task = |context, start| Task {
            context,
            sequence: 0,
            kind: Type::Work,
            operation: None,
            object: 0,
            start,
            end: start + 4,
            tally: Tally::default(),
            at: (context, 0, 0),
        };
        let tasks = vec![task(0, 10), task(1, 14), task(2, 18)];
        let graph = Graph { tasks, edges: vec![(0, 1), (0, 2)], contexts: 3, complete: true };
        let shown =
            |intervals: Vec<Interval>| intervals.iter().map(|each| (each.start, each.parallelism)).collect::<Vec<_>>();
        assert_eq!(shown(observed(&graph, 3)), [(10, 1.0), (14, 1.0), (18, 1.0)]);
        assert_eq!(shown(potential(&graph, 2)), [(0, 1.0), (4, 2.0)]);
    }
}
