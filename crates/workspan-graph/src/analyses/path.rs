//! Work, span and critical path of a graph, in the time of this run.
//!
//! Work tasks cost the time that they took, the others nothing: who waits, in a receive, a barrier or a lock, does no work.
//! The span is the costliest chain of tasks. **Bias:** time is that of the instrumented run, and of a thread that waits for a
//! processor, too; a rank that polls works.

use std::collections::BTreeMap;

use crate::graph::{Graph, Task, Type};

/// Cost of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Ticks of all work tasks.
    pub work: u64,
    /// Ticks of the costliest chain.
    pub span: u64,
    /// Tasks of that chain, in order.
    pub tasks: Vec<u32>,
    /// Ticks of the chain by context.
    pub by_context: BTreeMap<u32, u64>,
}

/// What a task costs: nothing unless it does work.
pub fn cost(task: &Task) -> u64 {
    match task.kind {
        Type::Work => task.end.saturating_sub(task.start),
        _ => 0,
    }
}

/// When each task begins if none waits for a processor, and for whom it waits last. Tasks of a cycle, which only a damaged
/// recording has, begin at once.
pub fn earliest(graph: &Graph) -> Vec<(u64, Option<u32>)> {
    let mut starts: Vec<(u64, Option<u32>)> = vec![(0, None); graph.tasks.len()];
    for task in graph.order() {
        let until = starts[task as usize].0.saturating_add(cost(&graph.tasks[task as usize]));
        for next in graph.successors(task) {
            if until > starts[next as usize].0 {
                starts[next as usize] = (until, Some(task));
            }
        }
    }
    starts
}

/// Finds the costliest chain. Of several the one that comes first in the order of traversal.
pub fn critical(graph: &Graph) -> Path {
    let starts = earliest(graph);
    let mut path = Path::default();
    let mut last = None;
    for task in graph.order() {
        let own = cost(&graph.tasks[task as usize]);
        path.work = path.work.saturating_add(own);
        let until = starts[task as usize].0.saturating_add(own);
        if until > path.span || last.is_none() {
            (path.span, last) = (until, Some(task));
        }
    }
    while let Some(number) = last {
        let task = &graph.tasks[number as usize];
        path.tasks.push(number);
        let ticks = path.by_context.entry(task.context).or_default();
        *ticks = ticks.saturating_add(cost(task));
        last = starts[number as usize].1;
    }
    path.tasks.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Tally;

    /// Two contexts of 5 and 3, then 2 after both, and 4 beside it.
    #[test]
    fn the_costliest_chain() {
        let task = |context, kind, start, end| Task {
            context,
            sequence: 0,
            kind,
            operation: None,
            object: 0,
            start,
            end,
            tally: Tally::default(),
            at: (context, 0, 0),
        };
        let tasks = vec![
            task(0, Type::Work, 0, 5),
            task(1, Type::Work, 0, 3),
            task(0, Type::Barrier, 3, 6),
            task(0, Type::Work, 6, 8),
            task(1, Type::Work, 6, 10),
        ];
        let graph = Graph { tasks, edges: vec![(0, 2), (1, 2), (2, 3), (2, 4)], contexts: 2, complete: true };
        let path = critical(&graph);
        assert_eq!((path.work, path.span, path.tasks), (14, 9, vec![0, 2, 4]));
        assert_eq!(path.by_context, BTreeMap::from([(0, 5), (1, 4)]));
    }
}
