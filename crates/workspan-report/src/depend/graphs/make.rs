//! The view of the graphs: pieces of one line as one node.

use std::collections::{BTreeMap, HashMap};

use workspan_depend::paths::change::Change;
use workspan_depend::paths::evaluate::{evaluate, Body, Evaluated, Tasks, What};
use workspan_depend::paths::{Context, Edge, Paths};
use workspan_depend::source::Place;

use super::super::points::{Distance, Point};
use super::view::{CriticalPaths, Graph, GraphEdge, GraphNode, Held, PathLine, Span};

/// Graphs that a report has at most.
const MOST: usize = 1000;
/// Lines of the program's critical path that a report has at most.
const MOST_LINES: usize = 1000;

/// The graphs as they are.
pub(in crate::depend) fn critical_paths(paths: &Paths) -> CriticalPaths {
    let none = Change::default();
    view(paths, &evaluate(paths, &none, Tasks::Lines), &evaluate(paths, &none, Tasks::Iterations))
}

/// The view of what was evaluated.
fn view(paths: &Paths, found: &Evaluated, coarse: &Evaluated) -> CriticalPaths {
    let mut ranked: Vec<&Body> =
        found.bodies.iter().filter(|body| body.entries > 0 && !body.nodes.is_empty()).collect();
    let key = |body: &Body| body.reach * body.cost.span;
    ranked.sort_by(|a, b| key(b).total_cmp(&key(a)).then((a.context, a.in_loop).cmp(&(b.context, b.in_loop))));
    let left_out = ranked.len().saturating_sub(MOST) as u64;
    ranked.truncate(MOST);
    let named = ranked.iter().enumerate().map(|(at, body)| ((body.context, body.in_loop), format!("g{}", at + 1)));
    let names: HashMap<(u32, u32), String> = named.collect();
    let mut graphs: Vec<Graph> = ranked.iter().map(|body| graph(paths, body, &names)).collect();
    let callers = callers(paths);
    for (graph, body) in graphs.iter_mut().zip(&ranked).filter(|(graph, _)| graph.kind == "call") {
        graph.within = callers.get(&body.context).and_then(|caller| names.get(caller)).cloned();
    }
    CriticalPaths {
        work: whole(found.program.work),
        lines_as_tasks: span_of(found),
        iterations_as_tasks: span_of(coarse),
        lines: lines(paths, found),
        graphs,
        left_out,
    }
}

/// The body that calls each context first.
fn callers(paths: &Paths) -> HashMap<u32, (u32, u32)> {
    let mut found = HashMap::new();
    for (number, context) in (0..).zip(&paths.contexts) {
        for (piece, to, _) in context.calls.iter().filter(|each| each.1 != number) {
            found.entry(*to).or_insert((number, paths.pieces[*piece as usize].in_loop));
        }
    }
    found
}

/// What a body is of.
pub(super) fn kind(context: &Context, is_loop: bool) -> &'static str {
    match is_loop {
        true => "loop",
        false if context.call.line == 0 => "program",
        false => "call",
    }
}

/// The span of a program.
pub(super) fn span_of(found: &Evaluated) -> Span {
    Span { span: whole(found.program.span), parallelism: ratio(found.program.work, found.program.span) }
}

/// Work divided by span.
pub(super) fn ratio(work: f64, span: f64) -> f64 {
    if span > 0.0 {
        work / span
    } else {
        1.0
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "instructions")]
pub(super) fn whole(value: f64) -> u64 {
    value.round().max(0.0) as u64
}

