//! Runs to write.

use std::collections::BTreeSet;

use workspan_analysis::replay;
use workspan_analysis::strands::order::{visit, Order, TaskId, Visitor};
use workspan_model::{Clock, Nanos, Recording, Run, Strand};
use workspan_testkit::strands::{random, RandomRun};

pub(crate) const SEEDS: std::ops::Range<u64> = 0..150;

/// One of whose runs snapshots are taken.
pub(crate) const SHOWN: u64 = 39;

/// A recording of one run, and its strands.
pub(crate) struct Sample {
    pub(crate) recording: Recording,
    pub(crate) run: Run,
    pub(crate) rows: Vec<Strand>,
}

impl Sample {
    pub(crate) fn work(&self) -> Nanos {
        self.run.work()
    }
}

pub(crate) fn sample(seed: u64) -> Sample {
    let RandomRun { mut recording, mut rows } = random(seed);
    schedule(&mut rows, 3);
    let replayed = replay(&recording, &rows).unwrap_or_else(|never| match never {});
    let run = replayed.into_run(&Run { clock: Clock::Virtual, workers: 3, ..Run::default() });
    recording.command = vec!["./bin/made-up".to_owned(), "1".to_owned()];
    recording.runs = vec![run.clone()];
    Sample { recording, run, rows }
}

/// What comes after what, by row.
#[derive(Default)]
struct Plan {
    nodes: Vec<(Option<usize>, Vec<usize>)>,
}

impl Visitor for Plan {
    type End = usize;

    fn strand(&mut self, number: u64, _: &Strand, _: TaskId, after: &[(usize, Order)]) -> usize {
        let row = usize::try_from(number).ok();
        self.nodes.push((row, after.iter().map(|(node, _)| *node).collect()));
        self.nodes.len() - 1
    }

    fn barrier(&mut self) -> usize {
        self.nodes.push((None, Vec::new()));
        self.nodes.len() - 1
    }

    fn arrive(&mut self, end: usize, barrier: usize) {
        self.nodes[barrier].1.push(end);
    }
}

/// Lets `threads` threads run whatever is ready, first come first served.
fn schedule(rows: &mut [Strand], threads: usize) {
    let mut plan = Plan::default();
    visit(rows, &mut plan).unwrap_or_else(|never| match never {});
    let mut waits: Vec<usize> = plan.nodes.iter().map(|(_, before)| before.len()).collect();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); waits.len()];
    for (node, (_, before)) in plan.nodes.iter().enumerate() {
        before.iter().for_each(|before| next[*before].push(node));
    }
    // By when they are ready.
    let mut ready: BTreeSet<(i64, usize)> =
        (0..waits.len()).filter(|node| waits[*node] == 0).map(|node| (0, node)).collect();
    let mut free = vec![0i64; threads];
    let mut since = vec![0i64; waits.len()];
    while let Some((at, node)) = ready.pop_first() {
        let thread = (0..threads).min_by_key(|thread| (free[*thread].max(at), *thread)).expect("a thread");
        let mut end = at;
        if let Some(row) = plan.nodes[node].0.map(|row| &mut rows[row]) {
            let begin = at.max(free[thread]);
            row.start = Nanos(begin);
            row.thread = u16::try_from(thread).expect("few");
            end = begin + (row.cost + row.blocked).0;
            free[thread] = end.max(free[thread]);
        }
        for after in &next[node] {
            since[*after] = end.max(since[*after]);
            waits[*after] -= 1;
            if waits[*after] == 0 {
                ready.insert((since[*after], *after));
            }
        }
    }
}

/// What a writer writes.
pub(crate) fn written(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("UTF-8")
}

/// For snapshots without a module's name.
pub(crate) fn check_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
