//! `workspan graph timeline`: how many contexts run at the same time.

use serde_json::json;
use workspan_graph::graph::Graph;
use workspan_graph::timeline::observed;

use super::open::open;
use crate::args::graph::GraphTimeline;
use crate::exit::Outcome;
use crate::output;
use crate::table::{self, Align};

/// Characters of the longest bar.
const WIDTH: f64 = 40.0;

/// Runs the verb.
pub fn run(args: &GraphTimeline) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    let graph = Graph::of(&recording);
    let intervals = observed(&graph, args.intervals as usize);
    let rate = u128::from(recording.meta.ticks_per_second.max(1));
    let nanos = |ticks: u64| u64::try_from(u128::from(ticks) * 1_000_000_000 / rate).unwrap_or(u64::MAX);
    let text = if args.json {
        let rows: Vec<_> = intervals
            .iter()
            .map(|interval| json!({ "start_ns": nanos(interval.start), "parallelism": interval.parallelism }))
            .collect();
        let document = json!({ "schema_version": 1, "complete": graph.complete, "intervals": rows });
        format!("{document:#}\n")
    } else {
        let most = intervals.iter().map(|interval| interval.parallelism).fold(1.0, f64::max);
        let mut rows = vec![["from", "contexts", ""].map(str::to_owned).to_vec()];
        for interval in &intervals {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the width")]
            let bar = (interval.parallelism / most * WIDTH).round() as usize;
            let micros = nanos(interval.start) / 1000;
            let from = format!("{}.{:03} ms", micros / 1000, micros % 1000);
            rows.push(vec![from, format!("{:.2}", interval.parallelism), "#".repeat(bar)]);
        }
        "Contexts that run work tasks at the same time, mean of each interval\n\n".to_owned()
            + &table::write(&rows, &[Align::Right, Align::Right, Align::Left])
    };
    output::data(&text)?;
    Ok(Outcome::OK)
}
