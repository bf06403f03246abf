//! The critical path by row, and the order of strands, against the graph of all strands.

use workspan_analysis::replay;
use workspan_analysis::strands::critical_path;
use workspan_analysis::strands::order::{visit, Order, TaskId, Visitor};
use workspan_model::{Event, Nanos, Strand};
use workspan_testkit::random::Random;
use workspan_testkit::strands::{evaluate, random_with_waits};

const RUNS: u64 = 1500;

#[test]
fn the_critical_path_is_that_of_the_graph() {
    for seed in 0..RUNS {
        let run = random_with_waits(seed);
        let expected = evaluate(&run.recording, &run.rows);
        let found = critical_path(&run.recording, &run.rows).unwrap_or_else(|never| match never {});
        let takes_time = |row: &usize| run.rows[*row].cost + run.rows[*row].blocked != Nanos::ZERO;
        let mut path: Vec<usize> = expected.path.iter().copied().filter(takes_time).collect();
        path.sort_unstable();
        let rows: Vec<usize> = found.rows().iter().map(|row| *row as usize).collect();
        assert_eq!((found.span.0, &rows), (expected.span, &path), "seed {seed}");
        let all: Nanos = rows.iter().map(|row| run.rows[*row].cost + run.rows[*row].blocked).sum();
        assert_eq!(all, found.span, "seed {seed}");
        assert!((0..run.rows.len()).all(|row| found.contains(row as u64) == rows.contains(&row)), "seed {seed}");
    }
}

/// Strands and barriers, each with what it comes after.
#[derive(Default)]
struct Graph {
    cost: Vec<i64>,
    before: Vec<Vec<(usize, Order)>>,
    tasks: Vec<TaskId>,
    created: usize,
}

impl Visitor for Graph {
    type End = usize;

    fn strand(&mut self, _: u64, row: &Strand, task: TaskId, after: &[(usize, Order)]) -> usize {
        self.created += after.iter().filter(|(_, order)| *order == Order::Spawn).count();
        self.cost.push((row.cost + row.blocked).0);
        self.before.push(after.to_vec());
        self.tasks.push(task);
        self.cost.len() - 1
    }

    fn barrier(&mut self) -> usize {
        self.cost.push(0);
        self.before.push(Vec::new());
        self.tasks.push(TaskId(u32::MAX));
        self.cost.len() - 1
    }

    fn arrive(&mut self, end: usize, barrier: usize) {
        self.before[barrier].push((end, Order::Join));
    }
}

impl Graph {
    fn of(rows: &[Strand]) -> Graph {
        let mut graph = Graph::default();
        visit(rows, &mut graph).unwrap_or_else(|never| match never {});
        graph
    }

    /// The longest path; `None` if there is a circle.
    fn longest(&self) -> Option<i64> {
        let mut waits: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); waits.len()];
        for (node, before) in self.before.iter().enumerate() {
            before.iter().for_each(|(before, _)| next[*before].push(node));
        }
        let mut begin = vec![0; waits.len()];
        let mut ready: Vec<usize> = (0..waits.len()).filter(|node| waits[*node] == 0).collect();
        let (mut done, mut longest) = (0, 0);
        while let Some(node) = ready.pop() {
            done += 1;
            let end = begin[node] + self.cost[node];
            longest = end.max(longest);
            for after in &next[node] {
                begin[*after] = end.max(begin[*after]);
                waits[*after] -= 1;
                if waits[*after] == 0 {
                    ready.push(*after);
                }
            }
        }
        (done == waits.len()).then_some(longest)
    }
}

#[test]
fn the_longest_path_of_the_order_is_the_span() {
    for seed in 0..RUNS {
        let run = random_with_waits(seed);
        let graph = Graph::of(&run.rows);
        let expected = evaluate(&run.recording, &run.rows);
        assert_eq!(graph.longest(), Some(expected.span), "seed {seed}");
        assert_eq!(graph.cost.iter().sum::<i64>(), run.rows.iter().map(|row| (row.cost + row.blocked).0).sum::<i64>());
        let creates = |row: &&Strand| matches!(row.event, Event::Spawn(_) | Event::Call(_) | Event::Next(_));
        let members =
            run.rows.iter().map(|row| if let Event::Team(members) = row.event { members as usize } else { 0 });
        assert_eq!(graph.created, run.rows.iter().filter(creates).count() + members.sum::<usize>(), "seed {seed}");
    }
}

/// Rows excluded, doubled and swapped: every row is reported once, nothing comes after itself, and what the machine reads
/// without a problem has the machine's span.
#[test]
fn rows_that_break_the_rules_are_passed_over() {
    let mut whole = 0;
    for seed in 0..RUNS {
        let mut run = random_with_waits(seed);
        let mut random = Random::new(seed);
        for _ in 0..=random.below(3) {
            let Some(last) = u64::try_from(run.rows.len()).ok().and_then(|rows| rows.checked_sub(1)) else {
                continue;
            };
            let mut at = || usize::try_from(random.below(last + 1)).unwrap_or(0);
            let (one, other) = (at(), at());
            match random.below(3) {
                0 => _ = run.rows.remove(one),
                1 => run.rows.insert(other, run.rows[one]),
                _ => run.rows.swap(one, other),
            }
        }
        let graph = Graph::of(&run.rows);
        let found = replay(&run.recording, &run.rows).unwrap_or_else(|never| match never {});
        let longest = graph.longest();
        assert!(longest.is_some(), "seed {seed}: a circle");
        // That a team has a member too many is no problem to the machine.
        let teams = run.rows.iter().any(|row| matches!(row.event, Event::Team(_)));
        if found.problems.is_empty() && !teams {
            whole += 1;
            assert_eq!(longest, Some(found.span.0), "seed {seed}");
        }
    }
    assert!(whole > 20, "{whole}");
}
