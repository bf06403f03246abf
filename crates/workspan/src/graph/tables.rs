//! The tables of a graph: Parquet files in its folder, for SQL and other tools. `docs/format/graph.md` describes them.

use std::path::Path;
use std::thread;

use workspan_graph::file::Recording;
use workspan_graph::graph::{Graph, Task};
use workspan_graph::program::{place, Loaded};
use workspan_store::table::{write as write_table, Column};
use workspan_trace::program::{flag, Access, Segment};

use super::report::counts;

/// Writes all tables, the larger ones side by side: of a program with many tasks, the program's end would else be far from the
/// command's.
pub fn write(folder: &Path, recording: &Recording, graph: &Graph) -> anyhow::Result<()> {
    thread::scope(|scope| {
        let edges = scope.spawn(|| write_table(&folder.join("edges.parquet"), &edges(graph)));
        let tasks = write_table(&folder.join("tasks.parquet"), &tasks(graph));
        edges.join().map_err(|_| anyhow::anyhow!("edges.parquet was not written"))??;
        tasks?;
        write_table(&folder.join("blocks.parquet"), &blocks(recording))?;
        write_table(&folder.join("operations.parquet"), &operations(recording))?;
        Ok(())
    })
}

/// A column of numbers; those that are too large are none.
fn numbers<T: TryInto<i64>>(values: impl Iterator<Item = T>) -> Column {
    Column::Number(values.map(|value| value.try_into().ok()).collect())
}

fn texts(values: impl Iterator<Item = Option<String>>) -> Column {
    Column::Text(values.collect())
}

fn name(task: &Task) -> Option<String> {
    Some(format!("{}:{}", task.context, task.sequence))
}

fn tasks(graph: &Graph) -> Vec<(&'static str, Column)> {
    let mut visited = vec![None; graph.tasks.len()];
    for (position, task) in (0..).zip(graph.order()) {
        visited[task as usize] = Some(position);
    }
    let all = || graph.tasks.iter();
    vec![
        ("task", texts(all().map(name))),
        ("context", numbers(all().map(|task| task.context))),
        ("sequence", numbers(all().map(|task| task.sequence))),
        ("type", texts(all().map(|task| Some(task.kind.letter().to_owned())))),
        ("operation", texts(all().map(|task| task.operation.map(|operation| operation.name().to_owned())))),
        (
            "object",
            Column::Number(all().map(|task| i64::try_from(task.object).ok().filter(|object| *object != 0)).collect()),
        ),
        ("start_ticks", numbers(all().map(|task| task.start))),
        ("end_ticks", numbers(all().map(|task| task.end))),
        ("position", Column::Number(visited)),
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

fn edges(graph: &Graph) -> Vec<(&'static str, Column)> {
    let names: Vec<Option<String>> = graph.tasks.iter().map(name).collect();
    let ends = |end: fn(&(u32, u32)) -> u32| texts(graph.edges.iter().map(|edge| names[end(edge) as usize].clone()));
    vec![("predecessor", ends(|edge| edge.0)), ("successor", ends(|edge| edge.1))]
}

fn blocks(recording: &Recording) -> Vec<(&'static str, Column)> {
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

fn operations(recording: &Recording) -> Vec<(&'static str, Column)> {
    let counts = counts(recording);
    let mut columns: [Vec<Option<i64>>; 5] = Default::default();
    let mut texts: [Vec<Option<String>>; 2] = Default::default();
    for loaded in &recording.program.modules {
        for (id, segment) in (loaded.base..).zip(&loaded.module.segments) {
            for (number, operation) in (segment.first..).zip(loaded.module.operations_of(segment)) {
                let at = place(&loaded.module, operation.place);
                let access = match operation.access {
                    Access::Load => "load",
                    Access::Store => "store",
                    Access::Update => "update",
                };
                texts[0].push(Some(access.to_owned()));
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
