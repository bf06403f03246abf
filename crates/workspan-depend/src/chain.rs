//! How often lines of a function follow one another, and how long a continuation is if nothing but that decides what comes next.
//!
//! After J. Mak, §4.3.6: a Markov chain whose states are the lines of a function. Lines that wait for the call, and the end of the
//! function, absorb; what is passed on the way there on average is the solution of a system of linear equations.
//!
//! **Invariant:** an execution of a line is a row of its pieces, with all that they call, within one iteration.
//! **Cost:** an addition for each strip, and a look into a table where it does not go on with the line before.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::journal::Step;
use crate::paths::walk::Names;
use crate::shadow::BuildHasher;
use crate::source::{small, Source};

/// Lines on the way at most: the equations take the cube of that.
const MOST: usize = 200;

/// A line of a function.
#[derive(Debug, Default)]
struct State {
    executions: u64,
    /// Instructions of all executions, with all that they call.
    cost: u64,
    /// Lines that followed, and how often; the latest comes first.
    next: Vec<(u32, u64)>,
}

impl State {
    #[inline]
    fn follow(&mut self, to: u32, times: u64) {
        if let Some((_, count)) = self.next.first_mut().filter(|(next, _)| *next == to) {
            *count += times;
            return;
        }
        match self.next.iter().position(|(next, _)| *next == to) {
            Some(at) => {
                self.next[at].1 += times;
                self.next.swap(0, at);
            }
            None => self.next.push((to, times)),
        }
    }
}

/// What a strip does: its lines, and their instructions.
type Pieces = Box<[(u32, u64)]>;

/// What is counted.
#[derive(Debug, Default)]
pub struct Chain {
    states: Vec<State>,
    numbers: HashMap<(u32, u32), u32, BuildHasher>,
    /// The state of each line of the journal, + 1, and its instructions; 0: not looked up yet, or of no line.
    of_line: Vec<Option<(u32, u64)>>,
    strips: Vec<Option<Pieces>>,
    /// How often each strip ran.
    ran: Vec<u64>,
    /// Of each running call the line that runs, + 1, and whether its next piece is an execution of its own.
    running: Vec<(u32, bool)>,
}

impl Chain {
    /// Takes what comes next in the journal, several times.
    pub(crate) fn step(&mut self, step: Step, times: u64, names: &Names<'_>, source: &Source) {
        match step {
            Step::Call => self.running.push((0, true)),
            Step::Return(_) => drop(self.running.pop()),
            Step::Loop(_) | Step::Turn | Step::Leave(_) => {
                if let Some((_, anew)) = self.running.last_mut() {
                    *anew = true;
                }
            }
            Step::Line(at) => {
                let (state, cost) = self.line(at, names, source);
                self.enter(state, times);
                self.pay(cost * times);
            }
            Step::Strip(number) => self.strip(number as usize, times, names, source),
        }
    }

    /// A call has ended: it is part of the line that has made it. To be said before the journal's step.
    pub(crate) fn called(&mut self, length: u64) {
        let Some(around) = self.running.len().checked_sub(2) else { return };
        if let Some(state) = self.running[around].0.checked_sub(1) {
            self.states[state as usize].cost += length;
        }
    }

    /// The state of a line of the journal, + 1, and its instructions.
    fn line(&mut self, at: u32, names: &Names<'_>, source: &Source) -> (u32, u64) {
        let place = at as usize;
        if self.of_line.len() <= place {
            self.of_line.resize(place + 1, None);
        }
        if let Some(known) = self.of_line[place] {
            return known;
        }
        let segment = names.lines.get(place).and_then(|(id, run)| Some((source.segments.get(*id as usize)?, *run)));
        let run = segment.and_then(|(info, run)| Some((info.function, info.runs.get(run as usize)?)));
        let found = run.map_or((0, 0), |(function, run)| {
            // What the compiler has made up belongs to the line before.
            (if run.line == 0 { 0 } else { self.state(function, run.line) + 1 }, run.cost.into())
        });
        self.of_line[place] = Some(found);
        found
    }

    fn state(&mut self, function: u32, line: u32) -> u32 {
        let number = *self.numbers.entry((function, line)).or_insert(small(self.states.len()));
        if number as usize == self.states.len() {
            self.states.push(State::default());
        }
        number
    }

    /// A line, + 1, runs or goes on.
    #[inline]
    fn enter(&mut self, state: u32, times: u64) {
        let Some((last, anew)) = self.running.last_mut() else { return };
        if state == 0 || state == *last && !*anew {
            return;
        }
        let before = std::mem::replace(last, state);
        *anew = false;
        self.states[state as usize - 1].executions += times;
        if before != 0 {
            self.states[before as usize - 1].follow(state - 1, times);
        }
    }

