//! Work, span and critical path of every body, and of the program.
//!
//! **Definition:** a piece weighs its instructions and the spans of what it calls, an inner loop its span, both for each iteration of the
//! body on average. A dependence spans as many iterations as it did on average, at least as many as lie between two
//! occurrences of it, and less where an iteration has several: the nearest holds, of `k` with mean `m` after `1 + (m - 1) / k`. The span of a body is the [longest path](super::level) of as many iterations as one execution has on average.
//!
//! **Argument:** bodies are evaluated from the innermost call outwards. Calls that lead back to a running context (recursion deeper than
//! contexts distinguish) take its values from the round before; those grow by a constant factor from one round to the next,
//! once the path stays the same, so that the limit is known from three rounds.

use std::collections::{BTreeMap, HashMap};

use super::change::Change;
use super::level::{longest, Arc, Longest};
use super::structure::{around, common, order, roots};
use super::{Clause, Paths};

/// Rounds at most.
const ROUNDS: usize = 48;

/// What an iteration waits with for an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tasks {
    /// Each line waits for the lines that it depends on.
    #[default]
    Lines,
    /// The whole iteration waits for the whole earlier one, as iterations do that are tasks.
    Iterations,
}

/// Instructions of one execution, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// All.
    pub work: f64,
    /// On the longest path.
    pub span: f64,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// A piece.
    Piece(u32),
    /// An inner loop.
    Loop(u32),
}

/// A node of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub what: What,
    /// Executions, in all executions of the body.
    pub count: u64,
    /// What one iteration spends in it.
    pub cost: Cost,
    /// Of that, its own instructions, without what it calls.
    pub own: f64,
    /// How often the critical path of one execution runs through it.
    pub times: f64,
}

/// A function body or a loop, in one context.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Context.
    pub context: u32,
    /// The loop, + 1; 0: the function.
    pub in_loop: u32,
    /// Executions.
    pub entries: u64,
    /// Iterations in all executions.
    pub turns: u64,
    /// Of one execution.
    pub cost: Cost,
    /// Nodes, in the order of their first execution.
    pub nodes: Vec<Node>,
    /// Dependences between nodes: which, from, to, and how often the critical path of one execution takes it. Those that something takes
    /// away are never taken.
    pub arcs: Vec<(u32, usize, usize, f64)>,
    /// How many executions lie on the critical path of the program.
    pub reach: f64,
    /// The same, each divided by how much faster everything is around it that a change speeds up: what it costs, times this, is its part
    /// of the critical path.
    pub weight: f64,
}

/// All of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// The program.
    pub program: Cost,
    /// Bodies: of each context its loops, inner ones first, then the function.
    pub bodies: Vec<Body>,
}

struct Evaluation<'p> {
    paths: &'p Paths,
    change: &'p Change,
    tasks: Tasks,
    /// Dependences by the loop, + 1, that they are in; those of functions by their name.
    of_loop: Vec<Vec<u32>>,
    of_function: HashMap<&'p str, Vec<u32>>,
    /// Iterations of each loop, in all contexts.
    turns: Vec<u64>,
    contexts: Vec<Cost>,
}

/// Evaluates all bodies with a change.
pub fn evaluate(paths: &Paths, change: &Change, tasks: Tasks) -> Evaluated {
    let mut evaluation = Evaluation::new(paths, change, tasks);
    let (order, has_back) = order(paths);
    let mut found = evaluation.round(&order);
    let mut before: Vec<[Cost; 2]> = vec![[Cost::default(); 2]; paths.contexts.len()];
    for _ in 0..if has_back { ROUNDS } else { 0 } {
        for (past, now) in before.iter_mut().zip(&evaluation.contexts) {
            *past = [past[1], *now];
        }
        found = evaluation.round(&order);
    }
    if has_back {
        for (now, past) in evaluation.contexts.iter_mut().zip(&before) {
            now.work = limit(past[0].work, past[1].work, now.work);
            now.span = limit(past[0].span, past[1].span, now.span).min(now.work);
        }
        found = evaluation.round(&order);
    }
    let mut program = Cost::default();
    let roots = roots(paths);
    for at in &roots {
        let (entries, cost) = (float(paths.contexts[*at as usize].entries), evaluation.contexts[*at as usize]);
        program = Cost { work: program.work + entries * cost.work, span: program.span + entries * cost.span };
    }
    let mut bodies = found;
    reach(paths, change, &mut bodies, (&order, &roots));
    Evaluated { program, bodies: bodies.into_values().collect() }
}

