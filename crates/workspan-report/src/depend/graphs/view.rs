//! What anybody sees of the graphs.

use schemars::JsonSchema;
use serde::Serialize;

use super::super::points::{rename, Distance, Point};

/// The critical path of the program, and of each call site and loop.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CriticalPaths {
    /// Instructions.
    pub work: u64,
    /// If each line waits for the lines that it depends on; all below is of this path.
    pub lines_as_tasks: Span,
    /// If iterations wait for whole iterations.
    pub iterations_as_tasks: Span,
    /// Lines that the critical path of the program runs through, the costliest first.
    pub lines: Vec<PathLine>,
    /// Graphs, the one with the largest part of the program's critical path first.
    pub graphs: Vec<Graph>,
    /// Graphs beyond the first 1000, which are not in the list.
    pub left_out: u64,
}

/// A critical path, from means: see `docs/methods/dependences.md`.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Span {
    /// Instructions of the critical path.
    pub span: u64,
    /// Work divided by span.
    pub parallelism: f64,
}

impl CriticalPaths {
    /// The same for a reader in `folder`.
    pub(in crate::depend) fn read_in(&mut self, folder: &str) {
        for each in &mut self.lines {
            rename(&mut each.file, folder);
            if let Some(held) = &mut each.held_by {
                let points = [&mut held.source].into_iter().chain(&mut held.carried_by);
                points.for_each(|point| rename(&mut point.file, folder));
            }
        }
        for each in &mut self.graphs {
            rename(&mut each.file, folder);
            each.nodes.iter_mut().for_each(|node| rename(&mut node.file, folder));
        }
    }
}

/// A line on the critical path of the program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PathLine {
    /// Source file.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Function.
    pub function: String,
    /// Its own instructions on the critical path.
    pub cost: u64,
    /// Their share of the span.
    pub share: f64,
    /// What held it most often: the dependence into it that the path takes.
    pub held_by: Option<Held>,
}

/// A dependence that the critical path takes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Held {
    /// `RAW`, `WAR`, `WAW`, `control`.
    pub kind: String,
    /// Variable.
    pub variable: String,
    /// Where it comes from.
    pub source: Point,
    /// The loop that carries it; null: none does.
    pub carried_by: Option<Point>,
}

/// The graph of a call site, of a loop, or of the function that the program begins with.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Graph {
    /// Its name in this report.
    pub id: String,
    /// `program`, `call` or `loop`.
    pub kind: &'static str,
    /// Source file of the call or loop; empty for the program.
    pub file: String,
    /// Line of the call or loop.
    pub line: u32,
    /// Column of the call or loop.
    pub column: u32,
    /// The function whose lines it has.
    pub function: String,
    /// How many calls of the function were running; the greatest stands for all deeper ones.
    pub depth: u32,
    /// The graph around a loop, or that calls; null for the program.
    pub within: Option<String>,
    /// Calls, or executions of the loop.
    pub entries: u64,
    /// Iterations in all executions, with the last look at the condition; of calls: calls.
    pub iterations: u64,
    /// Instructions of one execution, on average.
    pub work: f64,
    /// Instructions on the critical path of one execution, on average.
    pub span: f64,
    /// Work divided by span.
    pub parallelism: f64,
    /// Executions that lie on the critical path of the program.
    pub on_path: f64,
    /// Lines and inner loops, in the order of their first execution.
    pub nodes: Vec<GraphNode>,
    /// Dependences between them.
    pub edges: Vec<GraphEdge>,
}

/// A line, or an inner loop as a whole.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GraphNode {
    /// `line` or `loop`.
    pub kind: &'static str,
    /// Source file.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Executions, in all executions of the graph.
    pub count: u64,
    /// Instructions of one execution on the critical path: its own, and the spans of what it calls.
    pub cost: f64,
    /// How often the critical path of one execution of the graph runs through it.
    pub times: f64,
    /// Graphs of what it calls, or of the loop.
    pub opens: Vec<String>,
}

/// A dependence between nodes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GraphEdge {
    /// The earlier node, counted from 0.
    pub from: u32,
    /// The later one.
    pub to: u32,
    /// `RAW`, `WAR`, `WAW`; `control`: all of the next iteration waits for the condition.
    pub kind: String,
    /// Variable.
    pub variable: String,
    /// The loop carries it.
    pub carried: bool,
    /// Iterations between them.
    pub distance: Distance,
    /// How often it was seen, in all calls of the function.
    pub count: u64,
    /// What takes it away, so that it holds nothing: `linear`, `private` or `reduction`; empty: it holds.
    pub clause: &'static str,
    /// How often the critical path of one execution of the graph takes it.
    pub times: f64,
}
