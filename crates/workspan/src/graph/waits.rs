//! `workspan graph waits`: work, span and critical path of a graph; late senders, receivers and arrivals between ranks.

use std::collections::BTreeMap;

use serde_json::{json, Value};
use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;
use workspan_graph::path::critical;
use workspan_graph::replay::replay;
use workspan_graph::waits::{Call, Late, Waited, Waits};

use super::open::{call, nanos, open};
use super::shown::{self, ratio, Answer, Table};
use crate::args::graph::GraphWaits;
use crate::exit::Outcome;

/// Runs the verb.
pub fn run(args: &GraphWaits) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    shown::write(&args.form, &recording, &answer(&recording, &Graph::of(&recording))?)?;
    Ok(Outcome::OK)
}

/// Work, span and waits.
pub fn answer(recording: &Recording, graph: &Graph) -> anyhow::Result<Answer> {
    let path = critical(graph);
    let mut waits = Waits::default();
    replay(recording, &mut waits)?;
    let nanos = |ticks: u64| nanos(recording, ticks);
    // Lines, not segments: several segments of a line are one place.
    let mut by_line: BTreeMap<Row, Waited> = BTreeMap::new();
    for ((late, waiting, other), waited) in waits.found() {
        let of = |at: Call| (rank(recording, at.context), call(recording, at.segment));
        let row = by_line.entry((late, of(waiting), of(other))).or_default();
        row.ticks += waited.ticks;
        row.count += waited.count;
    }
    let mut found: Vec<_> = by_line.into_iter().collect();
    found.sort_by(|a, b| (b.1.ticks, &a.0).cmp(&(a.1.ticks, &b.0)));
    let rows: Vec<Vec<Value>> = found
        .into_iter()
        .map(|((late, (rank, at), (other, until)), waited)| {
            let late = json!(late.name());
            vec![
                json!(nanos(waited.ticks)),
                json!(waited.count),
                late,
                json!(rank),
                json!(at),
                json!(other),
                json!(until),
            ]
        })
        .collect();
    let mut by_rank: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    for (context, ticks) in &path.by_context {
        *by_rank.entry(rank(recording, *context)).or_default() += ticks;
    }
    let milliseconds = |ticks: u64| ratio(nanos(ticks), 1_000_000);
    let shares: Vec<String> = by_rank
        .iter()
        .filter_map(|(rank, ticks)| Some(format!("rank {} {:.0} %", (*rank)?, 100.0 * ratio(*ticks, path.span))))
        .collect();
    let mut head = format!(
        "work {:.3} ms, span {:.3} ms, parallelism {:.2}, in the time of the instrumented run",
        milliseconds(path.work),
        milliseconds(path.span),
        ratio(path.work, path.span)
    );
    if !shares.is_empty() {
        head = format!("{head}\ncritical path: {}", shares.join(", "));
    }
    let processors = recording.host.map_or(0, |host| host.processors);
    let ranks = recording.ranks.size;
    if ranks > processors && processors > 0 {
        head = format!(
            "{head}\n{ranks} ranks shared {processors} processors: a rank that waits for a processor keeps others waiting, so that most \
             of these waits may be the machine's. Run as many ranks as processors to see those of the program."
        );
    }
    if rows.is_empty() {
        head = format!("{head}\nno rank waited for another one: waits are those of programs on MPI");
    }
    let by_rank: Vec<Value> =
        by_rank.iter().map(|(rank, ticks)| json!({ "rank": rank, "span_ns": nanos(*ticks) })).collect();
    let fields = json!({
        "work_ns": nanos(path.work),
        "span_ns": nanos(path.span),
        "parallelism": ratio(path.work, path.span),
        "critical_path": by_rank,
        "ranks": ranks,
        "processors": (processors > 0).then_some(processors),
        "complete": recording.complete(),
    });
    let columns = &["ns", "count", "kind", "rank", "waits_at", "for_rank", "for"];
    let table = Table { name: "waits", columns, rows };
    let help =
        "A receive waits for a late sender, a send for a late receiver, a collective call for the last rank to arrive.";
    Ok(Answer { of: "graph waits", title: "Work, span and waits", help, head, fields, table, ..Answer::default() })
}

/// Rank and line of who waits, and of whom it waits for.
type Row = (Late, (Option<u32>, Option<String>), (Option<u32>, Option<String>));

fn rank(recording: &Recording, context: u32) -> Option<u32> {
    recording.ranks.of(context).map(|rank| rank.rank)
}
