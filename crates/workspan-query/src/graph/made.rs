//! The tables `tasks`, `edges`, `blocks` and `operations`.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use datafusion::catalog::streaming::StreamingTable;
use datafusion::execution::context::SessionContext;
use workspan_graph::graph::Graph;
use workspan_graph::tables::{blocks, edges, operations, tasks, Columns};

use super::columns::{schema, Give, Stream, BATCH};
use super::shared::Shared;
use crate::QueryError;

/// The tables, made when they are read.
pub(super) fn register(context: &SessionContext, shared: &Arc<Shared>) -> Result<(), QueryError> {
    let none = Graph::default();
    let of_tasks = |shared: &Shared, give: &mut Give<'_>| {
        let (graph, positions) = shared.graph();
        in_batches(graph.tasks.len(), |rows| tasks(graph, positions, rows), give);
    };
    let of_edges = |shared: &Shared, give: &mut Give<'_>| {
        let (graph, _) = shared.graph();
        in_batches(graph.edges.len(), |rows| edges(graph, rows), give);
    };
    let of_blocks = |shared: &Shared, give: &mut Give<'_>| at_once(blocks(&shared.recording), give);
    let of_operations = |shared: &Shared, give: &mut Give<'_>| at_once(operations(&shared.recording), give);
    add(context, shared, "tasks", &tasks(&none, &[], 0..0), of_tasks)?;
    add(context, shared, "edges", &edges(&none, 0..0), of_edges)?;
    add(context, shared, "blocks", &blocks(&shared.recording), of_blocks)?;
    add(context, shared, "operations", &operations(&shared.recording), of_operations)
}

fn add(
    context: &SessionContext,
    shared: &Arc<Shared>,
    name: &str,
    columns: &Columns,
    make: impl Fn(&Shared, &mut Give<'_>) + Send + Sync + 'static,
) -> Result<(), QueryError> {
    let (schema, shared) = (schema(columns), Arc::clone(shared));
    let stream = Stream::new(Arc::clone(&schema), move |give| {
        make(&shared, give);
        Ok(())
    });
    context.register_table(name, Arc::new(StreamingTable::try_new(schema, vec![Arc::new(stream)])?))?;
    Ok(())
}

fn in_batches(all: usize, rows: impl Fn(Range<usize>) -> Columns, give: &mut Give<'_>) {
    for first in (0..all).step_by(BATCH) {
        let end = all.min(first + BATCH);
        if give(rows(first..end), end - first).is_break() {
            return;
        }
    }
}

fn at_once(columns: Columns, give: &mut Give<'_>) {
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    let _: ControlFlow<()> = give(columns, rows);
}
