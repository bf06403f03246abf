//! SQL over task graphs: the tables of `docs/format/graph.md`.
//!
//! Everything is made from `events.wsg`, which has checksums and a version, so that answers do not depend on whether the Parquet
//! files beside it are there and whole. The graph is built once it is needed; accesses are decoded as they are read, by as many
//! threads as there are processors, and those of one task or context without the chunks of others.

mod accesses;
mod columns;
mod fields;
mod made;
mod shared;

use std::path::Path;
use std::sync::Arc;

use datafusion::execution::context::SessionContext;
use workspan_graph::file::{Recording, NAME};
use workspan_graph::missing::problems;

use shared::Shared;

use crate::views::View;
use crate::{answer, QueryError, Sink};

/// Tables, besides the views.
const TABLES: [&str; 6] = ["tasks", "edges", "blocks", "operations", "accesses", "allocation_events"];

/// Views of a graph.
pub const GRAPH_VIEWS: &[View] = &[View {
    name: "allocations",
    about: "each allocation, with when and by whom it was freed",
    sql: "select address, size, task, context, function, file, line, ticket, \
          case when next = 'free' then next_ticket end as freed_ticket, \
          case when next = 'free' then next_task end as freed_by from \
          (select *, lead(what) over w as next, lead(ticket) over w as next_ticket, lead(task) over w as next_task \
          from allocation_events window w as (partition by address order by ticket)) where what = 'allocate'",
}];

/// True if a folder is a task graph, whole or damaged.
pub fn is_graph(folder: &Path) -> bool {
    folder.join(NAME).is_file()
}

/// A task graph that questions are asked about.
#[derive(Debug)]
pub struct GraphFolder(Arc<Shared>);

impl GraphFolder {
    /// Opens one.
    pub fn open(folder: &Path) -> Result<GraphFolder, QueryError> {
        let recording = Recording::open(&folder.join(NAME)).map_err(|problem| {
            QueryError::Query(format!("cannot read the task graph {}: {problem}", folder.display()))
        })?;
        Ok(GraphFolder(Arc::new(Shared::new(recording))))
    }

    /// What is missing from it, in words.
    pub fn problems(&self) -> Vec<String> {
        let mut found = problems(&self.0.recording);
        found.extend(self.0.recording.sample.map(|sample| {
            format!("the graph is a sample of one of {} cache lines: `accesses` lists no others", sample.one_in)
        }));
        found
    }

    /// Answers a query.
    pub fn run(&self, sql: &str, sink: &mut dyn Sink) -> Result<(), QueryError> {
        let register = async |context: &SessionContext| {
            made::register(context, &self.0)?;
            accesses::register(context, &self.0)
        };
        let names: Vec<&str> = TABLES.into_iter().chain(GRAPH_VIEWS.iter().map(|view| view.name)).collect();
        answer(sql, sink, register, GRAPH_VIEWS).map_err(|error| error.among(&names))
    }
}
