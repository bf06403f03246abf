//! The longest path through the iterations of one body.
//!
//! **Definition:** each iteration has all nodes. A node begins when all nodes are ready that it depends on, in its iteration or as many
//! before as the dependence spans; it takes its weight. The span is when the last node of the last iteration is ready.
//!
//! **Argument:** up to [`MOST`] iterations are gone through one by one, with the definition. What holds further iterations is the cycle of
//! dependences with the greatest weight for each iteration that it spans, so the span grows by that much from then on. Where the graph is
//! too large for it, it grows as over the later half of what was gone through.
//!
//! **Cost:** nodes and dependences times iterations, at most [`MOST`]; for the cycle nodes times dependences, a few times.

/// Iterations that are gone through.
pub const MOST: usize = 512;
/// Nodes times iterations that are gone through.
const CELLS: usize = 1 << 22;

/// A dependence: from, to, iterations between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    /// The earlier node.
    pub from: usize,
    /// The later one.
    pub to: usize,
    /// Iterations; 0: the same.
    pub distance: usize,
}

/// The longest path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Longest {
    /// Its weight.
    pub span: f64,
    /// How often it runs through each node.
    pub nodes: Vec<f64>,
    /// How often it takes each dependence.
    pub arcs: Vec<f64>,
}

struct Way {
    arc: u32,
    from: u32,
}

const NOWHERE: u32 = u32::MAX;

/// The longest path of `turns` iterations. Nodes come in the order of their first execution.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "counts of iterations"
)]
pub fn longest(weights: &[f64], arcs: &[Arc], turns: f64) -> Longest {
    let count = weights.len();
    let mut found = Longest { span: 0.0, nodes: vec![0.0; count], arcs: vec![0.0; arcs.len()] };
    if count == 0 || turns <= 0.0 {
        return found;
    }
    let order = order(count, arcs);
    let most = (CELLS / count).clamp(8, MOST);
    let whole = (turns.ceil() as usize).min(most);
    let into = entering(count, arcs, &order);
    let (mut ready, mut ways) = (vec![0.0_f64; count * whole], Vec::with_capacity(count * whole));
    ways.resize_with(count * whole, || Way { arc: NOWHERE, from: 0 });
    // When all nodes were ready of the iterations so far.
    let mut spans = vec![0.0_f64; whole + 1];
    let mut last = (0, 0.0_f64);
    for turn in 0..whole {
        for at in &order {
            let cell = turn * count + at;
            let mut start = 0.0_f64;
            for number in &into[*at] {
                let arc = arcs[*number];
                let Some(before) = turn.checked_sub(arc.distance) else { continue };
                let from = before * count + arc.from;
                if ready[from] > start {
                    start = ready[from];
                    ways[cell] = Way { arc: *number as u32, from: from as u32 };
                }
            }
            ready[cell] = start + weights[*at];
            if ready[cell] > last.1 {
                last = (cell, ready[cell]);
            }
        }
        spans[turn + 1] = last.1;
    }
    // A part of an iteration: as much of its growth.
    let part = if turns < whole as f64 { turns - (whole - 1) as f64 } else { 1.0 };
    found.span = spans[whole - 1] + (spans[whole] - spans[whole - 1]) * part;
    let rest = turns - whole as f64;
    let mut scale = 1.0;
    if rest > 0.0 {
        let half = whole / 2;
        let seen = || (spans[whole] - spans[whole - half]) / half.max(1) as f64;
        let growth = growth(weights, arcs, &into).unwrap_or_else(seen);
        found.span += growth * rest;
        if growth > 0.0 {
            scale = turns / whole as f64;
        }
    }
    let mut cell = last.0;
    loop {
        found.nodes[cell % count] += scale;
        let way = &ways[cell];
        if way.arc == NOWHERE {
            return found;
        }
        found.arcs[way.arc as usize] += scale;
        cell = way.from as usize;
    }
}

/// The greatest weight of a cycle of dependences for each iteration that it spans.
///
/// From no weight upwards: as long as a cycle weighs more than that for each of its iterations, it takes the place of what was found
/// before. Nothing, if that would take too long.
#[expect(clippy::cast_precision_loss, reason = "counts of iterations")]
fn growth(weights: &[f64], arcs: &[Arc], into: &[Vec<usize>]) -> Option<f64> {
    let used: Vec<usize> = into.iter().flatten().copied().collect();
    if weights.len() * used.len() > CELLS * 8 {
        return None;
    }
    let mut found = 0.0_f64;
    let slack = weights.iter().sum::<f64>() * 1e-12;
    loop {
        let (mut most, mut way) = (vec![0.0_f64; weights.len()], vec![None; weights.len()]);
        let mut last = None;
        for _ in 0..=weights.len() {
            last = None;
            for number in &used {
                let arc = arcs[*number];
                let here = most[arc.from] + weights[arc.to] - found * arc.distance as f64;
                if here > most[arc.to] + slack {
                    (most[arc.to], way[arc.to], last) = (here, Some(*number), Some(arc.to));
                }
            }
            if last.is_none() {
                return Some(found);
            }
        }
        // Still growing: backwards there is a cycle.
        let mut at = last?;
        for _ in 0..weights.len() {
            at = arcs[way[at]?].from;
        }
        let (first, mut weight, mut spanned) = (at, 0.0, 0);
        loop {
            let arc = arcs[way[at]?];
            (weight, spanned, at) = (weight + weights[at], spanned + arc.distance, arc.from);
            if at == first {
                break;
            }
        }
        let next = weight / spanned.max(1) as f64;
        if next <= found * (1.0 + 1e-12) {
            return Some(found);
        }
        found = next;
    }
}

/// Arcs into each node; of those within an iteration, the ones that follow the order.
fn entering(count: usize, arcs: &[Arc], order: &[usize]) -> Vec<Vec<usize>> {
    let mut rank = vec![0; count];
    order.iter().enumerate().for_each(|(place, at)| rank[*at] = place);
    let mut into = vec![Vec::new(); count];
    for (number, arc) in arcs.iter().enumerate() {
        if arc.distance > 0 || rank[arc.from] < rank[arc.to] {
            into[arc.to].push(number);
        }
    }
    into
}

/// Nodes so that each follows what it depends on in its iteration. Where they wait for each other in a circle, the first of them goes first.
fn order(count: usize, arcs: &[Arc]) -> Vec<usize> {
    let mut waits = vec![0_usize; count];
    let mut out = vec![Vec::new(); count];
    for arc in arcs.iter().filter(|arc| arc.distance == 0 && arc.from != arc.to) {
        waits[arc.to] += 1;
        out[arc.from].push(arc.to);
    }
    let mut left: std::collections::BTreeSet<usize> = (0..count).collect();
    let mut free: std::collections::BTreeSet<usize> = left.iter().copied().filter(|at| waits[*at] == 0).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(at) = free.pop_first().or_else(|| left.first().copied()) {
        left.remove(&at);
        order.push(at);
        for next in &out[at] {
            waits[*next] = waits[*next].saturating_sub(1);
            if waits[*next] == 0 && left.contains(next) {
                free.insert(*next);
            }
        }
    }
    order
}
