//! The strands of a small run, and what comes after what, for who draws them.
//!
//! A barrier of a team is a node of its own, which costs nothing, so that n members need 2 n edges and not n².
//!
//! The critical path is that of [`critical_path`]: bold are the strands on it, those that cost nothing between them, and the
//! edges of one longest path through all of these.

use std::ops::ControlFlow;

use workspan_analysis::strands::order::{visit, Order, TaskId, Visitor};
use workspan_analysis::strands::{critical_path, CriticalPath};
use workspan_analysis::Rows;
use workspan_model::{Nanos, Recording, Strand};

/// Strands and barriers with their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Nodes, each after those that come before it in its task.
    pub nodes: Vec<Node>,
    /// Edges, by where they end.
    pub edges: Vec<Edge>,
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The row of the strand, counted from 0, and its task; `None` for a barrier.
    pub strand: Option<(u64, Strand, TaskId)>,
    /// It is on the critical path.
    pub critical: bool,
}

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Node that must be over.
    pub from: usize,
    /// Node that comes after it.
    pub to: usize,
    /// Why.
    pub order: Order,
    /// It is on the critical path.
    pub critical: bool,
}

/// There are more strands than wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Strands.
    pub strands: u64,
}

/// The graph of a run of `recording` with at most `limit` strands.
pub fn graph<R: Rows + ?Sized>(
    recording: &Recording,
    rows: &R,
    limit: usize,
) -> Result<Result<Graph, TooLarge>, R::Error> {
    let mut strands = 0;
    rows.read(&mut |batch| {
        strands += batch.len() as u64;
        ControlFlow::Continue(())
    })?;
    if strands > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Ok(Err(TooLarge { strands }));
    }
    let mut maker = Maker { graph: Graph::default(), path: critical_path(recording, rows)? };
    visit(rows, &mut maker)?;
    let mut graph = maker.graph;
    graph.edges.sort_by_key(|edge| (edge.to, edge.from, edge.order));
    graph.mark();
    Ok(Ok(graph))
}

struct Maker {
    graph: Graph,
    path: CriticalPath,
}

impl Visitor for Maker {
    type End = usize;

    fn strand(&mut self, number: u64, row: &Strand, task: TaskId, after: &[(usize, Order)]) -> usize {
        let to = self.graph.nodes.len();
        let edge = |(from, order): &(usize, Order)| Edge { from: *from, to, order: *order, critical: false };
        self.graph.edges.extend(after.iter().map(edge));
        self.graph.nodes.push(Node { strand: Some((number, *row, task)), critical: self.path.contains(number) });
        to
    }

    fn barrier(&mut self) -> usize {
        self.graph.nodes.push(Node { strand: None, critical: false });
        self.graph.nodes.len() - 1
    }

    fn arrive(&mut self, from: usize, to: usize) {
        self.graph.edges.push(Edge { from, to, order: Order::Join, critical: false });
    }
}

impl Node {
    /// What it takes: cost, and time blocked.
    pub fn takes(&self) -> Nanos {
        self.strand.map_or(Nanos::ZERO, |(_, row, _)| row.cost + row.blocked)
    }
}

impl Graph {
    /// Marks one path through all nodes that are marked, by way of nodes that take no time.
    fn mark(&mut self) {
        let nodes = self.nodes.len();
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        let mut out: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        for (at, edge) in self.edges.iter().enumerate() {
            into[edge.to].push(at);
            out[edge.from].push(edge.to);
        }
        let may = |node: &Node| node.critical || node.takes() == Nanos::ZERO;
        // Marked nodes up to each, itself included, and the edge by which; nodes in topological order.
        let mut best: Vec<(usize, Option<usize>)> = vec![(0, None); nodes];
        let mut waits: Vec<usize> = into.iter().map(Vec::len).collect();
        let mut ready: Vec<usize> = (0..nodes).rev().filter(|node| waits[*node] == 0).collect();
        while let Some(node) = ready.pop() {
            if may(&self.nodes[node]) {
                let from = into[node].iter().filter(|edge| may(&self.nodes[self.edges[**edge].from]));
                let last =
                    from.map(|edge| (best[self.edges[*edge].from].0, Some(*edge))).max_by_key(|(marked, _)| *marked);
                let (marked, edge) = last.unwrap_or((0, None));
                best[node] = (marked + usize::from(self.nodes[node].critical), edge.filter(|_| marked > 0));
            }
            for next in &out[node] {
                waits[*next] -= 1;
                if waits[*next] == 0 {
                    ready.push(*next);
                }
            }
        }
        // It ends with a strand that takes time.
        let end = (0..nodes).filter(|node| self.nodes[*node].critical).max_by_key(|node| best[*node].0);
        let mut at = end;
        while let Some(edge) = at.and_then(|node| best[node].1) {
            self.edges[edge].critical = true;
            let from = self.edges[edge].from;
            self.nodes[from].critical = true;
            at = Some(from);
        }
    }
}
