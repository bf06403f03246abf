//! `workspan graph report`: tasks of each type, what they executed and touched, the functions that did most.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{json, Value};
use workspan_graph::file::Recording;
use workspan_graph::graph::{Graph, Type};
use workspan_graph::messages::identity;
use workspan_graph::missing::problems;
use workspan_graph::tables::counts;
use workspan_report::place;
use workspan_symbols::function_of_symbol;
use workspan_trace::program::flag;

use super::open::open;
use super::sampled;
use super::shown::{self, Answer, Table};
use crate::args::graph::GraphReport;
use crate::exit::Outcome;
use crate::table::{self, Align};
use crate::time;

/// Runs the verb, but for pages, which [`super::page`] writes.
pub fn run(args: &GraphReport) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    let graph = Graph::of(&recording);
    shown::write(&args.form, &recording, &answer(&args.folder, &recording, &graph, args.form.top))?;
    Ok(Outcome::OK)
}

/// Tasks, accesses and functions; the text shows the first of these.
pub fn answer(folder: &Path, recording: &Recording, graph: &Graph, most: usize) -> Answer {
    let functions = functions(recording);
    let text = as_text(recording, graph, &functions, most);
    let row = |(name, calls, runs): (String, u64, u64)| vec![json!(calls), json!(runs), json!(name)];
    Answer {
        of: "graph report",
        title: "Tasks",
        help: "Functions by the basic blocks that ran in them.",
        head: kinds(graph) + "\n" + &in_a_line(recording, graph),
        fields: as_json(folder, recording, graph),
        table: Table {
            name: "functions",
            columns: &["calls", "blocks_run", "function"],
            rows: functions.into_iter().map(row).collect(),
        },
        text: Some(text),
        ..Answer::default()
    }
}

/// How many tasks are of each type.
fn kinds(graph: &Graph) -> String {
    let kinds = [Type::Work, Type::Create, Type::Join, Type::Sync, Type::Barrier];
    let names = ["work", "create", "join", "sync", "barrier"];
    let tasks: Vec<String> =
        names.iter().zip(kinds).map(|(name, kind)| format!("{} {name}", graph.count(kind))).collect();
    tasks.join(", ")
}

/// Basic blocks in the program, and those that were executed at least once.
fn blocks(recording: &Recording) -> (u64, u64) {
    let begins = |id: u32| recording.program.entry(id).is_some_and(|entry| entry.block);
    let executed = counts(recording).keys().filter(|id| begins(**id)).count();
    (recording.program.blocks(), executed as u64)
}

#[expect(clippy::cast_precision_loss, reason = "a ratio that is shown")]
fn bytes_per_access(recording: &Recording, graph: &Graph) -> Option<f64> {
    let total = graph.total();
    let accesses = total.loads + total.stores;
    (accesses > 0).then(|| recording.bytes as f64 / accesses as f64)
}

fn as_json(folder: &Path, recording: &Recording, graph: &Graph) -> Value {
    let total = graph.total();
    let (known, executed) = blocks(recording);
    let end = recording.end.as_ref();
    let seconds = |ticks: u64| u128::from(ticks) * 1_000_000_000 / u128::from(recording.meta.ticks_per_second.max(1));
    json!({
        "folder": folder.to_string_lossy(),
        "command": recording.meta.command,
        "made_at": time::rfc3339(recording.meta.made_at),
        "made_by": recording.meta.made_by,
        "exit_code": end.filter(|end| end.signal == 0).map(|end| end.status),
        "signal": end.map(|end| end.signal).filter(|signal| *signal != 0),
        "wall_ns": end.map(|end| u64::try_from(seconds(end.ticks)).unwrap_or(u64::MAX)),
        "tasks": {
            "work": graph.count(Type::Work),
            "create": graph.count(Type::Create),
            "join": graph.count(Type::Join),
            "sync": graph.count(Type::Sync),
            "barrier": graph.count(Type::Barrier),
        },
        "ranks": (!recording.ranks.ranks.is_empty()).then(|| ranks(recording)),
        "rank": identity(recording).filter(|_| recording.ranks.ranks.is_empty()).map(|own| json!({ "rank": own.rank, "of": own.size })),
        "edges": graph.edges.len(),
        "contexts": graph.contexts,
        "accesses": { "loads": total.loads, "stores": total.stores, "bytes": total.bytes },
        "blocks": { "static": known, "executed": executed, "runs": total.blocks },
        "modules": recording.program.modules.len(),
        "bytes": recording.bytes,
        "bytes_per_access": bytes_per_access(recording, graph),
        "complete": graph.complete,
        "problems": problems(recording),
    })
}