/// Where a sequence goes whose steps shrink by a constant factor.
fn limit(first: f64, second: f64, third: f64) -> f64 {
    let (step, next) = (second - first, third - second);
    let factor = if step > 0.0 { next / step } else { 0.0 };
    if next > 0.0 && factor < 1.0 - 1e-9 {
        third + next * factor / (1.0 - factor)
    } else {
        third
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn float(count: u64) -> f64 {
    count as f64
}

impl<'p> Evaluation<'p> {
    fn new(paths: &'p Paths, change: &'p Change, tasks: Tasks) -> Evaluation<'p> {
        let mut of_loop = vec![Vec::new(); paths.loops.len() + 1];
        let mut of_function: HashMap<&str, Vec<u32>> = HashMap::new();
        for (number, edge) in (0..).zip(&paths.edges) {
            let level = if edge.carrier == 0 { common(paths, edge.from, edge.to) } else { edge.carrier };
            match level {
                0 => of_function.entry(&paths.pieces[edge.from as usize].function).or_default().push(number),
                _ => of_loop[level as usize].push(number),
            }
        }
        let mut turns = vec![0_u64; paths.loops.len()];
        for (number, _, count) in paths.contexts.iter().flat_map(|each| &each.loops) {
            turns[*number as usize] = turns[*number as usize].saturating_add(*count);
        }
        let contexts = vec![Cost::default(); paths.contexts.len()];
        Evaluation { paths, change, tasks, of_loop, of_function, turns, contexts }
    }

    fn round(&mut self, order: &[u32]) -> BTreeMap<(u32, u32), Body> {
        let mut found = BTreeMap::new();
        for context in order {
            let own = &self.paths.contexts[*context as usize];
            let depth = |each: &(u32, u64, u64)| around(self.paths, each.0 + 1).count();
            let mut loops = own.loops.clone();
            loops.sort_by_key(|each| (std::cmp::Reverse(depth(each)), each.0));
            let mut costs = HashMap::new();
            for (number, entries, turns) in loops {
                let body = self.body(*context, number + 1, (entries, turns), &costs);
                costs.insert(number, (entries, body.cost));
                found.insert((*context, number + 1), body);
            }
            let body = self.body(*context, 0, (own.entries, own.entries), &costs);
            self.contexts[*context as usize] = body.cost;
            found.insert((*context, 0), body);
        }
        found
    }

    fn body(
        &self,
        context: u32,
        in_loop: u32,
        (entries, turns): (u64, u64),
        costs: &HashMap<u32, (u64, Cost)>,
    ) -> Body {
        let own = &self.paths.contexts[context as usize];
        let faster = in_loop.checked_sub(1).map_or(1.0, |number| self.change.of_loop(self.paths, number));
        // What all in a loop costs is less if the loop is faster.
        let of_turns = float(turns.max(1)) * faster;
        let mut nodes: Vec<Node> = Vec::new();
        let (mut node_of, mut place_of) = (HashMap::new(), HashMap::new());
        for (piece, count) in &own.pieces {
            let Some(what) = self.within(*piece, in_loop) else { continue };
            let at = *place_of.entry(what).or_insert_with(|| {
                nodes.push(Node { what, count: 0, cost: Cost::default(), own: 0.0, times: 0.0 });
                nodes.len() - 1
            });
            node_of.insert(*piece, at);
            let cost = match what {
                What::Piece(_) => {
                    nodes[at].count = *count;
                    let (cost, instructions) = self.of_piece(own, *piece, *count, of_turns);
                    nodes[at].own = instructions;
                    cost
                }
                What::Loop(number) if nodes[at].count == 0 => {
                    let (entries, cost) = costs.get(&number).copied().unwrap_or_default();
                    nodes[at].count = entries.max(1);
                    let factor = float(entries) / of_turns;
                    Cost { work: cost.work * factor, span: cost.span * factor }
                }
                What::Loop(_) => continue,
            };
            nodes[at].cost = cost;
        }
        let mut weights: Vec<f64> = nodes.iter().map(|node| node.cost.span).collect();
        let mut arcs = Vec::new();
        let mut edges = Vec::new();
        let mut seen = Vec::new();
        for number in self.edges(own, in_loop) {
            let edge = &self.paths.edges[*number as usize];
            let (Some(from), Some(to)) = (node_of.get(&edge.from), node_of.get(&edge.to)) else { continue };
            if edge.carrier == 0 && from == to {
                continue;
            }
            seen.push((*number, *from, *to, 0.0));
            if edge.clause != Clause::None || self.change.removes(*number) {
                continue;
            }
            let distance = self.distance(*number);
            let targets = if edge.kind == "control" { 0..nodes.len() } else { *to..*to + 1 };
            for to in targets {
                arcs.push(Arc { from: *from, to, distance });
                edges.push(seen.len() - 1);
            }
        }
        if self.tasks == Tasks::Iterations && arcs.iter().any(|arc: &Arc| arc.distance > 0) {
            // Two nodes more: before and behind all others.
            let (begin, end) = (nodes.len(), nodes.len() + 1);
            weights.extend([0.0, 0.0]);
            let carried = arcs.iter_mut().filter(|arc| arc.distance > 0);
            carried.for_each(|arc| (arc.from, arc.to) = (end, begin));
            for at in 0..nodes.len() {
                arcs.extend([Arc { from: begin, to: at, distance: 0 }, Arc { from: at, to: end, distance: 0 }]);
            }
        }
        let turns_of_one = float(turns) / float(entries.max(1));
        let Longest { span, nodes: times, arcs: taken } = longest(&weights, &arcs, turns_of_one);
        nodes.iter_mut().zip(times).for_each(|(node, times)| node.times = times);
        edges.iter().zip(taken).for_each(|(at, times)| seen[*at].3 += times);
        let work = nodes.iter().map(|node| node.cost.work).sum::<f64>() * turns_of_one;
        Body {
            context,
            in_loop,
            entries,
            turns,
            cost: Cost { work, span: span.min(work) },
            nodes,
            arcs: seen,
            reach: 0.0,
            weight: 0.0,
        }
    }

    fn edges(&self, own: &super::Context, in_loop: u32) -> &[u32] {
        if in_loop == 0 {
            self.of_function.get(own.function.as_str()).map_or(&[], Vec::as_slice)
        } else {
            &self.of_loop[in_loop as usize]
        }
    }

    /// What a piece is in a body: itself, or the loop right below that it lies in.
    fn within(&self, piece: u32, in_loop: u32) -> Option<What> {
        let mut inner = None;
        for each in around(self.paths, self.paths.pieces[piece as usize].in_loop).chain([0]) {
            if each == in_loop {
                return Some(inner.map_or(What::Piece(piece), What::Loop));
            }
            inner = each.checked_sub(1);
        }
        None
    }

    /// What a piece costs for each iteration of its body, and its own instructions.
    fn of_piece(&self, own: &super::Context, piece: u32, count: u64, turns: f64) -> (Cost, f64) {
        let instructions = float(count) * f64::from(self.paths.pieces[piece as usize].cost);
        let mut cost = Cost { work: instructions, span: instructions };
        let first = own.calls.partition_point(|(at, _, _)| *at < piece);
        for (_, to, times) in own.calls[first..].iter().take_while(|(at, _, _)| *at == piece) {
            let (times, called) = (float(*times), self.contexts[*to as usize]);
            cost = Cost { work: cost.work + times * called.work, span: cost.span + times * called.span };
        }
        let by = turns * self.change.of_piece(self.paths, piece);
        (Cost { work: cost.work / by, span: cost.span / by }, instructions / by)
    }

    /// Iterations that a dependence spans.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of iterations")]
    fn distance(&self, number: u32) -> usize {
        let edge = &self.paths.edges[number as usize];
        let Some(carrier) = edge.carrier.checked_sub(1) else { return 0 };
        let count = float(edge.count.max(1));
        let least = float(edge.distance.0).min(float(edge.distance.1));
        let mean = (float(edge.sum) / count).clamp(least, float(edge.distance.1).max(least));
        // For each iteration: where it is seen several times, the nearest holds; where it is seen rarely, chains are as rare.
        let times = count / float(self.turns[carrier as usize].saturating_sub(1).max(1));
        let nearest = 1.0 + (mean - 1.0).max(0.0) / times.max(1.0);
        nearest.max((1.0 / times).floor()).round().clamp(1.0, 1e15) as usize
    }
}

/// How often the critical path of the program runs through each body, and what that weighs.
fn reach(paths: &Paths, change: &Change, bodies: &mut BTreeMap<(u32, u32), Body>, (order, roots): (&[u32], &[u32])) {
    let mut of_context = vec![(0.0_f64, 0.0_f64); paths.contexts.len()];
    for at in roots {
        let entries = float(paths.contexts[*at as usize].entries);
        of_context[*at as usize] = (entries, entries);
    }
    for context in order.iter().rev() {
        let own = &paths.contexts[*context as usize];
        let mut all: Vec<u32> = own.loops.iter().map(|each| each.0 + 1).chain([0]).collect();
        all.sort_by_key(|in_loop| (if *in_loop == 0 { 0 } else { around(paths, *in_loop).count() }, *in_loop));
        for in_loop in all {
            let Some(body) = bodies.get_mut(&(*context, in_loop)) else { continue };
            if in_loop == 0 {
                (body.reach, body.weight) = of_context[*context as usize];
            }
            let faster = in_loop.checked_sub(1).map_or(1.0, |number| change.of_loop(paths, number));
            let (here, turns) = ((body.reach, body.weight / faster), float(body.turns.max(1)));
            for node in body.nodes.clone() {
                let times = node.times / turns;
                match node.what {
                    What::Loop(inner) => {
                        if let Some(inner) = bodies.get_mut(&(*context, inner + 1)) {
                            let times = times * float(inner.entries);
                            (inner.reach, inner.weight) = (inner.reach + here.0 * times, inner.weight + here.1 * times);
                        }
                    }
                    What::Piece(piece) => {
                        let faster = change.of_piece(paths, piece);
                        let first = own.calls.partition_point(|(at, _, _)| *at < piece);
                        for (_, to, count) in own.calls[first..].iter().take_while(|(at, _, _)| *at == piece) {
                            let (times, called) = (times * float(*count), &mut of_context[*to as usize]);
                            *called = (called.0 + here.0 * times, called.1 + here.1 * times / faster);
                        }
                    }
                }
            }
        }
    }
}
