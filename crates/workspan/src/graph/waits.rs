//! `workspan graph waits`: work, span and critical path of a graph; late senders, receivers and arrivals between ranks.

use std::collections::BTreeMap;

use serde_json::{json, Value};
use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;
use workspan_graph::path::critical;
use workspan_graph::replay::replay;
use workspan_graph::waits::{Call, Late, Waited, Waits};

use super::open::{allocation_site, open};
use super::shown::{self, Table};
use crate::args::graph::GraphWaits;
use crate::exit::Outcome;
use crate::output;

/// Runs the verb.
pub fn run(args: &GraphWaits) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    let graph = Graph::of(&recording);
    let path = critical(&graph);
    let mut waits = Waits::default();
    replay(&recording, &mut waits)?;
    let nanos = |ticks: u64| {
        let rate = u128::from(recording.meta.ticks_per_second.max(1));
        u64::try_from(u128::from(ticks) * 1_000_000_000 / rate).unwrap_or(u64::MAX)
    };
    // Lines, not segments: several segments of a line are one place.
    let mut by_line: BTreeMap<Row, Waited> = BTreeMap::new();
    for ((late, waiting, other), waited) in waits.found() {
        let of = |call: Call| (rank(&recording, call.context), line(&recording, call));
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
        *by_rank.entry(rank(&recording, *context)).or_default() += ticks;
    }
    #[expect(clippy::cast_precision_loss, reason = "a ratio that is shown")]
    let ratio = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
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
    let ranks: Vec<Value> =
        by_rank.iter().map(|(rank, ticks)| json!({ "rank": rank, "span_ns": nanos(*ticks) })).collect();
    let fields = json!({
        "work_ns": nanos(path.work),
        "span_ns": nanos(path.span),
        "parallelism": ratio(path.work, path.span),
        "critical_path": ranks,
        "complete": recording.complete(),
    });
    let columns = &["ns", "count", "kind", "rank", "waits_at", "for_rank", "for"];
    output::data(&shown::write(&args.form, &Table { name: "waits", columns, rows }, &head, fields, args.form.top))?;
    Ok(Outcome::OK)
}

/// Rank and line of who waits, and of whom it waits for.
type Row = (Late, (Option<u32>, Option<String>), (Option<u32>, Option<String>));

fn rank(recording: &Recording, context: u32) -> Option<u32> {
    recording.ranks.of(context).map(|rank| rank.rank)
}

fn line(recording: &Recording, call: Call) -> Option<String> {
    allocation_site(recording, call.segment).map(|(file, line)| format!("{file}:{line}"))
}
