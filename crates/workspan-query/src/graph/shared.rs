//! A task graph that all tables are made of.

use std::sync::OnceLock;

use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;
use workspan_graph::tables::positions;
use workspan_graph::walk::Walk;

/// A recording, and what is made of it once.
#[derive(Debug)]
pub(super) struct Shared {
    /// The recording.
    pub(super) recording: Recording,
    graph: OnceLock<(Graph, Vec<Option<i64>>)>,
    walk: OnceLock<Walk>,
}

impl Shared {
    /// Before anything is made.
    pub(super) fn new(recording: Recording) -> Shared {
        Shared { recording, graph: OnceLock::new(), walk: OnceLock::new() }
    }

    /// The graph, and where a traversal visits each task.
    pub(super) fn graph(&self) -> &(Graph, Vec<Option<i64>>) {
        self.graph.get_or_init(|| {
            let graph = Graph::of(&self.recording);
            let positions = positions(&graph);
            (graph, positions)
        })
    }

    /// Whose events each chunk holds.
    pub(super) fn walk(&self) -> &Walk {
        self.walk.get_or_init(|| Walk::new(&self.recording, &self.graph().0))
    }
}
