//! The tables `accesses` and `allocation_events`: what is in no summary, and is decoded.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::{Expr, Operator, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::ExecutionPlan;
use workspan_graph::codec::Decoder;
use workspan_graph::tables::{name, Columns};
use workspan_graph::walk::{Deed, Item, Piece};

use super::columns::{schema, Give, Stream, BATCH};
use super::fields::{Field, ACCESSES, ALLOCATIONS};
use super::shared::Shared;
use crate::QueryError;

/// Registers both tables.
pub(super) fn register(context: &SessionContext, shared: &Arc<Shared>) -> Result<(), QueryError> {
    for (name, columns) in [("accesses", ACCESSES), ("allocation_events", ALLOCATIONS)] {
        let empty: Columns = columns.iter().map(|(name, field)| (*name, field.column())).collect();
        let table = Table { shared: Arc::clone(shared), columns, schema: schema(&empty) };
        context.register_table(name, Arc::new(table))?;
    }
    Ok(())
}

/// A table of items.
#[derive(Debug)]
struct Table {
    shared: Arc<Shared>,
    columns: &'static [(&'static str, Field)],
    schema: SchemaRef,
}

type Scan<'s> = Pin<Box<dyn Future<Output = Result<Arc<dyn ExecutionPlan>, DataFusionError>> + Send + 's>>;

impl TableProvider for Table {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>, DataFusionError> {
        let exact = |filter: &&Expr| match Only::of(filter) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(exact).collect())
    }

    /// As the attribute `async_trait` would have it.
    fn scan<'life0, 'life1, 'life2, 'life3, 's>(
        &'life0 self,
        state: &'life1 dyn Session,
        projection: Option<&'life2 Vec<usize>>,
        filters: &'life3 [Expr],
        limit: Option<usize>,
    ) -> Scan<'s>
    where
        'life0: 's,
        'life1: 's,
        'life2: 's,
        'life3: 's,
        Self: 's,
    {
        let only: Vec<Only> = filters.iter().filter_map(Only::of).collect();
        let parts = state.config().target_partitions();
        Box::pin(async move { self.plan(projection, &only, limit, parts) })
    }
}

/// Items of one task or one context.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Only {
    Task(String),
    Context(i64),
}

impl Only {
    /// The filters `task = 'NAME'` and `context = NUMBER`.
    fn of(filter: &Expr) -> Option<Only> {
        let Expr::BinaryExpr(both) = filter else { return None };
        let (column, value) = match (both.op, &*both.left, &*both.right) {
            (Operator::Eq, Expr::Column(column), Expr::Literal(value, _))
            | (Operator::Eq, Expr::Literal(value, _), Expr::Column(column)) => (column, value),
            _ => return None,
        };
        match (column.name.as_str(), value) {
            ("task", ScalarValue::Utf8(Some(name)) | ScalarValue::Utf8View(Some(name))) => {
                Some(Only::Task(name.clone()))
            }
            ("context", ScalarValue::Int64(Some(number))) => Some(Only::Context(*number)),
            _ => None,
        }
    }
}

impl Table {
    fn plan(
        &self,
        projection: Option<&Vec<usize>>,
        only: &[Only],
        limit: Option<usize>,
        parts: usize,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let columns = projection.unwrap_or(&all);
        let fields: Arc<[(&'static str, Field)]> = columns.iter().map(|number| self.columns[*number]).collect();
        let schema = Arc::new(self.schema.project(columns)?);
        let allocations = self.columns == ALLOCATIONS;
        let part = |part: usize| -> Arc<dyn PartitionStream> {
            let (shared, fields, only) = (Arc::clone(&self.shared), Arc::clone(&fields), only.to_vec());
            Arc::new(Stream::new(Arc::clone(&schema), move |give| {
                let rows = Rows { shared: &shared, fields: &fields, allocations, columns: Vec::new(), rows: 0, give };
                rows.read(&only, (part, parts))
            }))
        };
        let streams = (0..parts).map(part).collect();
        Ok(Arc::new(StreamingTableExec::try_new(schema.clone(), streams, None, [], false, limit)?))
    }
}

/// Items as columns.
struct Rows<'s, 'g, 'f> {
    shared: &'s Shared,
    fields: &'s [(&'static str, Field)],
    allocations: bool,
    columns: Columns,
    rows: usize,
    give: &'g mut Give<'f>,
}

impl Rows<'_, '_, '_> {
    /// Reads one of some parts of the chunks.
    fn read(mut self, only: &[Only], (part, parts): (usize, usize)) -> Result<(), String> {
        let (graph, _) = self.shared.graph();
        let walk = self.shared.walk();
        let wanted = |piece: &Piece| {
            only.iter().all(|only| match only {
                Only::Context(number) => i64::from(piece.context) == *number,
                Only::Task(wanted) => {
                    let task = piece.task.and_then(|task| graph.tasks.get(task as usize));
                    task.is_some_and(|task| name(task) == *wanted)
                }
            })
        };
        let chunks = walk.chunks(wanted);
        // Neighbours together: what one begins with may be in the one before.
        let each = chunks.len().div_ceil(parts.max(1));
        let (mut decoder, mut raw) = (Decoder::default(), Vec::new());
        self.clear();
        for number in chunks.into_iter().skip(part * each).take(each) {
            let memory = (&mut decoder, &mut raw);
            let read = walk.read(&self.shared.recording, memory, number, wanted, &mut |item| self.take(&item));
            if read.map_err(|problem| problem.to_string())?.is_break() {
                return Ok(());
            }
        }
        // Whether anybody has enough matters no more.
        let _ = self.flush();
        Ok(())
    }

    fn clear(&mut self) {
        self.columns = self.fields.iter().map(|(name, field)| (*name, field.column())).collect();
        self.rows = 0;
    }

    fn flush(&mut self) -> ControlFlow<()> {
        let rows = self.rows;
        if rows == 0 {
            return ControlFlow::Continue(());
        }
        let columns = std::mem::take(&mut self.columns);
        self.clear();
        (self.give)(columns, rows)
    }

    fn take(&mut self, item: &Item) -> ControlFlow<()> {
        if matches!(item.deed, Deed::Access(..)) == self.allocations {
            return ControlFlow::Continue(());
        }
        for ((_, column), (_, field)) in self.columns.iter_mut().zip(self.fields) {
            field.push(self.shared, item, column);
        }
        self.rows += 1;
        if self.rows == BATCH {
            return self.flush();
        }
        ControlFlow::Continue(())
    }
}
