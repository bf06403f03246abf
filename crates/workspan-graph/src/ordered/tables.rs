//! The tables of a graph: tasks, edges, basic blocks, operations. `docs/format/graph.md` describes the columns.

use std::collections::BTreeMap;
use std::ops::Range;

use workspan_trace::program::{flag, Access, Segment};

use crate::file::Recording;
use crate::graph::{Graph, Task};
use crate::program::{place, Loaded};

/// A column; a row may have no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Numbers.
    Number(Vec<Option<i64>>),
    /// Texts.
    Text(Vec<Option<String>>),
}

impl Column {
    /// Rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Number(values) => values.len(),
            Column::Text(values) => values.len(),
        }
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Columns with their names.
pub type Columns = Vec<(&'static str, Column)>;

/// A column of numbers; those that are too large are none.
fn numbers<T: TryInto<i64>>(values: impl Iterator<Item = T>) -> Column {
    Column::Number(values.map(|value| value.try_into().ok()).collect())
}

fn texts(values: impl Iterator<Item = Option<String>>) -> Column {
    Column::Text(values.collect())
}

/// A task's name.
pub fn name(task: &Task) -> String {
    format!("{}:{}", task.context, task.sequence)
}

/// How a column calls an access.
pub fn access(access: Access) -> &'static str {
    match access {
        Access::Load => "load",
        Access::Store => "store",
        Access::Update => "update",
    }
}

/// Where a traversal of the graph visits each task; nowhere if damage has made a circle.
pub fn positions(graph: &Graph) -> Vec<Option<i64>> {
    let mut visited = vec![None; graph.tasks.len()];
    for (position, task) in (0..).zip(graph.order()) {
        visited[task as usize] = Some(position);
    }
    visited
}

/// Some of the tasks, with the [`positions`] of all.
pub fn tasks(graph: &Graph, positions: &[Option<i64>], rows: Range<usize>) -> Columns {
    let tasks = graph.tasks.get(rows.clone()).unwrap_or_default();
    let all = || tasks.iter();
    let object = |task: &Task| i64::try_from(task.object).ok().filter(|object| *object != 0);
    vec![
        ("task", texts(all().map(|task| Some(name(task))))),
        ("context", numbers(all().map(|task| task.context))),
        ("sequence", numbers(all().map(|task| task.sequence))),
        ("type", texts(all().map(|task| Some(task.kind.letter().to_owned())))),
        ("operation", texts(all().map(|task| task.operation.map(|operation| operation.name().to_owned())))),
        ("object", Column::Number(all().map(object).collect())),
        ("start_ticks", numbers(all().map(|task| task.start))),
        ("end_ticks", numbers(all().map(|task| task.end))),
        ("position", Column::Number(positions.get(rows).unwrap_or_default().to_vec())),
        ("segments", numbers(all().map(|task| task.tally.segments))),
        ("blocks", numbers(all().map(|task| task.tally.blocks))),
        ("loads", numbers(all().map(|task| task.tally.loads))),
        ("stores", numbers(all().map(|task| task.tally.stores))),
        ("bytes", numbers(all().map(|task| task.tally.bytes))),
        ("thread", numbers(all().map(|task| task.at.0))),
        ("chunk", numbers(all().map(|task| task.at.1))),
        ("event", numbers(all().map(|task| task.at.2))),
    ]
}

/// Some of the edges.
pub fn edges(graph: &Graph, rows: Range<usize>) -> Columns {
    let edges = graph.edges.get(rows).unwrap_or_default();
    let end = |task: u32| graph.tasks.get(task as usize).map(name);
    vec![
        ("predecessor", texts(edges.iter().map(|edge| end(edge.0)))),
        ("successor", texts(edges.iter().map(|edge| end(edge.1)))),
    ]
}

/// How often each segment was executed.
pub fn counts(recording: &Recording) -> BTreeMap<u32, u64> {
    let mut counts = BTreeMap::new();
    for (id, count) in recording.chunks.iter().flat_map(|chunk| &chunk.summary.counts) {
        let sum: &mut u64 = counts.entry(*id).or_default();
        *sum = sum.saturating_add(*count);
    }
    counts
}

/// The basic blocks of the program.
pub fn blocks(recording: &Recording) -> Columns {
    let counts = counts(recording);
    let program = &recording.program;
    let segments: Vec<(u32, &Loaded, &Segment)> = program
        .modules
        .iter()
        .flat_map(|loaded| (loaded.base..).zip(&loaded.module.segments).map(move |(id, segment)| (id, loaded, segment)))
        .filter(|(.., segment)| segment.flags & flag::BLOCK != 0)
        .collect();
    let all = || segments.iter();
    let function = |loaded: &Loaded, segment: &Segment| {
        loaded.module.functions.get(segment.function as usize).map(|function| function.name.clone())
    };
    let at = |loaded: &Loaded, segment: &Segment| {
        place(&loaded.module, segment.place).map(|(file, line)| (file.to_owned(), line))
    };
    vec![
        ("segment", numbers(all().map(|(id, ..)| *id))),
        ("module", texts(all().map(|(_, loaded, _)| Some(loaded.module.name.clone())))),
        ("function", texts(all().map(|(_, loaded, segment)| function(loaded, segment)))),
        ("block", numbers(all().map(|(.., segment)| segment.block))),
        ("file", texts(all().map(|(_, loaded, segment)| at(loaded, segment).map(|at| at.0)))),
        ("line", Column::Number(all().map(|(_, loaded, segment)| at(loaded, segment).map(|at| at.1.into())).collect())),
        ("runs", numbers(all().map(|(id, ..)| counts.get(id).copied().unwrap_or(0)))),
    ]
}

/// The accesses of the program's text.
pub fn operations(recording: &Recording) -> Columns {
    let counts = counts(recording);
    let mut columns: [Vec<Option<i64>>; 5] = Default::default();
    let mut texts: [Vec<Option<String>>; 2] = Default::default();
    for loaded in &recording.program.modules {
        for (id, segment) in (loaded.base..).zip(&loaded.module.segments) {
            for (number, operation) in (segment.first..).zip(loaded.module.operations_of(segment)) {
                let at = place(&loaded.module, operation.place);
                texts[0].push(Some(access(operation.access).to_owned()));
                texts[1].push(at.map(|(file, _)| file.to_owned()));
                let runs = counts.get(&id).and_then(|count| i64::try_from(*count).ok()).unwrap_or(0);
                let values = [
                    Some(id.into()),
                    Some(number.into()),
                    Some(operation.size.into()),
                    at.map(|at| at.1.into()),
                    Some(runs),
                ];
                for (column, value) in columns.iter_mut().zip(values) {
                    column.push(value);
                }
            }
        }
    }
    let [segments, numbers, sizes, lines, runs] = columns.map(Column::Number);
    let [accesses, files] = texts.map(Column::Text);
    vec![
        ("segment", segments),
        ("operation", numbers),
        ("access", accesses),
        ("size", sizes),
        ("file", files),
        ("line", lines),
        ("runs", runs),
    ]
}
