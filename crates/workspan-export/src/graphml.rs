//! GraphML: XML that yEd, Cytoscape, Gephi and igraph read. The same graph as [`dot`](mod@crate::dot), with everything that is
//! known of a strand as data of its node.

use std::io::{self, Write};

use workspan_model::Recording;

use crate::chrome::order;
use crate::graph::{Graph, Node};
use crate::names;

/// Data of nodes and edges: what it is of, its name, its type.
const KEYS: [(&str, &str, &str); 15] = [
    ("node", "label", "string"),
    ("node", "site", "string"),
    ("node", "file", "string"),
    ("node", "line", "int"),
    ("node", "context", "int"),
    ("node", "strand", "long"),
    ("node", "task", "long"),
    ("node", "cost_ns", "long"),
    ("node", "blocked_ns", "long"),
    ("node", "start_ns", "long"),
    ("node", "thread", "int"),
    ("node", "barrier", "boolean"),
    ("node", "critical", "boolean"),
    ("edge", "order", "string"),
    ("edge", "critical", "boolean"),
];

/// Writes the graph of a run of `recording`.
pub fn write(recording: &Recording, graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
    for (of, name, kind) in KEYS {
        writeln!(out, "  <key id=\"{of}-{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>")?;
    }
    writeln!(out, "  <graph id=\"run\" edgedefault=\"directed\">")?;
    writeln!(out, "    <desc>{}</desc>", escaped(&names::program(recording)))?;
    let names = names::contexts(recording);
    for (at, node) in graph.nodes.iter().enumerate() {
        writeln!(out, "    <node id=\"n{at}\">")?;
        for (name, value) in node_data(recording, &names, node) {
            writeln!(out, "      <data key=\"node-{name}\">{}</data>", escaped(&value))?;
        }
        writeln!(out, "    </node>")?;
    }
    for edge in &graph.edges {
        writeln!(
            out,
            "    <edge source=\"n{}\" target=\"n{}\"><data key=\"edge-order\">{}</data><data \
             key=\"edge-critical\">{}</data></edge>",
            edge.from,
            edge.to,
            order(edge.order),
            edge.critical
        )?;
    }
    writeln!(out, "  </graph>\n</graphml>")
}

fn node_data(recording: &Recording, names: &[String], node: &Node) -> Vec<(&'static str, String)> {
    let mut data = vec![("barrier", node.strand.is_none().to_string()), ("critical", node.critical.to_string())];
    let Some((number, row, task)) = node.strand else {
        return data;
    };
    let site = recording.contexts.site(row.context).and_then(|site| recording.sites.get(site.0 as usize));
    if let Some(site) = site {
        data.push(("site", site.stable_id(&recording.sites)));
        data.push(("file", site.file.clone()));
        data.push(("line", site.line.to_string()));
    }
    data.extend([
        ("label", names.get(row.context.index()).or(names.first()).cloned().unwrap_or_default()),
        ("context", row.context.0.to_string()),
        ("strand", number.to_string()),
        ("task", task.0.to_string()),
        ("cost_ns", row.cost.0.to_string()),
        ("blocked_ns", row.blocked.0.to_string()),
        ("start_ns", row.start.0.to_string()),
        ("thread", row.thread.to_string()),
    ]);
    data
}

/// Text of an element. XML 1.0 has no way to write most control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
