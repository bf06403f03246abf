//! Graphviz's language. Strands are boxes with their site and what they take, barriers points; the critical path is bold.

use std::io::{self, Write};

use workspan_analysis::strands::order::Order;
use workspan_model::{Nanos, Recording};

use crate::graph::Graph;
use crate::names;

/// Writes the graph of a run of `recording`.
pub fn write(recording: &Recording, graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let names = names::contexts(recording);
    writeln!(out, "digraph {} {{", quoted(&names::program(recording)))?;
    writeln!(out, "  node [shape=box, fontname=\"sans-serif\", fontsize=10];")?;
    for (at, node) in graph.nodes.iter().enumerate() {
        let bold = if node.critical { ", color=red, penwidth=2" } else { "" };
        let Some((_, row, _)) = node.strand else {
            writeln!(out, "  n{at} [shape=point{bold}];")?;
            continue;
        };
        let name = names.get(row.context.index()).or(names.first()).map_or("", String::as_str);
        let label = match row.blocked {
            Nanos::ZERO => format!("{name}\n{}", row.cost),
            blocked => format!("{name}\n{}, blocked {blocked}", row.cost),
        };
        writeln!(out, "  n{at} [label={}{bold}];", quoted(&label))?;
    }
    for edge in &graph.edges {
        let style = match edge.order {
            Order::Continue => "weight=4",
            Order::Spawn => "color=blue",
            Order::Join => "style=dashed",
            Order::Depend => "style=dotted",
            Order::Wake => "color=red",
        };
        let bold = if edge.critical { ", color=red, penwidth=3" } else { "" };
        // The colour that comes last counts.
        writeln!(out, "  n{} -> n{} [{style}{bold}];", edge.from, edge.to)?;
    }
    writeln!(out, "}}")
}

/// Within quotes a backslash begins an escape of the label's own language, so it is doubled.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
