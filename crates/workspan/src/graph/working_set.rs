//! `workspan graph working-set`: how much memory tasks touch, by the call that created them, and which tasks feed which.

use std::cmp::Reverse;

use serde_json::{json, Value};
use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;
use workspan_graph::part::replay;
use workspan_graph::working_set::WorkingSets;

use super::open::{call, open};
use super::sampled::Numbers;
use super::shown::{self, ratio, Answer, Table};
use crate::args::graph::GraphWorkingSet;
use crate::exit::Outcome;

/// What the rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Calls that create contexts.
    Site,
    /// Work tasks.
    Task,
    /// Pairs of tasks, one of which reads what the other has written.
    Feeds,
}

/// Runs the verb.
pub fn run(args: &GraphWorkingSet) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    let by = match (args.tasks, args.feeds) {
        (true, _) => By::Task,
        (_, true) => By::Feeds,
        _ => By::Site,
    };
    shown::write(&args.form, &recording, &answer(&recording, &Graph::of(&recording), args.line, by)?)?;
    Ok(Outcome::OK)
}

/// Working sets in lines of some bytes.
pub fn answer(recording: &Recording, graph: &Graph, line: u64, by: By) -> anyhow::Result<Answer> {
    anyhow::ensure!(
        line.is_power_of_two() && line <= 1 << 20,
        "a line has a power of two of bytes, 1048576 at most: --line 64"
    );
    let mut found = WorkingSets::new(graph, line);
    replay(recording, &mut found)?;
    found.finish(graph);
    let largest = found.sets.values().map(|set| set.lines).max().unwrap_or(0) * line;
    let fed: u64 = found.feeds.values().sum();
    let fields = json!({
        "line_bytes": line, "largest_bytes": largest, "fed_bytes": fed, "complete": recording.complete(),
    });
    let (title, help, head, table) = match by {
        By::Site => (
            "Working sets",
            "Memory that the work tasks touch, in whole cache lines: of the largest task, the mean of all, and of all together, by \
             the call that created their contexts. Fed: what they read and tasks of other calls have written.",
            format!("{} work tasks touch memory, the largest {largest} bytes of it", found.sets.len()),
            sites(recording, &found, line),
        ),
        By::Task => (
            "Working sets of tasks",
            "Memory that each work task touches and writes, in whole cache lines, and what it reads that others have written.",
            format!("{} work tasks touch memory, the largest {largest} bytes of it", found.sets.len()),
            tasks(recording, graph, &found, line),
        ),
        By::Feeds => (
            "Which tasks feed which",
            "Bytes that a work task reads and another has written, each once. Next: between them lie only what creates, joins or \
             synchronises; later: other work, too.",
            format!("{fed} bytes go from one task to another, between {} pairs of tasks", found.feeds.len()),
            feeds(recording, graph, &found),
        ),
    };
    Ok(Answer {
        of: "graph working-set",
        title,
        help,
        head,
        fields,
        table,
        numbers: Numbers::Part,
        ..Answer::default()
    })
}

fn site(recording: &Recording, segment: Option<u32>) -> String {
    match segment {
        None => "start of the program".to_owned(),
        Some(segment) => call(recording, segment).unwrap_or_else(|| "unknown call".to_owned()),
    }
}

fn sites(recording: &Recording, found: &WorkingSets, line: u64) -> Table {
    let mut sites: Vec<_> = found.sites.iter().collect();
    sites.sort_by_key(|(segment, of)| (Reverse(of.lines.len()), **segment));
    let row = |(segment, of): (&Option<u32>, &workspan_graph::working_set::OfSite)| {
        vec![
            json!(of.tasks),
            json!(of.largest * line),
            json!(ratio(of.sum, of.tasks) * ratio(line, 1)),
            json!(of.lines.len() as u64 * line),
            json!(of.fed),
            json!(site(recording, *segment)),
        ]
    };
    Table {
        name: "sites",
        columns: &["tasks", "largest_bytes", "mean_bytes", "together_bytes", "fed_bytes", "created_at"],
        rows: sites.into_iter().map(row).collect(),
    }
}

/// Name of a task, and where its context was created.
fn described(recording: &Recording, graph: &Graph, found: &WorkingSets, task: u32) -> (Value, Value) {
    let Some(task) = graph.tasks.get(task as usize) else {
        return (Value::Null, Value::Null);
    };
    let created = found.created.get(&task.context).copied();
    (json!(format!("{}:{}", task.context, task.sequence)), json!(site(recording, created)))
}

fn tasks(recording: &Recording, graph: &Graph, found: &WorkingSets, line: u64) -> Table {
    let mut sets: Vec<_> = found.sets.iter().collect();
    sets.sort_by_key(|(task, set)| (Reverse(set.lines), **task));
    let rows = sets.into_iter().map(|(task, set)| {
        let (name, site) = described(recording, graph, found, *task);
        vec![json!(set.lines * line), json!(set.written * line), json!(set.fed), name, site]
    });
    Table {
        name: "tasks",
        columns: &["bytes", "written_bytes", "fed_bytes", "task", "created_at"],
        rows: rows.collect(),
    }
}

fn feeds(recording: &Recording, graph: &Graph, found: &WorkingSets) -> Table {
    let mut feeds: Vec<_> = found.feeds.iter().collect();
    feeds.sort_by_key(|(pair, bytes)| (Reverse(**bytes), **pair));
    let rows = feeds.into_iter().map(|((from, to), bytes)| {
        let (writer, writer_site) = described(recording, graph, found, *from);
        let (reader, reader_site) = described(recording, graph, found, *to);
        let next = if graph.is_next(*from, *to) { "next" } else { "later" };
        vec![json!(bytes), writer, reader, json!(next), writer_site, reader_site]
    });
    Table {
        name: "feeds",
        columns: &["bytes", "from", "to", "reader", "from_created_at", "to_created_at"],
        rows: rows.collect(),
    }
}
