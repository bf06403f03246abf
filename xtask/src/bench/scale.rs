//! `workspan scale`: planted causes, as it finds them with two workers, and what accounting for idle time costs.
//!
//! What was planted is known without it: from the arguments and the baseline, or from native runs of the program with the
//! cause and without. What the program without the cause has of it is taken off: on a busy machine, inflation.

use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use super::child::{cpu_of, output_of, wall_of, Call};
use super::figure::{Figure, Target};
use super::spread::Spread;
use super::{build, instructions, openmp, overhead, table, Options};

const GROUP: &str = "scale";
/// At least this share of what was planted must be found.
const FOUND: f64 = 0.8;
/// A run in which idle time is accounted for takes at most this, over a native one.
const OVERHEAD: f64 = 1.01;
/// Of the time with one worker: what was planted is no less, or there is nothing to be found.
const ENOUGH: f64 = 0.05;
/// Microseconds that the baseline takes.
const BASELINE: u64 = 400_000;

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = causes(options)?;
    figures.extend(costs(options)?);
    figures.extend(instructions::measure(GROUP, options)?);
    Ok(figures)
}

/// A program with a cause in it.
struct Planted {
    name: &'static str,
    /// Where `causes` has it.
    cause: &'static str,
    /// Its arguments.
    with: Vec<String>,
    /// Without the cause.
    without: Vec<String>,
    /// How much was planted.
    amount: Amount,
    /// Whether `without` is the elision.
    elision: bool,
}

/// How much was planted.
enum Amount {
    /// This share of the baseline's time.
    Share(f64),
    /// What the program takes more than without the cause, natively, with this number of workers, each.
    Difference(u32),
    /// The CPU time that two workers take more than one, natively: for want of a program without the cause.
    SecondWorker,
}

fn planted(rate: u64) -> Vec<Planted> {
    let steps = (rate * BASELINE).to_string();
    let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let pieces = || words(format!("pieces {steps}"));
    let case = |name, cause, with: String, without: Vec<String>, amount| Planted {
        name,
        cause,
        with: words(with),
        without,
        amount,
        elision: cause == "task_overhead_ns",
    };
    vec![
        case("serial part", "idle", format!("serial {steps} 30"), pieces(), Amount::Share(0.3)),
        case("more work", "algorithmic_ns", format!("more {steps} 40"), pieces(), Amount::Share(0.4)),
        case("slower work", "inflation_ns", format!("slower {steps} 50"), pieces(), Amount::Share(0.5)),
        case("empty tasks", "task_overhead_ns", format!("tasks {steps} 10000000"), pieces(), Amount::Difference(1)),
        case(
            "false sharing",
            "inflation_ns",
            "counters 30000000 8".to_owned(),
            words("counters 30000000 256".to_owned()),
            Amount::Difference(2),
        ),
        case("memory", "inflation_ns", "array 64000000 1 8 12".to_owned(), Vec::new(), Amount::SecondWorker),
    ]
}

fn causes(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if !options.wants(GROUP, "scale-causes") {
        return Ok(figures);
    }
    table::group("Factored speedup: of what was planted, found, with 2 workers");
    let (program, idle) = (build::program("scale")?, build::idle_program("scale")?);
    let rate: u64 = output_of(Command::new(&program.native).arg("rate"))?.trim().parse()?;
    let quote = |words: &[String]| format!("'{}' {}", program.native.display(), words.join(" "));
    for case in planted(rate) {
        let answer = |arguments: &[String]| -> anyhow::Result<Value> {
            let mut command = Command::new(build::workspan()?);
            command.args(["scale", "-p2", "--no-sites", "--json=-", "--repeat", &REPEAT.to_string()]);
            if !matches!(case.amount, Amount::Difference(2) | Amount::SecondWorker) {
                let work = ["work".to_owned(), (rate * BASELINE).to_string()];
                command.arg(format!("--baseline={}", quote(&work)));
            }
            if case.elision {
                // With one worker of a pool, natively; what is inherited is overridden for the program itself.
                command.env("RAYON_NUM_THREADS", "1").arg(format!("--elision={}", quote(&case.without)));
            }
            Ok(serde_json::from_str(&output_of(command.arg("--").arg(&idle).args(arguments))?)?)
        };
        let mut enough = true;
        let shares: Result<Vec<f64>, anyhow::Error> = (0..SAMPLES)
            .map(|_| {
                let with = answer(&case.with)?;
                // What the program has of it anyway, and the machine meanwhile, was not planted.
                let anyway = if case.without.is_empty() { 0.0 } else { found(&answer(&case.without)?, case.cause)? };
                let amount = amount(&program, &case, &with)?;
                let one_worker =
                    with["points"][0]["one_worker"]["mean_ns"].as_f64().context("no time of one worker")?;
                enough &= amount > ENOUGH * one_worker / 1e9;
                Ok((found(&with, case.cause)? - anyway) / amount)
            })
            .collect();
        let spread = Spread::of(shares?);
        let figure = Figure {
            group: GROUP,
            case: case.name.to_owned(),
            workers: 2,
            quantity: "found over planted",
            value: spread.median(),
            spread,
            // How much the machine's memory costs two workers is its own affair, and may be nothing.
            target: (enough || !matches!(case.amount, Amount::SecondWorker)).then_some(Target::AtLeast(FOUND)),
            behind: Vec::new(),
            remark: case.cause.trim_end_matches("_ns").replace('_', " "),
        };
        table::row(&figure);
        figures.push(figure);
    }
    Ok(figures)
}

