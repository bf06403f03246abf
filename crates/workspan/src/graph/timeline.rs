//! `workspan graph timeline`: how many contexts run at the same time, and how many could.

use serde_json::json;
use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;
use workspan_graph::timeline::{observed, potential, Interval};
use workspan_report::graph::{Axis, Chart, Draw, Drawing, Point, Scale, Series};

use super::open::{nanos, open};
use super::shown::{self, Answer, Table};
use crate::args::graph::GraphTimeline;
use crate::exit::Outcome;
use crate::table::{self, Align};

/// Characters of the longest bar.
const WIDTH: f64 = 40.0;
/// Intervals of the drawing, at least.
const DRAWN: usize = 400;

/// Runs the verb.
pub fn run(args: &GraphTimeline) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    let answer = answer(&recording, &Graph::of(&recording), args.intervals as usize);
    shown::write(&args.form, &recording, &answer)?;
    Ok(Outcome::OK)
}

/// Both timelines, in some intervals.
pub fn answer(recording: &Recording, graph: &Graph, intervals: usize) -> Answer {
    let nanos = |ticks: u64| nanos(recording, ticks);
    let (ran, could) = (observed(graph, intervals), potential(graph, intervals));
    let most = ran.iter().chain(&could).map(|interval| interval.parallelism).fold(1.0, f64::max);
    let begin = |interval: &Interval| {
        let micros = nanos(interval.start) / 1000;
        format!("{}.{:03} ms", micros / 1000, micros % 1000)
    };
    let mut rows = vec![["from", "contexts", "", "from", "potential", ""].map(str::to_owned).to_vec()];
    for (ran, could) in ran.iter().zip(&could) {
        let shown = |interval: &Interval| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the width")]
            let bar = (interval.parallelism / most * WIDTH).round() as usize;
            [begin(interval), format!("{:.2}", interval.parallelism), "#".repeat(bar)]
        };
        rows.push([shown(ran), shown(could)].concat());
    }
    let head =
        "Contexts that run work tasks at the same time, mean of each interval: as the program ran, and as it could if \
                every task began when its predecessors had ended"
            .to_owned();
    let columns = [Align::Right, Align::Right, Align::Left, Align::Right, Align::Right, Align::Left];
    let text = format!("{head}\n\n{}", table::write(&rows, &columns));
    let row = |(ran, could): (&Interval, &Interval)| {
        vec![json!(nanos(ran.start)), json!(ran.parallelism), json!(nanos(could.start)), json!(could.parallelism)]
    };
    let finer = intervals.max(DRAWN);
    let drawing = drawing(recording, graph, &observed(graph, finer), &potential(graph, finer));
    Answer {
        of: "graph timeline",
        title: "Parallelism over time",
        help: "Time is that of the instrumented run. A thread that waits for a processor counts as running. Both areas are the \
               work; the potential one ends after the span.",
        head,
        fields: json!({ "complete": graph.complete }),
        table: Table {
            name: "intervals",
            columns: &["start_ns", "parallelism", "potential_start_ns", "potential_parallelism"],
            rows: ran.iter().zip(&could).map(row).collect(),
        },
        text: Some(text),
        drawings: vec![Drawing::Chart(drawing)],
        ..Answer::default()
    }
}

fn drawing(recording: &Recording, graph: &Graph, ran: &[Interval], could: &[Interval]) -> Chart {
    let origin = ran.first().map_or(0, |interval| interval.start);
    #[expect(clippy::cast_precision_loss, reason = "a time that is drawn")]
    let milliseconds = |ticks: u64| nanos(recording, ticks) as f64 / 1e6;
    let series = |name: &str, intervals: &[Interval], origin: u64| {
        let mut points: Vec<Point> = intervals
            .iter()
            .map(|each| Point {
                x: milliseconds(each.start.saturating_sub(origin)),
                y: each.parallelism,
                ..Point::default()
            })
            .collect();
        // The last interval has a width, too.
        if let [.., before, last] = points.as_slice() {
            points.push(Point { x: 2.0 * last.x - before.x, ..Point::default() });
        }
        Series { name: name.to_owned(), draw: Draw::Steps, points }
    };
    Chart {
        title: format!("Parallelism over time of {} contexts", graph.contexts),
        x: Axis { label: "ms since the first task".to_owned(), scale: Scale::Linear, shown: |time| short(time) },
        y: Axis { label: "contexts that run".to_owned(), scale: Scale::Linear, shown: |contexts| short(contexts) },
        series: vec![series("observed", ran, origin), series("potential", could, 0)],
    }
}

/// A number without zeros at its end.
pub fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
