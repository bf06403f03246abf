//! `workspan graph code`: how parallel each basic block is executed.

use serde_json::{json, Value};
use workspan_graph::code::{Block, Code, Style};
use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;
use workspan_graph::program::place;
use workspan_graph::replay::replay;
use workspan_report::graph::{Axis, Chart, Draw, Drawing, Heat, Point, Row, Scale, Series};
use workspan_report::words::count;

use super::open::open;
use super::shown::{self, Answer, Table};
use super::timeline::short;
use crate::args::graph::GraphCode;
use crate::exit::Outcome;

/// From few to many runs.
const SHADES: &[u8] = b" .:-=+*#%@";
/// Most columns of the heat map of the text.
const WIDTH: u32 = 32;
/// Dots of a drawing, of each style: those of most runs.
const DOTS: usize = 1000;

/// Runs the verb.
pub fn run(args: &GraphCode) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    anyhow::ensure!(recording.sample.is_none(), "{NOT_OF_SAMPLES}");
    let answer = answer(&recording, &Graph::of(&recording), args.form.top)?;
    shown::write(&args.form, &recording, &answer)?;
    Ok(Outcome::OK)
}

const TITLE: &str = "Parallelism of code";
/// What is said of a graph that is a sample.
const NOT_OF_SAMPLES: &str = "the graph is a sample of the accesses, and does not have when each basic block ran: record without --sample to see it";

/// A basic block and what it is called.
struct Found<'c> {
    block: &'c Block,
    style: Style,
    at: Option<String>,
    function: Option<String>,
}

impl Found<'_> {
    fn title(&self) -> String {
        let at = self.at.as_deref().unwrap_or("code without debug information");
        let function = self.function.as_deref().unwrap_or("?");
        format!(
            "{at} in {function}: {} runs, {:.2} contexts, {}",
            self.block.count(),
            self.block.mean(),
            self.style.name()
        )
    }
}

/// The blocks, of which the text shows the first ones.
pub fn answer(recording: &Recording, graph: &Graph, most: usize) -> anyhow::Result<Answer> {
    if recording.sample.is_some() {
        return Ok(Answer { of: "graph code", title: TITLE, head: NOT_OF_SAMPLES.to_owned(), ..Answer::default() });
    }
    let mut code = Code::new(graph);
    replay(recording, &mut code)?;
    let mut found: Vec<_> = code.blocks.iter().collect();
    found.sort_by_key(|(segment, block)| (std::cmp::Reverse(block.count()), **segment));
    let found: Vec<Found<'_>> = found
        .into_iter()
        .map(|(id, block)| {
            let segment = recording.program.segment(*id);
            let at = segment.and_then(|(loaded, segment)| place(&loaded.module, segment.place));
            let function = segment.and_then(|(loaded, segment)| loaded.module.functions.get(segment.function as usize));
            Found {
                block,
                style: block.style(code.most),
                at: at.map(|(file, line)| format!("{file}:{line}")),
                function: function.map(|function| function.name.clone()),
            }
        })
        .collect();
    let mut styles = [(Style::Serial, 0_u64), (Style::Mixed, 0), (Style::Parallel, 0)];
    for each in &found {
        styles.iter_mut().filter(|(style, _)| *style == each.style).for_each(|(_, runs)| *runs += each.block.count());
    }
    let all: u64 = styles.iter().map(|(_, runs)| runs).sum();
    let share = |runs: u64| runs.saturating_mul(100).checked_div(all).unwrap_or(0);
    let words: Vec<String> =
        styles.iter().map(|(style, runs)| format!("{} {} %", style.name(), share(*runs))).collect();
    let head =
        format!("{all} runs of basic blocks: {}; at most {} contexts run at a time", words.join(", "), code.most);
    let width = code.most.clamp(1, WIDTH);
    let table = |heat: &dyn Fn(&Block) -> Value| Table {
        name: "blocks",
        columns: &["runs", "mean_contexts", "style", "at", "function", "heat"],
        rows: found
            .iter()
            .map(|each| {
                let Found { block, style, at, function } = each;
                vec![
                    json!(block.count()),
                    json!(block.mean()),
                    json!(style.name()),
                    json!(at),
                    json!(function),
                    heat(block),
                ]
            })
            .collect(),
    };
    let with_key =
        format!("{head}\nheat: runs with 1 to {} contexts running, from few '.' to many '@', logarithmic", code.most);
    let text = shown::in_columns(&with_key, &table(&|block| json!(heat(block, width, code.most))), most);
    Ok(Answer {
        of: "graph code",
        title: TITLE,
        help: "Each row of the map is a basic block, serial ones first; the darker, the more runs, on a logarithmic scale. Serial: \
               nine of ten runs alone; parallel: nine of ten with three quarters of the most contexts; mixed: the rest.",
        head,
        fields: json!({
            "most_contexts": code.most,
            "styles": styles.iter().map(|(style, runs)| (style.name().to_owned(), json!(runs))).collect::<serde_json::Map<_, _>>(),
            "complete": recording.complete(),
        }),
        drawings: vec![Drawing::Heat(map(&found, code.most)), Drawing::Chart(means(&found))],
        table: table(&|block| json!(block.runs)),
        text: Some(text),
        ..Answer::default()
    })
}

