//! Parallelism of code (Contech, Fig. 7 and 8): with how many contexts that run besides each basic block is executed.
//!
//! A work task has the mean number of contexts that run work tasks while it does; its blocks have that of the task. The
//! times are those of the run.

use std::collections::{BTreeMap, HashMap};

use workspan_trace::program::flag;

use crate::events::{Access, Control};
use crate::graph::{Graph, Task, Type};
use crate::now::Now;
use crate::replay::{Consumer, Executed};

/// How parallel a block is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Style {
    /// While nothing else runs.
    Serial,
    /// Sometimes so, sometimes otherwise.
    Mixed,
    /// While nobody waits.
    Parallel,
}

impl Style {
    /// As shown.
    pub fn name(self) -> &'static str {
        match self {
            Style::Serial => "serial",
            Style::Mixed => "mixed",
            Style::Parallel => "parallel",
        }
    }
}

/// Runs of a block by the number of contexts that run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Runs with 1, 2, … contexts running.
    pub runs: BTreeMap<u32, u64>,
}

impl Block {
    /// Runs in all.
    pub fn count(&self) -> u64 {
        self.runs.values().sum()
    }

    /// Mean number of contexts.
    #[expect(clippy::cast_precision_loss, reason = "a mean that is shown")]
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.runs.iter().map(|(contexts, runs)| u64::from(*contexts) * runs).sum();
        sum as f64 / self.count().max(1) as f64
    }

    /// Its style in a run whose most contexts are `most`: nine of ten runs decide.
    pub fn style(&self, most: u32) -> Style {
        let of = |wanted: &dyn Fn(u32) -> bool| {
            self.runs.iter().filter(|(contexts, _)| wanted(**contexts)).map(|(_, runs)| runs).sum::<u64>()
        };
        let nearly_all = self.count() - self.count() / 10;
        if of(&|contexts| contexts <= 1) >= nearly_all {
            Style::Serial
        } else if of(&|contexts| contexts > 1 && contexts * 4 >= most * 3) >= nearly_all {
            Style::Parallel
        } else {
            Style::Mixed
        }
    }
}

/// Counts blocks of a replayed recording.
#[derive(Debug)]
pub struct Code {
    now: Now,
    /// Contexts that run while a work task does.
    running: HashMap<u32, u32>,
    /// By segment.
    pub blocks: BTreeMap<u32, Block>,
    /// Most contexts that run at a time.
    pub most: u32,
}

impl Code {
    /// Of a graph.
    pub fn new(graph: &Graph) -> Code {
        let is_work = |task: &Task| task.kind == Type::Work && task.end > task.start;
        let work = || (0..).zip(&graph.tasks).filter(|(_, task)| is_work(task));
        let mut changes: Vec<(u64, i64)> = work().flat_map(|(_, task)| [(task.start, 1), (task.end, -1)]).collect();
        changes.sort_unstable();
        // Contexts that run from a time on, and the sum of time by contexts until then.
        let mut steps: Vec<(u64, i64, u128)> = vec![(0, 0, 0)];
        for (time, change) in changes {
            let (last, running, sum) = steps.last().copied().unwrap_or_default();
            let sum = sum + u128::from(time - last) * u128::from(running.unsigned_abs());
            steps.push((time, running + change, sum));
        }
        let until = |time: u64| {
            let at = steps.partition_point(|step| step.0 <= time).saturating_sub(1);
            let (from, running, sum) = steps[at];
            sum + u128::from(time - from) * u128::from(running.unsigned_abs())
        };
        let mut code = Code { now: Now::new(graph), running: HashMap::new(), blocks: BTreeMap::new(), most: 0 };
        for (number, task) in work() {
            let length = u128::from(task.end - task.start);
            let mean = (until(task.end) - until(task.start) + length / 2) / length;
            let mean = u32::try_from(mean).unwrap_or(u32::MAX).max(1);
            code.most = code.most.max(mean);
            code.running.insert(number, mean);
        }
        code
    }
}

impl Consumer for Code {
    fn segment(&mut self, executed: Executed<'_>, _: &[Access]) {
        if executed.segment.flags & flag::BLOCK == 0 {
            return;
        }
        let task = self.now.task(executed.context);
        let mean = task.and_then(|task| self.running.get(&task)).copied().unwrap_or(1);
        *self.blocks.entry(executed.id).or_default().runs.entry(mean).or_default() += 1;
    }

    fn transfer(&mut self, _: Executed<'_>, _: &Access) {}

    fn control(&mut self, context: u32, control: Control) {
        self.now.control(context, &control);
    }
}
