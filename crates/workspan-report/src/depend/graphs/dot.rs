//! Graphs for graphviz: one cluster each; what is on the critical path is bold, what a clause takes away is dotted.

use std::fmt::Write as _;

use super::super::quoted::quoted;
use super::text::number;
use super::view::{CriticalPaths, Graph, GraphEdge, GraphNode};
use crate::place::short_file;

/// All graphs, or the one with that name.
pub(in crate::depend) fn dot(view: &CriticalPaths, most: usize, only: Option<&str>) -> String {
    let mut out = String::from("digraph critical_paths {\n  compound=true; node [shape=box, fontname=monospace];\n");
    let all = view.graphs.iter().filter(|each| only.is_none_or(|name| each.id == name));
    for graph in all.take(most) {
        cluster(graph, &mut out);
    }
    out + "}\n"
}

fn cluster(graph: &Graph, out: &mut String) {
    let id = |at: usize| quoted(&format!("{}/{at}", graph.id));
    let label = format!("{}: {}\nwork {}, span {}", graph.id, title(graph), number(graph.work), number(graph.span));
    let _ = writeln!(out, "  subgraph {} {{\n    label={};", quoted(&format!("cluster_{}", graph.id)), quoted(&label));
    for (at, node) in graph.nodes.iter().enumerate() {
        let style = if node.times > 0.0 { ", style=bold" } else { "" };
        let tooltip = if node.opens.is_empty() { String::new() } else { format!("opens {}", node.opens.join(", ")) };
        let _ = writeln!(out, "    {} [label={}, tooltip={}{style}];", id(at), quoted(&name(node)), quoted(&tooltip));
    }
    for edge in &graph.edges {
        let style = match () {
            () if !edge.clause.is_empty() => ", style=dotted",
            () if edge.times > 0.0 => ", style=bold",
            () => "",
        };
        let free = if edge.carried { ", constraint=false" } else { "" };
        let (from, to) = (id(edge.from as usize), id(edge.to as usize));
        let _ = writeln!(out, "    {from} -> {to} [label={}{style}{free}];", quoted(&words(edge)));
    }
    out.push_str("  }\n");
}

/// What a graph is of.
pub(super) fn title(graph: &Graph) -> String {
    let at = format!("{}:{}:{}", short_file(&graph.file), graph.line, graph.column);
    let depth = if graph.depth > 1 { format!(", depth {}", graph.depth) } else { String::new() };
    named(graph.kind, &graph.function, &at) + &depth
}

/// A program, call or loop at a place.
pub(super) fn named(kind: &str, function: &str, at: &str) -> String {
    match kind {
        "program" => format!("{function} (the program)"),
        "call" => format!("{function} called at {at}"),
        _ => format!("loop at {at} in {function}"),
    }
}

/// What a node is.
pub(super) fn name(node: &GraphNode) -> String {
    let what = if node.kind == "loop" { "loop " } else { "" };
    format!("{what}{}:{}\n{} instructions", short_file(&node.file), node.line, number(node.cost))
}

/// What an edge is.
pub(super) fn words(edge: &GraphEdge) -> String {
    let distance = match (edge.carried, edge.distance.min, edge.distance.max) {
        (false, ..) => String::new(),
        (_, min, max) if min == max => format!(", {min} back"),
        (_, min, max) => format!(", {min}-{max} back"),
    };
    let clause = if edge.clause.is_empty() { String::new() } else { format!(" [{}]", edge.clause) };
    let variable = if edge.variable.is_empty() { String::new() } else { format!("{} ", edge.variable) };
    format!("{variable}{}{distance} x{}{clause}", edge.kind, edge.count)
}