/// Samples of a figure, each of this number of runs of every kind.
const SAMPLES: usize = 3;
const REPEAT: u32 = 3;

/// What the answer has of a cause, in seconds.
fn found(answer: &Value, cause: &str) -> anyhow::Result<f64> {
    let causes = &answer["causes"];
    let value = |name: &str| causes[name].as_f64().with_context(|| format!("no `{name}`"));
    let nanos = match cause {
        "idle" => value("parallelism_ns")? + value("scheduling_ns")?,
        cause => value(cause)?,
    };
    Ok(nanos / 1e9)
}

/// What was planted, in seconds.
fn amount(program: &build::Twins, case: &Planted, answer: &Value) -> anyhow::Result<f64> {
    let native = |arguments: &[String], workers: u32, time: fn(&mut Command) -> anyhow::Result<f64>| {
        let times: Result<Vec<f64>, anyhow::Error> = (0..REPEAT)
            .map(|_| {
                let mut command = Command::new(&program.native);
                time(command.args(arguments).env("RAYON_NUM_THREADS", workers.to_string()))
            })
            .collect();
        times.map(|times| Spread::of(times).median())
    };
    Ok(match case.amount {
        Amount::Share(share) => {
            let baseline = answer["baseline"]["mean_ns"].as_f64().context("no baseline")?;
            share * baseline / 1e9
        }
        Amount::Difference(workers) => {
            let more = native(&case.with, workers, wall_of)? - native(&case.without, workers, wall_of)?;
            more * f64::from(workers)
        }
        Amount::SecondWorker => native(&case.with, 2, cpu_of)? - native(&case.with, 1, cpu_of)?,
    })
}

/// What idle accounting costs: a native program is the baseline of itself, so that both take turns.
fn costs(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if !options.wants(GROUP, "scale-cost") {
        return Ok(figures);
    }
    table::group("Idle accounting: time over native");
    let idle = build::idle_program("bench")?;
    for (name, openmp) in LOADS {
        for workers in [1, 2] {
            let mut call = if *openmp { openmp::load(name, workers)? } else { overhead::call(name, workers)? };
            if !openmp {
                call.program.hooked = idle.clone();
            }
            let figure = cost(name, &call, options.runs)?;
            table::row(&figure);
            figures.push(figure);
        }
    }
    Ok(figures)
}

/// Loads, and whether they are of `programs/openmp`.
const LOADS: &[(&str, bool)] = &[
    ("fib", false),
    ("fib-cutoff", false),
    ("sum", false),
    ("sort", false),
    ("tasks-spawn", false),
    ("omp-fib", true),
    ("omp-fib-cutoff", true),
    ("omp-mergesort", true),
    ("omp-loop-static", true),
];

fn cost(name: &str, call: &Call, runs: u32) -> anyhow::Result<Figure> {
    let mut command = Command::new(build::workspan()?);
    let workers = call.workers.to_string();
    command.current_dir(&call.folder).env("RAYON_NUM_THREADS", &workers).env("OMP_NUM_THREADS", &workers);
    command.args(["scale", "--no-sites", "--json=-", "--repeat", &runs.to_string(), "-p", &workers]);
    command.arg(format!("--baseline='{}' {}", call.program.native.display(), call.arguments.join(" ")));
    let answer = output_of(command.arg("--").arg(&call.program.hooked).args(&call.arguments))?;
    let answer: Value = serde_json::from_str(&answer)?;
    let seconds = |time: &Value| -> Vec<f64> {
        time["runs_ns"].as_array().into_iter().flatten().filter_map(Value::as_f64).map(|nanos| nanos / 1e9).collect()
    };
    let (native, watched) = (seconds(&answer["baseline"]), seconds(&answer["points"][0]["time"]));
    anyhow::ensure!(native.len() == watched.len() && !native.is_empty(), "runs are missing");
    let spread = Spread::of(watched.iter().zip(&native).map(|(watched, native)| watched / native));
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let remark = format!("least over least {:.3}", least(&watched) / least(&native));
    let (native, watched) = (Spread::of(native), Spread::of(watched));
    Ok(Figure {
        group: GROUP,
        case: name.to_owned(),
        workers: call.workers,
        quantity: "wall time",
        value: watched.median() / native.median(),
        spread,
        target: Some(Target::AtMost(OVERHEAD)),
        behind: vec![("native", native), ("watched", watched)],
        remark,
    })
}
