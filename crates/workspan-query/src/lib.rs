//! SQL over strands and task graphs, by [DataFusion](https://datafusion.apache.org).
//!
//! Of [task graphs](GraphFolder) the tables are those of `docs/format/graph.md`. Of strands they are those of `docs/format/strands.md`, and a few [views](VIEWS), of which [`mod@tasks`] is no query. A query may only read. Its answer is written row
//! by row, so that memory is bounded whatever it is: by [`MEMORY`] for the query itself, which then goes to disk where it
//! can.
//!
//! **Invariant:** files are read only when they are as they were written ([`workspan_store::survey()`]).

mod cells;
mod error;
mod graph;
mod plain;
mod tables;
mod tasks;
mod views;

use std::io;
use std::path::Path;
use std::sync::Arc;

use datafusion::execution::context::{SQLOptions, SessionConfig, SessionContext};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use futures::StreamExt;
use workspan_store::Survey;

use plain::PlainFolder;

pub use cells::{Cell, Column};
pub use error::QueryError;
pub use graph::{is_graph, GraphFolder, GRAPH_VIEWS};
pub use views::{View, VIEWS};

/// Most memory that a query takes, in bytes.
pub const MEMORY: usize = 2 << 30;

/// Receives the answer.
pub trait Sink {
    /// Its columns, before all rows.
    fn columns(&mut self, columns: &[Column]) -> io::Result<()>;

    /// A row.
    fn row(&mut self, cells: &[Cell]) -> io::Result<()>;
}

/// Answers a query over the strands in a folder; `survey` says which files there are.
pub fn run(folder: &Path, survey: &Survey, sql: &str, sink: &mut dyn Sink) -> Result<(), QueryError> {
    let plain = PlainFolder::open(folder).map_err(QueryError::Output)?;
    let register = async |context: &SessionContext| tables::register(context, plain.path(), survey).await;
    let names: Vec<&str> =
        views::TABLES.into_iter().chain(VIEWS.iter().map(|view| view.name)).chain([tasks::NAME]).collect();
    answer(sql, sink, register, VIEWS).map_err(|error| error.among(&names))
}

/// Answers a query over what `register` registers, and views of that.
fn answer(
    sql: &str,
    sink: &mut dyn Sink,
    register: impl AsyncFnOnce(&SessionContext) -> Result<(), QueryError>,
    views: &[View],
) -> Result<(), QueryError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().map_err(QueryError::Output)?;
    runtime.block_on(async {
        let config = SessionConfig::new().with_information_schema(true);
        let memory = Arc::new(FairSpillPool::new(MEMORY));
        let environment = RuntimeEnvBuilder::new().with_memory_pool(memory).build_arc()?;
        let context = SessionContext::new_with_config_rt(config, environment);
        register(&context).await?;
        for view in views {
            let frame = context.sql(view.sql).await?;
            context.register_table(view.name, frame.into_view())?;
        }
        let only_read = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        let frame = context.sql_with_options(sql, only_read).await?;
        let mut batches = frame.execute_stream().await?;
        sink.columns(&cells::columns(&batches.schema())).map_err(QueryError::Output)?;
        let mut row = Vec::new();
        while let Some(batch) = batches.next().await {
            let batch = batch?;
            let readers = cells::readers(&batch)?;
            for index in 0..batch.num_rows() {
                row.clear();
                row.extend(readers.iter().map(|reader| reader.cell(index)));
                sink.row(&row).map_err(QueryError::Output)?;
            }
        }
        Ok(())
    })
}
