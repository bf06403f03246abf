//! `workspan graph export`: graphs for other tools.

use std::fmt::Write;

use serde_json::json;
use workspan_graph::graph::{Graph, Task, Type};

use super::open::open;
use crate::args::graph::{GraphExport, GraphFormat};
use crate::exit::Outcome;
use crate::output;

/// Runs the verb.
pub fn run(args: &GraphExport) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    let graph = Graph::of(&recording);
    if args.format != GraphFormat::Perfetto && graph.tasks.len() > args.limit {
        output::note(&format!(
            "the graph has {} tasks: only the {} that come first are written (--limit N writes more)",
            graph.tasks.len(),
            args.limit
        ));
    }
    let text = match args.format {
        GraphFormat::Dot => dot(&graph, args.limit),
        GraphFormat::Graphml => graphml(&graph, args.limit),
        GraphFormat::Perfetto => perfetto(&graph, recording.meta.ticks_per_second),
    };
    match &args.output {
        Some(path) => {
            std::fs::write(path, text).map_err(|error| anyhow::anyhow!("cannot write {}: {error}", path.display()))?
        }
        None => output::data(&text)?,
    }
    Ok(Outcome::OK)
}

fn name(task: &Task) -> String {
    format!("{}:{}", task.context, task.sequence)
}

/// The tasks that come first in the traversal.
fn first(graph: &Graph, limit: usize) -> Vec<u32> {
    graph.order().into_iter().take(limit).collect()
}

/// Edges among some tasks.
fn edges<'g>(graph: &'g Graph, tasks: &[u32]) -> impl Iterator<Item = (u32, u32)> + 'g {
    let shown: std::collections::HashSet<u32> = tasks.iter().copied().collect();
    graph.edges.iter().copied().filter(move |(from, to)| shown.contains(from) && shown.contains(to))
}

/// Work tasks are ovals with their names, the others black squares with their letter, as in Contech's figures.
fn dot(graph: &Graph, limit: usize) -> String {
    let mut text = String::from("digraph tasks {\n  node [fontname=\"sans-serif\"];\n");
    text.push_str(
        "  subgraph cluster_legend {\n    label=\"legend\";\n    legend_w [label=\"context:sequence\", shape=oval];\n",
    );
    for (letter, meaning) in [("C", "create"), ("J", "join"), ("S", "sync"), ("B", "barrier")] {
        let _ = writeln!(text, "    legend_{letter} [label=\"{letter}: {meaning}\", {SQUARE}];");
    }
    text.push_str("  }\n");
    let tasks = first(graph, limit);
    for number in &tasks {
        let task = &graph.tasks[*number as usize];
        let _ = match task.kind {
            Type::Work => writeln!(text, "  t{number} [label=\"{}\", shape=oval];", name(task)),
            kind => writeln!(text, "  t{number} [label=\"{}\", {SQUARE}, tooltip=\"{}\"];", kind.letter(), name(task)),
        };
    }
    for (from, to) in edges(graph, &tasks) {
        let _ = writeln!(text, "  t{from} -> t{to};");
    }
    text.push_str("}\n");
    text
}

const SQUARE: &str = "shape=square, style=filled, fillcolor=black, fontcolor=white";

fn graphml(graph: &Graph, limit: usize) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    for (key, kind) in [("type", "string"), ("start", "long"), ("end", "long"), ("loads", "long"), ("stores", "long")] {
        let _ = writeln!(text, "  <key id=\"{key}\" for=\"node\" attr.name=\"{key}\" attr.type=\"{kind}\"/>");
    }
    text.push_str("  <graph edgedefault=\"directed\">\n");
    let tasks = first(graph, limit);
    for number in &tasks {
        let task = &graph.tasks[*number as usize];
        let data = |key: &str, value: &dyn std::fmt::Display| format!("<data key=\"{key}\">{value}</data>");
        let fields = [
            data("type", &task.kind.letter()),
            data("start", &task.start),
            data("end", &task.end),
            data("loads", &task.tally.loads),
            data("stores", &task.tally.stores),
        ];
        let _ = writeln!(text, "    <node id=\"{}\">{}</node>", name(task), fields.concat());
    }
    for (from, to) in edges(graph, &tasks) {
        let [from, to] = [from, to].map(|task| name(&graph.tasks[task as usize]));
        let _ = writeln!(text, "    <edge source=\"{from}\" target=\"{to}\"/>");
    }
    text.push_str("  </graph>\n</graphml>\n");
    text
}

/// Chrome's trace format, which Perfetto reads: a track for each context.
#[expect(clippy::cast_precision_loss, reason = "microseconds that are drawn")]
fn perfetto(graph: &Graph, rate: u64) -> String {
    let micros = |ticks: u64| ticks as f64 * 1e6 / rate.max(1) as f64;
    let event = |task: &Task| {
        let what = task.operation.map_or(task.kind.letter(), |operation| operation.name());
        json!({
            "name": format!("{what} {}", name(task)), "cat": task.kind.letter(), "ph": "X", "pid": 0, "tid": task.context,
            "ts": micros(task.start), "dur": micros(task.end.saturating_sub(task.start)),
            "args": { "loads": task.tally.loads, "stores": task.tally.stores, "bytes": task.tally.bytes, "blocks": task.tally.blocks },
        })
    };
    let events: Vec<_> = graph.tasks.iter().filter(|task| task.end > task.start).map(event).collect();
    format!("{}\n", json!({ "traceEvents": events }))
}
