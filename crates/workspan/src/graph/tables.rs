//! The tables of a graph: Parquet files in its folder, for SQL and other tools. `docs/format/graph.md` describes them.

use std::path::Path;
use std::thread;

use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;
use workspan_graph::tables::{blocks, edges, operations, positions, tasks, Column, Columns};
use workspan_store::table::{write as write_table, Column as Stored};
use workspan_store::StoreError;

/// Writes all tables, the larger ones side by side: of a program with many tasks, the program's end would else be far from the
/// command's.
pub fn write(folder: &Path, recording: &Recording, graph: &Graph) -> anyhow::Result<()> {
    let table = |name: &str, columns: Columns| write_one(&folder.join(name), columns);
    thread::scope(|scope| {
        let edges = scope.spawn(|| table("edges.parquet", edges(graph, 0..graph.edges.len())));
        let tasks = table("tasks.parquet", tasks(graph, &positions(graph), 0..graph.tasks.len()));
        edges.join().map_err(|_| anyhow::anyhow!("edges.parquet was not written"))??;
        tasks?;
        table("blocks.parquet", blocks(recording))?;
        table("operations.parquet", operations(recording))?;
        Ok(())
    })
}

fn write_one(path: &Path, columns: Columns) -> Result<(), StoreError> {
    let stored = |(name, column)| match column {
        Column::Number(values) => (name, Stored::Number(values)),
        Column::Text(values) => (name, Stored::Text(values)),
    };
    write_table(path, &columns.into_iter().map(stored).collect::<Vec<_>>())
}