/// Contech's figure 7.
fn map(found: &[Found<'_>], most: u32) -> Heat {
    let mut sorted: Vec<&Found<'_>> = found.iter().collect();
    sorted.sort_by(|a, b| a.block.mean().total_cmp(&b.block.mean()));
    let row = |each: &&Found<'_>| Row {
        title: each.title(),
        counts: each.block.runs.iter().map(|(contexts, runs)| (*contexts, *runs)).collect(),
    };
    Heat {
        title: "Runs of basic blocks by number of contexts that run".to_owned(),
        columns: "contexts that run".to_owned(),
        rows_are: format!("{} basic blocks", found.len()),
        most,
        rows: sorted.iter().map(row).collect(),
    }
}

/// Contech's figure 8.
#[expect(clippy::cast_precision_loss, reason = "a count that is drawn")]
fn means(found: &[Found<'_>]) -> Chart {
    let series = |style: Style| {
        let dots = found.iter().filter(|each| each.style == style).take(DOTS);
        let point = |each: &Found<'_>| Point {
            x: each.block.mean(),
            y: each.block.count() as f64,
            title: each.title(),
            ..Point::default()
        };
        Series { name: style.name().to_owned(), draw: Draw::Dots, points: dots.map(point).collect() }
    };
    Chart {
        title: "Mean number of contexts and runs of basic blocks".to_owned(),
        x: Axis {
            label: "mean number of contexts that run".to_owned(),
            scale: Scale::Linear,
            shown: |mean| short(mean),
        },
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a power of ten")]
        y: Axis { label: "runs of the block".to_owned(), scale: Scale::Decades, shown: |runs| count(runs as u64) },
        series: [Style::Serial, Style::Mixed, Style::Parallel].map(series).to_vec(),
    }
}

/// Runs by number of contexts, as characters.
fn heat(block: &Block, width: u32, most: u32) -> String {
    let column = |contexts: u32| ((contexts.max(1) - 1) * width / most.max(1)) as usize;
    let mut runs = vec![0_u64; width as usize];
    for (contexts, count) in &block.runs {
        if let Some(place) = runs.get_mut(column(*contexts)) {
            *place += count;
        }
    }
    let top = runs.iter().copied().max().unwrap_or(0).max(1);
    let shade = |count: u64| match count {
        0 => ' ',
        _ => {
            let steps = SHADES.len() - 1;
            let level = 1 + count.ilog2() as usize * (steps - 1) / top.ilog2().max(1) as usize;
            char::from(SHADES[level.min(steps)])
        }
    };
    format!("|{}|", runs.into_iter().map(shade).collect::<String>())
}