    fn pay(&mut self, cost: u64) {
        if let Some(state) = self.running.last().and_then(|(state, _)| state.checked_sub(1)) {
            self.states[state as usize].cost += cost;
        }
    }

    fn strip(&mut self, number: usize, times: u64, names: &Names<'_>, source: &Source) {
        if self.strips.len() <= number {
            self.strips.resize(number + 1, None);
            self.ran.resize(number + 1, 0);
        }
        if self.strips[number].is_none() {
            let Some(lines) = names.strips.get(number) else { return };
            let mut pieces: Vec<(u32, u64)> = Vec::new();
            for at in lines {
                let (state, cost) = self.line(*at, names, source);
                match pieces.last_mut() {
                    Some(last) if state == 0 || last.0 == state => last.1 += cost,
                    // Nothing comes before it yet.
                    Some(last) if last.0 == 0 => *last = (state, last.1 + cost),
                    _ => pieces.push((state, cost)),
                }
            }
            self.strips[number] = Some(pieces.into());
        }
        let ends = self.strips[number].as_ref().and_then(|pieces| Some((pieces.first()?.0, pieces.last()?.0)));
        let Some((first, last)) = ends else { return };
        if first == 0 {
            // The compiler has made it up as a whole.
            let cost = self.strips[number].iter().flat_map(|pieces| pieces.iter()).map(|(_, cost)| cost).sum::<u64>();
            self.pay(cost * times);
            return;
        }
        self.enter(first, times);
        self.ran[number] += times;
        if let Some((state, _)) = self.running.last_mut() {
            *state = last;
        }
    }

    /// Executions of each line of each function, and instructions in all of them.
    pub fn executions(&self) -> BTreeMap<(u32, u32), (u64, u64)> {
        let of = |number: &u32| self.states.get(*number as usize).map_or((0, 0), |of| (of.executions, of.cost));
        self.numbers.iter().map(|(line, number)| (*line, of(number))).collect()
    }

    /// How often a line of a function followed another one.
    pub fn transitions(&self) -> BTreeMap<(u32, u32, u32), u64> {
        let lines: BTreeMap<u32, (u32, u32)> = self.numbers.iter().map(|(line, number)| (*number, *line)).collect();
        let line = |number: &u32| lines.get(number).copied().unwrap_or_default();
        let all = (0..).zip(&self.states).flat_map(|(from, state)| state.next.iter().map(move |next| (from, *next)));
        all.map(|(from, (to, times))| ((line(&from).0, line(&from).1, line(&to).1), times)).collect()
    }

    /// Counts of strips become counts of their lines.
    pub(crate) fn spread(&mut self) {
        for (pieces, ran) in self.strips.iter().zip(&mut self.ran) {
            let (Some(pieces), times) = (pieces, std::mem::take(ran)) else { continue };
            if times == 0 {
                continue;
            }
            for (state, cost) in pieces {
                self.states[*state as usize - 1].cost += cost * times;
            }
            for pair in pieces.windows(2) {
                let (from, to) = (pair[0].0 - 1, pair[1].0 - 1);
                self.states[to as usize].executions += times;
                self.states[from as usize].follow(to, times);
            }
        }
    }

    /// What follows each line, and how often.
    pub(crate) fn following(&self) -> Vec<Vec<(u32, u64)>> {
        let mut found: Vec<Vec<(u32, u64)>> = self.states.iter().map(|state| state.next.clone()).collect();
        // In an order that does not change from run to run: sums of floating point depend on it.
        found.iter_mut().for_each(|all| all.sort_unstable());
        found
    }

    /// The state of a line of a function, if it ran.
    pub(crate) fn find(&self, function: u32, line: u32) -> Option<u32> {
        self.numbers.get(&(function, line)).copied()
    }