/// Two digits: a mean is no more exact.
fn mean(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn point(place: &Place) -> Point {
    Point { file: place.file.clone(), line: place.line, column: place.column }
}

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn graph(paths: &Paths, body: &Body, names: &HashMap<(u32, u32), String>) -> Graph {
    let context = &paths.contexts[body.context as usize];
    let in_loop = body.in_loop.checked_sub(1).map(|at| &paths.loops[at as usize]);
    let place = in_loop.map_or(&context.call, |each| &each.place);
    let name = |in_loop: u32| names.get(&(body.context, in_loop)).cloned();
    let mut nodes: Vec<GraphNode> = Vec::new();
    let (mut number_of, mut totals) = (BTreeMap::new(), Vec::new());
    let mut shown = Vec::new();
    for node in &body.nodes {
        let place = place_of(paths, node.what);
        if place.line == 0 && node.cost.work == 0.0 {
            shown.push(None);
            continue;
        }
        let (kind, opens) = match node.what {
            What::Piece(piece) => ("line", calls(paths, body, piece, names)),
            What::Loop(number) => ("loop", name(number + 1).into_iter().collect()),
        };
        let of_loop = if let What::Loop(number) = node.what { number + 1 } else { 0 };
        let at = *number_of.entry((of_loop, &place.file, place.line)).or_insert_with(|| {
            let (file, line) = (place.file.clone(), place.line);
            nodes.push(GraphNode { kind, file, line, count: 0, cost: 0.0, times: 0.0, opens: Vec::new() });
            totals.push(0.0);
            nodes.len() - 1
        });
        shown.push(Some(at));
        totals[at] += node.cost.span * body.turns as f64;
        let own = &mut nodes[at];
        // A line that some iterations skip is executed less often than the path runs through its node.
        let times = node.times * node.count as f64 / body.turns.max(1) as f64;
        (own.count, own.times) = (own.count.max(node.count), own.times.max(mean(times)));
        opens.into_iter().for_each(|each| {
            if !own.opens.contains(&each) {
                own.opens.push(each)
            }
        });
    }
    for (node, total) in nodes.iter_mut().zip(totals) {
        node.cost = mean(total / node.count.max(1) as f64);
    }
    Graph {
        id: name(body.in_loop).unwrap_or_default(),
        kind: kind(context, in_loop.is_some()),
        file: place.file.clone(),
        line: place.line,
        column: place.column,
        function: context.function.clone(),
        depth: context.depth,
        within: in_loop.and_then(|each| name(each.parent)),
        entries: body.entries,
        iterations: body.turns,
        work: mean(body.cost.work),
        span: mean(body.cost.span),
        parallelism: mean(ratio(body.cost.work, body.cost.span)),
        on_path: mean(body.reach),
        edges: edges(paths, body, &shown),
        nodes,
    }
}

fn place_of(paths: &Paths, what: What) -> &Place {
    match what {
        What::Piece(piece) => &paths.pieces[piece as usize].place,
        What::Loop(number) => &paths.loops[number as usize].place,
    }
}

/// Graphs of what a piece calls.
fn calls(paths: &Paths, body: &Body, piece: u32, names: &HashMap<(u32, u32), String>) -> Vec<String> {
    let all = paths.contexts[body.context as usize].calls.iter().filter(|each| each.0 == piece);
    all.filter_map(|(_, to, _)| names.get(&(*to, 0)).cloned()).collect()
}

/// Dependences between shown nodes.
#[expect(clippy::cast_precision_loss, reason = "counts")]
fn edges(paths: &Paths, body: &Body, shown: &[Option<usize>]) -> Vec<GraphEdge> {
    let mut found: BTreeMap<(usize, usize, &str, &str, bool, &str), GraphEdge> = BTreeMap::new();
    for (number, from_node, to_node, times) in &body.arcs {
        let edge: &Edge = &paths.edges[*number as usize];
        let (Some(from), Some(to), carried) = (shown[*from_node], shown[*to_node], edge.carrier != 0) else { continue };
        if from == to && !carried || edge.kind == "line" {
            continue;
        }
        // As often as its nodes are executed where the path runs through them.
        let executed = body.nodes[*from_node].count.min(body.nodes[*to_node].count);
        let times = times * (executed as f64 / body.turns.max(1) as f64).min(1.0);
        let (clause, distance) = (edge.clause.name(), Distance { min: edge.distance.0, max: edge.distance.1 });
        let key = (from, to, edge.kind.as_str(), edge.variable.as_str(), carried, clause);
        let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let new = || GraphEdge {
            from: small(from),
            to: small(to),
            kind: edge.kind.clone(),
            variable: edge.variable.clone(),
            carried,
            distance,
            count: 0,
            clause,
            times: 0.0,
        };
        let own = found.entry(key).or_insert_with(new);
        let (min, max) = edge.distance;
        own.distance = Distance { min: own.distance.min.min(min), max: own.distance.max.max(max) };
        own.count = own.count.saturating_add(edge.count);
        // No more than were seen.
        own.times = mean((own.times + times).min(own.count as f64 / body.entries.max(1) as f64));
    }
    found.into_values().collect()
}

/// Lines on the critical path of the program.
pub(super) fn lines(paths: &Paths, found: &Evaluated) -> Vec<PathLine> {
    type Arcs<'p> = BTreeMap<u32, f64>;
    let mut sums: BTreeMap<(&str, u32, &str), (f64, Arcs<'_>)> = BTreeMap::new();
    for body in found.bodies.iter().filter(|body| body.reach > 0.0) {
        for (at, node) in body.nodes.iter().enumerate() {
            let What::Piece(piece) = node.what else { continue };
            let own = &paths.pieces[piece as usize];
            let sum = sums.entry((&own.place.file, own.place.line, &own.function)).or_default();
            // What it calls has lines of its own.
            sum.0 += body.weight * node.times * node.own;
            for (number, from, to, times) in &body.arcs {
                let is_held = *to == at && *times > 0.0 && (*from != at || paths.edges[*number as usize].carrier != 0);
                if is_held && paths.edges[*number as usize].kind != "line" {
                    *sum.1.entry(*number).or_default() += body.reach * times;
                }
            }
        }
    }
    let all = sums.into_iter().filter(|(_, (cost, _))| *cost > 0.0);
    let mut all: Vec<PathLine> = all
        .map(|((file, line, function), (cost, arcs))| PathLine {
            file: file.to_owned(),
            line,
            function: function.to_owned(),
            cost: whole(cost),
            share: mean(cost * 100.0 / found.program.span.max(1.0)) / 100.0,
            held_by: arcs
                .into_iter()
                .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
                .map(|(at, _)| held(paths, at)),
        })
        .collect();
    all.sort_by_key(|each| std::cmp::Reverse(each.cost));
    all.truncate(MOST_LINES);
    all
}

/// A dependence as a reason.
pub(super) fn held(paths: &Paths, number: u32) -> Held {
    let edge = &paths.edges[number as usize];
    let carrier = edge.carrier.checked_sub(1).map(|at| point(&paths.loops[at as usize].place));
    Held {
        kind: edge.kind.clone(),
        variable: edge.variable.clone(),
        source: point(&paths.pieces[edge.from as usize].place),
        carried_by: carrier,
    }
}
