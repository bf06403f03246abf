//! Random programs of tasks, and how long they take on infinitely many processors.

use workspan_testkit::random::Random;

/// What a task does, step by step.
#[derive(Clone, Debug)]
pub(crate) struct Node(pub(crate) Vec<Step>);

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// It takes this many ticks.
    Work(u64),
    /// It creates a task; chained: which comes after the one that was chained before.
    Create { body: Node, chained: bool },
    /// It waits for the tasks that it has created.
    Wait,
}

/// A program with about `tasks` tasks.
pub(crate) fn generate(seed: u64, tasks: u64) -> Node {
    node(&mut Random::new(seed), &mut tasks.clone(), 4)
}

fn node(random: &mut Random, left: &mut u64, depth: u32) -> Node {
    let steps = 1 + random.below(6);
    let mut found = vec![Step::Work(random.below(90))];
    for _ in 0..steps {
        match random.below(4) {
            0 => found.push(Step::Work(random.below(200))),
            1 => found.push(Step::Wait),
            _ if *left > 0 && depth > 0 => {
                *left -= 1;
                let body = node(random, left, depth - 1);
                found.push(Step::Create { body, chained: random.once_in(3) });
            }
            _ => {}
        }
    }
    Node(found)
}

/// When a task that begins at `start` has ended, and when all has that it created.
pub(crate) fn ends(node: &Node, start: u64) -> (u64, u64) {
    let (mut at, mut children, mut chain, mut latest) = (start, 0, 0, 0);
    for step in &node.0 {
        match step {
            Step::Work(ticks) => at += ticks,
            Step::Create { body, chained } => {
                let begin = if *chained { at.max(chain) } else { at };
                let (end, below) = ends(body, begin);
                children = children.max(end);
                latest = latest.max(below);
                if *chained {
                    chain = end;
                }
            }
            Step::Wait => at = at.max(children),
        }
    }
    (at, latest.max(at))
}

/// Work of the whole program.
pub(crate) fn work(node: &Node) -> u64 {
    let of = |step: &Step| match step {
        Step::Work(ticks) => *ticks,
        Step::Create { body, .. } => work(body),
        Step::Wait => 0,
    };
    node.0.iter().map(of).sum()
}
