//! What the strands of each task amount to.

use workspan_model::{Nanos, Strand};

use crate::tasks::Tasks;

/// A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskTotals {
    /// Its number, in serial order; the root is 0.
    pub task: i64,
    /// The number of its first strand.
    pub first_strand: i64,
    /// How many it has.
    pub strands: i64,
    /// What they cost.
    pub work: Nanos,
    /// Time that they were blocked.
    pub blocked: Nanos,
    /// When the first began.
    pub start: Nanos,
    /// When the last ended.
    pub end: Nanos,
    /// The least number of a thread that ran one of them.
    pub thread: u16,
    /// True if several threads did.
    pub moved: bool,
}

/// Adds up the strands of tasks, as they come in serial order. A task is reported when it has ended.
///
/// **Memory:** for the tasks that are open; bounded by the depth of the tree, however many there are.
#[derive(Debug, Default)]
pub struct Totals {
    tasks: Tasks,
    /// Innermost last, as long as rows are well nested.
    open: Vec<TaskTotals>,
    strands: i64,
}

impl Totals {
    /// The next strands of a run; `each` receives the tasks that end with them.
    pub fn feed(&mut self, strands: &[Strand], mut each: impl FnMut(&TaskTotals)) {
        for strand in strands {
            let task = self.tasks.step(&strand.event);
            self.add(task, strand);
            self.strands += 1;
            if self.tasks.has_ended() {
                self.open.pop().iter().for_each(&mut each);
            }
        }
    }

    /// No more strands: `each` receives the tasks that have not ended.
    pub fn finish(self, each: impl FnMut(&TaskTotals)) {
        self.open.iter().for_each(each);
    }

    /// Adds a strand to its task, which is then the last one.
    fn add(&mut self, task: i64, strand: &Strand) {
        let Strand { event: _, context: _, cost, blocked, start, thread } = *strand;
        let end = Nanos(start.0.saturating_add(cost.0).saturating_add(blocked.0));
        if self.open.last().is_none_or(|open| open.task != task) {
            if let Some(at) = self.open.iter().rposition(|open| open.task == task) {
                let last = self.open.len() - 1;
                self.open.swap(at, last);
            } else {
                let (work, first_strand, strands) = (Nanos::ZERO, self.strands, 0);
                let new = TaskTotals {
                    task,
                    first_strand,
                    strands,
                    work,
                    blocked: Nanos::ZERO,
                    start,
                    end,
                    thread,
                    moved: false,
                };
                self.open.push(new);
            }
        }
        let Some(open) = self.open.last_mut() else {
            return;
        };
        open.strands += 1;
        open.work = Nanos(open.work.0.saturating_add(cost.0));
        open.blocked = Nanos(open.blocked.0.saturating_add(blocked.0));
        open.start = open.start.min(start);
        open.end = open.end.max(end);
        open.moved |= open.thread != thread;
        open.thread = open.thread.min(thread);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use workspan_model::Event;
    use workspan_testkit::random::Random;
    use workspan_testkit::strands::random;

    /// Each task is reported once, with the sums of its strands; no more of them are open than `open`.
    fn check(rows: &[Strand], open: usize) {
        let mut expected: BTreeMap<i64, (i64, i64, Nanos, bool)> = BTreeMap::new();
        let (mut tasks, mut threads) = (Tasks::default(), BTreeMap::new());
        for (number, row) in (0..).zip(rows) {
            let task = tasks.step(&row.event);
            let sums = expected.entry(task).or_insert((number, 0, Nanos::ZERO, false));
            let first = *threads.entry(task).or_insert(row.thread);
            *sums = (sums.0, sums.1 + 1, sums.2 + row.cost, sums.3 || row.thread != first);
        }
        let mut found = BTreeMap::new();
        let mut each = |task: &TaskTotals| {
            let sums = (task.first_strand, task.strands, task.work, task.moved);
            assert_eq!(found.insert(task.task, sums), None, "{task:?} is reported twice");
        };
        let mut totals = Totals::default();
        for rows in rows.chunks(7) {
            totals.feed(rows, &mut each);
            assert!(totals.open.len() <= open, "{} are open", totals.open.len());
        }
        totals.finish(&mut each);
        assert_eq!(found, expected);
    }

    #[test]
    fn each_task_is_told_once() {
        for seed in 0..500 {
            let rows = random(seed).rows;
            check(&rows, rows.len());
            // And so it is of rows that do not fit together.
            let mut random = Random::new(seed);
            let mut broken = rows;
            broken.retain(|_| !random.once_in(5));
            check(&broken, broken.len());
        }
    }

    #[test]
    fn tasks_that_have_ended_are_not_kept() {
        let row = Strand {
            event: Event::Fork(1),
            context: workspan_model::ContextId::ROOT,
            cost: Nanos(1),
            blocked: Nanos::ZERO,
            start: Nanos::ZERO,
            thread: 0,
        };
        let branches = std::iter::repeat_n(Event::Next(1), 1000);
        let loops = [Event::Fork(1)].into_iter().chain(branches).chain([Event::Join, Event::End]);
        let rows: Vec<Strand> = loops.map(|event| Strand { event, ..row }).collect();
        check(&rows, 2);
        let members = std::iter::repeat_n(Event::End, 1000);
        let team = [Event::Team(1000)].into_iter().chain(members).chain([Event::TeamEnd, Event::End]);
        let rows: Vec<Strand> = team.map(|event| Strand { event, ..row }).collect();
        check(&rows, 2);
    }
}