/// Ranks that were merged, and their messages.
fn ranks(recording: &Recording) -> Value {
    let ranks = &recording.ranks;
    json!({
        "present": ranks.ranks.len(),
        "of": ranks.size,
        "messages": { "matched": ranks.matched, "sent_only": ranks.sent_only, "received_only": ranks.received_only },
    })
}

/// The most important figures.
pub fn in_a_line(recording: &Recording, graph: &Graph) -> String {
    let total = graph.total();
    let incomplete = if graph.complete { "" } else { ", incomplete" };
    let sample = sampled::in_short(recording).map_or_else(String::new, |short| format!("; {short}"));
    format!(
        "{} tasks of {} contexts, {} blocks run, {} accesses, {} bytes{incomplete}{sample}",
        graph.tasks.len(),
        graph.contexts,
        total.blocks,
        total.loads + total.stores,
        recording.bytes
    )
}

fn as_text(recording: &Recording, graph: &Graph, functions: &[(String, u64, u64)], most: usize) -> String {
    let total = graph.total();
    let (known, executed) = blocks(recording);
    let mut rows = vec![
        vec!["command".to_owned(), recording.meta.command.join(" ")],
        vec!["tasks".to_owned(), kinds(graph)],
        vec!["contexts".to_owned(), graph.contexts.to_string()],
        vec!["ranks".to_owned(), ranks_in_words(recording)],
        vec!["blocks".to_owned(), format!("{executed} of {known} executed, {} times in all", total.blocks)],
        vec!["accesses".to_owned(), format!("{} loads, {} stores, {} bytes", total.loads, total.stores, total.bytes)],
    ];
    let per_access =
        bytes_per_access(recording, graph).map_or_else(String::new, |bytes| format!(", {bytes:.3} per access"));
    rows.push(vec!["size".to_owned(), format!("{} bytes on disk{per_access}", recording.bytes)]);
    rows.push(vec!["sample".to_owned(), sampled::in_short(recording).unwrap_or_default()]);
    rows.retain(|row| !row[1].is_empty());
    let complete = if graph.complete { "yes" } else { "no (see the messages)" };
    rows.push(vec!["complete".to_owned(), complete.to_owned()]);
    let mut text = table::write(&rows, &[Align::Left, Align::Left]);
    if !functions.is_empty() {
        text.push('\n');
        let head = ["calls", "blocks run", "function"].map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head)
            .chain(
                functions
                    .iter()
                    .take(most)
                    .map(|(name, calls, runs)| vec![calls.to_string(), runs.to_string(), name.clone()]),
            )
            .collect();
        text.push_str(&table::write(&rows, &[Align::Right, Align::Right, Align::Left]));
    }
    text
}

/// Which rank it is, or how many were merged; empty for programs without MPI.
fn ranks_in_words(recording: &Recording) -> String {
    let ranks = &recording.ranks;
    if ranks.ranks.is_empty() {
        return identity(recording).map_or_else(String::new, |own| format!("rank {} of {}", own.rank, own.size));
    }
    let lost = if ranks.sent_only > 0 { format!(", {} sent and not received", ranks.sent_only) } else { String::new() };
    format!("{} of {}, {} messages{lost}", ranks.ranks.len(), ranks.size, ranks.matched)
}

/// Functions by blocks that ran in them: name, calls, blocks.
fn functions(recording: &Recording) -> Vec<(String, u64, u64)> {
    let mut found: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for (id, count) in counts(recording) {
        if let Some((loaded, segment)) = recording.program.segment(id) {
            let (calls, runs) = found.entry((loaded.base, segment.function)).or_default();
            *calls += if segment.flags & flag::ENTRY != 0 { count } else { 0 };
            *runs += if segment.flags & flag::BLOCK != 0 { count } else { 0 };
        }
    }
    let name = |base: u32, function: u32| {
        let (loaded, _) = recording.program.segment(base)?;
        let function = loaded.module.functions.get(function as usize)?;
        let place = loaded.module.places.get(function.place as usize);
        // As the source names it; without debug information, as the linker does.
        let shown = place.map(|place| {
            let at = place::short(loaded.module.text(place.file), place.line);
            format!("{}  {at}", loaded.module.text(place.function))
        });
        let linked = || function_of_symbol(&function.name).unwrap_or_else(|| function.name.clone());
        Some(shown.unwrap_or_else(linked))
    };
    let mut list: Vec<(String, u64, u64)> = found
        .into_iter()
        .filter_map(|((base, function), (calls, runs))| Some((name(base, function)?, calls, runs)))
        .collect();
    list.sort_by(|a, b| (b.2, &a.0).cmp(&(a.2, &b.0)));
    list
}
