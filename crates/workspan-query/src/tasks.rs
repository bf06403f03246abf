//! The view `tasks`.
//!
//! A task's strands lie scattered, with those of the tasks that it creates between them, and there may be half as many tasks
//! as strands: to group by task, a database keeps all of them. In serial order a stack is enough ([`Totals`]), so this
//! view is made from strands as they are read.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::PartitionStream;
use workspan_store::{Reader, StoreError, Survey, TaskTotals, Totals};

/// The view's name.
pub(crate) const NAME: &str = "tasks";

/// Rows of a batch.
const BATCH: usize = 8192;
/// Batches that wait for whoever takes them.
const WAITING: usize = 2;

/// The view, over the runs of a folder.
pub(crate) fn table(folder: &Path, survey: &Survey) -> Result<StreamingTable, DataFusionError> {
    let schema = schema();
    let run = |(run, strands): &(u32, u64)| -> Arc<dyn PartitionStream> {
        let (folder, runs) = (folder.to_owned(), survey.runs.len());
        Arc::new(Run { folder, run: *run, strands: *strands, runs, schema: Arc::clone(&schema) })
    };
    StreamingTable::try_new(Arc::clone(&schema), survey.runs.iter().map(run).collect())
}

fn schema() -> SchemaRef {
    let long = DataType::Int64;
    let columns = [
        ("run", DataType::Int32),
        ("task", long.clone()),
        ("first_strand", long.clone()),
        ("strands", long.clone()),
        ("work_ns", long.clone()),
        ("blocked_ns", long.clone()),
        ("start_ns", long.clone()),
        ("end_ns", long),
        ("thread", DataType::Int32),
        ("moved", DataType::Boolean),
    ];
    Arc::new(Schema::new(columns.map(|(name, kind)| Field::new(name, kind, false)).to_vec()))
}

/// The tasks of a run.
#[derive(Debug)]
struct Run {
    folder: PathBuf,
    run: u32,
    /// This number of of its strands are as they were written.
    strands: u64,
    /// Runs that are read side by side.
    runs: usize,
    schema: SchemaRef,
}

impl PartitionStream for Run {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.schema), WAITING);
        let (to, schema) = (builder.tx(), Arc::clone(&self.schema));
        let (folder, run, strands, runs) = (self.folder.clone(), self.run, self.strands, self.runs);
        builder.spawn_blocking(move || {
            // Whoever has enough does not take another.
            let mut rows = Rows::new(run, |columns| {
                let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(DataFusionError::from);
                match to.blocking_send(batch) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            });
            let read = Reader::open_among(&folder, run, runs).and_then(|reader| read(reader, strands, &mut rows));
            read.map_err(|error| DataFusionError::External(Box::new(error)))
        });
        builder.build()
    }
}

/// Reads this number of strands, until no more tasks are taken.
fn read<T: FnMut(Vec<ArrayRef>) -> ControlFlow<()>>(
    mut reader: Reader,
    mut left: u64,
    rows: &mut Rows<T>,
) -> Result<(), StoreError> {
    let mut totals = Totals::default();
    while let Some(strands) = reader.next_batch()? {
        let known = usize::try_from(left).map_or(strands.len(), |left| left.min(strands.len()));
        totals.feed(&strands[..known], |task| rows.push(task));
        left -= known as u64;
        if left == 0 || rows.enough {
            break;
        }
    }
    totals.finish(|task| rows.push(task));
    rows.flush();
    Ok(())
}

/// Tasks as columns.
struct Rows<T> {
    run: i32,
    waiting: Vec<TaskTotals>,
    take: T,
    enough: bool,
}

impl<T: FnMut(Vec<ArrayRef>) -> ControlFlow<()>> Rows<T> {
    fn new(run: u32, take: T) -> Rows<T> {
        let run = i32::try_from(run).unwrap_or(i32::MAX);
        Rows { run, waiting: Vec::with_capacity(BATCH), take, enough: false }
    }

    fn push(&mut self, task: &TaskTotals) {
        self.waiting.push(*task);
        if self.waiting.len() == BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let tasks = &self.waiting;
        if !self.enough && !tasks.is_empty() {
            let long = |value: fn(&TaskTotals) -> i64| -> ArrayRef {
                Arc::new(tasks.iter().map(value).collect::<Int64Array>())
            };
            let columns: Vec<ArrayRef> = vec![
                Arc::new(Int32Array::from_value(self.run, tasks.len())),
                long(|task| task.task),
                long(|task| task.first_strand),
                long(|task| task.strands),
                long(|task| task.work.0),
                long(|task| task.blocked.0),
                long(|task| task.start.0),
                long(|task| task.end.0),
                Arc::new(tasks.iter().map(|task| i32::from(task.thread)).collect::<Int32Array>()),
                Arc::new(tasks.iter().map(|task| Some(task.moved)).collect::<BooleanArray>()),
            ];
            self.enough = (self.take)(columns).is_break();
        }
        self.waiting.clear();
    }
}
