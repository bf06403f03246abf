//! How long the analyses of strands take, and how much memory: on recordings that no program made.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context;

use super::child::output_of;
use super::figure::{Figure, Target};
use super::record::BYTES;
use super::spread::Spread;
use super::{build, table, Options};

const GROUP: &str = "replay";

/// What the strands are.
const SHAPES: &[&str] = &["joins", "iterators", "tasks"];
/// Analyses, as `crates/workspan/examples/offline.rs` names them, and the millions of strands a second that they must take.
const ANALYSES: &[(&str, Option<f64>)] = &[("replay", Some(20.0)), ("what-if", None), ("advise", None)];
/// The figure is the median of this number.
const SAMPLES: usize = 3;
/// MB at most.
const MEMORY: f64 = 300.0;

/// Queries, one for each view, and how many seconds they may take.
const QUERIES: &[(&str, &str, f64)] = &[
    ("count", "select event, count(*), sum(cost_ns) from nodes group by event", 10.0),
    ("site_totals", "select * from site_totals order by work_ns desc", 10.0),
    ("threads", "select * from threads", 10.0),
    ("strands", "select place, max(cost_ns) from strands group by place", 20.0),
    ("tasks", "select count(*), max(work_ns), sum(strands) from tasks", 20.0),
];

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let shapes: Vec<&str> = SHAPES.iter().copied().filter(|shape| options.wants(GROUP, shape)).collect();
    if shapes.is_empty() {
        return Ok(figures);
    }
    table::group(&format!("Analyses of strands: made-up recordings of {} million", options.strands));
    let file = build::folder().join("made-up.wspan");
    for shape in shapes {
        let made = offline(&["make", shape, &(options.strands * 1_000_000).to_string()], &file)?;
        let (strands, bytes) = (number(&made, "strands")?, number(&made, "bytes")?);
        let remark = format!("{:.1} M strands", strands / 1e6);
        let spread = Spread::of([bytes / strands]);
        figures.push(figure(shape, "bytes per strand", spread, Some(Target::AtMost(BYTES)), remark));
        for (analysis, least) in ANALYSES {
            let (rate, memory, of_cpu) = analyse(analysis, &file)?;
            // On a machine that does other things, the seconds are not all ours.
            let remark = format!("{of_cpu:.1} M in a second of CPU time");
            let (rates, memories) = match *analysis {
                "replay" => ("M strands/s", "MB"),
                "what-if" => ("M strands/s, what-if", "MB, what-if"),
                _ => ("M strands/s, advise", "MB, advise"),
            };
            figures.push(figure(shape, rates, rate, least.map(Target::AtLeast), remark));
            figures.push(figure(shape, memories, memory, Some(Target::AtMost(MEMORY)), String::new()));
        }
        if options.query {
            query(shape, &file, &mut figures)?;
        }
    }
    Ok(figures)
}

fn figure(case: &str, quantity: &'static str, spread: Spread, target: Option<Target>, remark: String) -> Figure {
    let (case, value, behind) = (case.to_owned(), spread.median(), Vec::new());
    // As many threads unpack files.
    let workers = std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok());
    let workers = workers.unwrap_or(1);
    let figure = Figure { group: GROUP, case, workers, quantity, value, spread, target, behind, remark };
    table::row(&figure);
    figure
}

/// Millions of strands a second, MB, and millions of strands in a second of CPU time.
fn analyse(analysis: &str, file: &Path) -> anyhow::Result<(Spread, Spread, f64)> {
    let mut samples = Vec::new();
    let mut of_cpu = Vec::new();
    for _ in 0..SAMPLES {
        let said = offline(&[analysis], file)?;
        let rate = number(&said, "strands")? / number(&said, "seconds")? / 1e6;
        of_cpu.push(number(&said, "strands")? / number(&said, "cpu_seconds")? / 1e6);
        samples.push((rate, number(&said, "peak_kib")? * 1024.0 / 1e6));
    }
    let [rate, memory] = [Spread::of(samples.iter().map(|s| s.0)), Spread::of(samples.iter().map(|s| s.1))];
    Ok((rate, memory, Spread::of(of_cpu).median()))
}

fn query(shape: &str, file: &Path, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let workspan = build::workspan_with_queries()?;
    for (name, sql, most) in QUERIES {
        let mut seconds = Vec::new();
        for _ in 0..SAMPLES {
            let started = Instant::now();
            output_of(Command::new(&workspan).arg("query").arg(file).arg(sql))?;
            seconds.push(started.elapsed().as_secs_f64());
        }
        let remark = format!("query of `{name}`");
        figures.push(figure(shape, "seconds", Spread::of(seconds), Some(Target::AtMost(*most)), remark));
    }
    Ok(())
}

fn offline(words: &[&str], file: &Path) -> anyhow::Result<String> {
    let program: PathBuf = build::offline()?;
    output_of(Command::new(program).args(words).arg(file))
}

/// The number in the line that begins with `name`.
fn number(said: &str, name: &str) -> anyhow::Result<f64> {
    let line = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|number| number.parse().ok()).with_context(|| format!("no {name} in: {said}"))
}
