//! Which work task each context executes, in a replay: by the times of its control events.

use std::collections::HashMap;

use workspan_trace::control::Kind;

use crate::events::Control;
use crate::graph::{Graph, Type};

/// The work tasks that run.
#[derive(Debug, Default)]
pub struct Now {
    /// Work tasks of each context: when they began, by time.
    tasks: HashMap<u32, Vec<(u64, u32)>>,
    times: HashMap<u32, u64>,
}

impl Now {
    /// Before the first event of a graph's recording.
    pub fn new(graph: &Graph) -> Now {
        let mut tasks: HashMap<u32, Vec<(u64, u32)>> = HashMap::new();
        for (number, task) in (0..).zip(&graph.tasks).filter(|(_, task)| task.kind == Type::Work) {
            tasks.entry(task.context).or_default().push((task.start, number));
        }
        tasks.values_mut().for_each(|tasks| tasks.sort_unstable());
        Now { tasks, times: HashMap::new() }
    }

    /// Takes a control event. True if the context may execute another task from here on.
    pub fn control(&mut self, context: u32, control: &Control) -> bool {
        let time = match control.kind {
            Kind::Begin => control.slots[0],
            Kind::Create | Kind::Task | Kind::Spawn | Kind::Join | Kind::Gather | Kind::Wait => control.slots[1],
            Kind::Sync | Kind::Message | Kind::Collective => control.slots[1],
            Kind::Barrier => control.slots[0].max(control.slots[1]),
            _ => return false,
        };
        let now = self.times.entry(context).or_default();
        *now = (*now).max(time);
        true
    }

    /// The work task of a context.
    pub fn task(&self, context: u32) -> Option<u32> {
        let now = self.times.get(&context).copied().unwrap_or(0);
        let tasks = self.tasks.get(&context)?;
        let begun = tasks.partition_point(|task| task.0 <= now);
        tasks.get(begun.saturating_sub(1)).map(|task| task.1)
    }
}
