//! Columns of a graph as a stream of batches.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::PartitionStream;
use workspan_graph::tables::{Column, Columns};

/// Rows of a batch.
pub(super) const BATCH: usize = 8192;
/// Batches that wait for whoever takes them.
const WAITING: usize = 2;

/// Gives away batches of columns, until no more are taken.
pub(super) type Give<'g> = dyn FnMut(Columns, usize) -> ControlFlow<()> + 'g;

/// Makes columns.
type Make = dyn Fn(&mut Give<'_>) -> Result<(), String> + Send + Sync;

/// Rows that are made as they are read.
#[derive(Clone)]
pub(super) struct Stream {
    schema: SchemaRef,
    make: Arc<Make>,
}

impl Stream {
    /// Of columns of this schema.
    pub(super) fn new(
        schema: SchemaRef,
        make: impl Fn(&mut Give<'_>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Stream {
        Stream { schema, make: Arc::new(make) }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl PartitionStream for Stream {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.schema), WAITING);
        let (to, stream) = (builder.tx(), self.clone());
        builder.spawn_blocking(move || {
            let made = (stream.make)(&mut |columns, rows| {
                let columns: Vec<ArrayRef> = columns.into_iter().map(|(_, column)| array(column)).collect();
                let options = RecordBatchOptions::new().with_row_count(Some(rows));
                let batch = RecordBatch::try_new_with_options(Arc::clone(&stream.schema), columns, &options);
                match to.blocking_send(batch.map_err(DataFusionError::from)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            });
            made.map_err(DataFusionError::Execution)
        });
        builder.build()
    }
}

/// The schema of columns.
pub(super) fn schema(columns: &Columns) -> SchemaRef {
    let field = |(name, column): &(&str, Column)| {
        let kind = match column {
            Column::Number(_) => DataType::Int64,
            Column::Text(_) => DataType::Utf8,
        };
        Field::new(*name, kind, true)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

fn array(column: Column) -> ArrayRef {
    match column {
        Column::Number(values) => Arc::new(Int64Array::from(values)),
        Column::Text(values) => Arc::new(StringArray::from_iter(values)),
    }
}