    /// Instructions that follow an execution of line `start` before one of `waiting` or the end of the function, on average. Nothing
    /// if there are too many lines on the way, or no way out.
    pub(crate) fn expected(&self, following: &[Vec<(u32, u64)>], start: u32, waiting: &BTreeSet<u32>) -> Option<f64> {
        let mut number: HashMap<u32, usize> = HashMap::new();
        let (mut order, mut next) = (Vec::new(), VecDeque::from([start]));
        while let Some(from) = next.pop_front() {
            for (to, _) in &following[from as usize] {
                if !waiting.contains(to) && !number.contains_key(to) {
                    number.insert(*to, order.len());
                    order.push(*to);
                    next.push_back(*to);
                }
            }
            if order.len() > MOST {
                return None;
            }
        }
        // Each row: expected of a line - sum of expected of those that follow = its own cost.
        let count = order.len();
        let row = |state: u32| {
            let mut row = vec![0.0; count];
            let of = &self.states[state as usize];
            let executions = ratio(of.executions.max(1), 1);
            for (to, times) in &following[state as usize] {
                if let Some(at) = number.get(to) {
                    row[*at] += ratio(*times, 1) / executions;
                }
            }
            row
        };
        let mut rows: Vec<Vec<f64>> = order
            .iter()
            .enumerate()
            .map(|(at, state)| {
                let mut row: Vec<f64> = row(*state).into_iter().map(|share| -share).collect();
                row[at] += 1.0;
                let of = &self.states[*state as usize];
                row.push(ratio(of.cost, of.executions.max(1)));
                row
            })
            .collect();
        let solved = solve(&mut rows)?;
        Some(row(start).iter().zip(solved).map(|(share, cost)| share * cost).sum())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean")]
fn ratio(of: u64, by: u64) -> f64 {
    of as f64 / by as f64
}

/// Solves a system of linear equations by Gauss's elimination: rows of coefficients with their right side.
fn solve(rows: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let count = rows.len();
    for at in 0..count {
        let pivot = (at..count).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs()))?;
        rows.swap(at, pivot);
        let (done, rest) = rows.split_at_mut(at + 1);
        let pivot = &done[at];
        if pivot[at].abs() < 1e-12 {
            return None;
        }
        for row in rest.iter_mut().filter(|row| row[at] != 0.0) {
            let factor = row[at] / pivot[at];
            row[at..].iter_mut().zip(&pivot[at..]).for_each(|(value, of)| *value -= factor * of);
        }
    }
    let mut found = vec![0.0; count];
    for at in (0..count).rev() {
        let known: f64 = rows[at][at + 1..count].iter().zip(&found[at + 1..]).map(|(share, value)| share * value).sum();
        found[at] = (rows[at][count] - known) / rows[at][at];
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(costs: &[(u64, u64)], edges: &[(u32, u32, u64)], waiting: &[u32], expected: Option<f64>) {
        let state = |(executions, cost): &(u64, u64)| State { executions: *executions, cost: *cost, next: Vec::new() };
        let mut chain = Chain { states: costs.iter().map(state).collect(), ..Chain::default() };
        edges.iter().for_each(|(from, to, times)| chain.states[*from as usize].follow(*to, *times));
        let found = chain.expected(&chain.following(), 0, &waiting.iter().copied().collect());
        let same = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-6,
            (found, expected) => found == expected,
        };
        assert!(same, "{found:?} instead of {expected:?}");
    }

    #[test]
    fn it_is_what_is_passed_before_something_waits() {
        // Lines in a row; the last one waits.
        check(&[(1, 53), (1, 10), (1, 20), (1, 5)], &[(0, 1, 1), (1, 2, 1), (2, 3, 1)], &[3], Some(30.0));
        // The end of the function waits.
        check(&[(1, 53), (1, 10), (1, 20)], &[(0, 1, 1), (1, 2, 1)], &[], Some(30.0));
        // Half of the executions take another way.
        check(
            &[(10, 10), (5, 500), (5, 50), (10, 10)],
            &[(0, 1, 5), (0, 2, 5), (1, 3, 5), (2, 3, 5)],
            &[3],
            Some(55.0),
        );
    }

    #[test]
    fn loops_are_gone_through_as_often_as_on_average() {
        // A loop of 10 iterations, 7 instructions each, behind the call.
        check(&[(1, 1), (10, 70), (1, 4)], &[(0, 1, 1), (1, 1, 9), (1, 2, 1)], &[2], Some(70.0));
        // The call is in the loop, and waits for the call of the iteration before.
        check(&[(10, 500), (10, 30)], &[(0, 1, 10), (1, 0, 9)], &[0], Some(3.0));
        // It does not: all iterations behind it follow, which are 4.5 on average, but 9 if nothing is remembered.
        check(&[(10, 500), (10, 30)], &[(0, 1, 10), (1, 0, 9)], &[], Some(10.0 * 3.0 + 9.0 * 50.0));
    }

    #[test]
    fn without_a_way_out_nothing_is_known() {
        check(&[(1, 1), (10, 70)], &[(0, 1, 1), (1, 1, 10)], &[], None);
        check(&[(1, 1)], &[], &[], Some(0.0));
    }
}
