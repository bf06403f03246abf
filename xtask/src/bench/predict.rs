//! Prediction: how long it takes, and how far it can be believed: against the wall clock, with one worker and with two.
//!
//! A program is recorded with as many workers as a native run is then given, and the schedule of what was recorded says how
//! long that run takes. Recordings and native runs alternate. Predicted is from the program's begin to its end; measured is
//! the process, from before it is started until it is gone. The recording with one worker predicts for two as well: what it
//! is off is mostly what strands cost more where others run beside them, of which a serial run knows nothing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use super::child::{output_of, Call};
use super::figure::{Figure, Target};
use super::spread::Spread;
use super::{build, openmp, overhead, table, Options};

const TIMES: &str = "predict";
const AGAINST: &str = "predicted";

/// Strands of the made-up recording, and for how many seconds eleven numbers of processors may be scheduled.
const STRANDS: u32 = 1_000_000;
const SECONDS: f64 = 10.0;
const SAMPLES: usize = 3;

/// Numbers of workers for which the prediction is compared.
const WORKERS: [u32; 2] = [1, 2];
const NEAR: f64 = 0.10;

/// Programs of `programs/cilk` and of `programs/cilk-openmp` with a coarsened base case, of the size that they have by
/// themselves.
const CILK: &[&str] = &["cholesky", "cilksort", "fft", "heat", "lu", "matmul", "nqueens", "rectmul", "strassen"];
const BENCH: &[&str] = &["fib-cutoff", "sort"];
const OPENMP: &[&str] = &["omp-fib-cutoff", "omp-mergesort"];

/// Measures both groups.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    times(options, &mut figures)?;
    against(options, &mut figures)?;
    Ok(figures)
}

fn keep(figures: &mut Vec<Figure>, figure: Figure) {
    table::row(&figure);
    figures.push(figure);
}

fn times(options: &Options, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let shapes = ["joins", "iterators", "tasks"].into_iter().filter(|shape| options.wants(TIMES, &case(shape)));
    let shapes: Vec<&str> = shapes.collect();
    if shapes.is_empty() {
        return Ok(());
    }
    table::group("Prediction: a made-up recording of a million strands, 1 to 1024 processors in eleven steps");
    let file = build::folder().join("made-up.wspan");
    for shape in shapes {
        offline(&["make", shape, &STRANDS.to_string()], &file)?;
        let mut samples = Vec::new();
        for _ in 0..SAMPLES {
            samples.push(offline(&["predict"], &file)?);
        }
        for (name, quantity, most) in [
            ("graph", "seconds, graph", None),
            ("greedy", "seconds, greedy", Some(SECONDS)),
            ("stealing", "seconds, stealing", Some(SECONDS)),
        ] {
            let seconds: anyhow::Result<Vec<f64>> = samples.iter().map(|said| number(said, name)).collect();
            let spread = Spread::of(seconds?);
            keep(figures, figure(TIMES, &case(shape), 1, quantity, spread, most.map(Target::AtMost)));
        }
    }
    Ok(())
}

fn case(shape: &str) -> String {
    format!("predict-{shape}")
}

fn figure(
    group: &'static str,
    case: &str,
    workers: u32,
    quantity: &'static str,
    spread: Spread,
    target: Option<Target>,
) -> Figure {
    let (case, value, behind, remark) = (case.to_owned(), spread.median(), Vec::new(), String::new());
    Figure { group, case, workers, quantity, value, spread, target, behind, remark }
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

fn against(options: &Options, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let mut calls: Vec<(String, Call)> = Vec::new();
    let mut add = |name: String, call: &dyn Fn() -> anyhow::Result<Call>| -> anyhow::Result<()> {
        if options.wants(AGAINST, &name) {
            calls.push((name, call()?));
        }
        Ok(())
    };
    for name in BENCH {
        add(format!("predicted-{name}"), &|| overhead::call(name, 1))?;
    }
    for name in OPENMP {
        add(format!("predicted-{name}"), &|| openmp::load(name, 1))?;
    }
    for (rust, language) in [(true, "rust"), (false, "c")] {
        for name in CILK {
            add(format!("predicted-{name}-{language}"), &|| cilk(name, rust))?;
        }
    }
    if !calls.is_empty() {
        table::group("Prediction from recordings with as many workers, over the wall clock of native runs");
    }
    for (name, call) in calls {
        compare(&name, &call, options.runs, figures)?;
    }
    Ok(())
}

fn cilk(name: &str, rust: bool) -> anyhow::Result<Call> {
    let program = if rust { build::program("cilk")? } else { build::c_program("cilk-openmp", name)? };
    let arguments = if rust { vec![name.to_owned()] } else { Vec::new() };
    Ok(Call { program, arguments, workers: 1, folder: build::root() })
}

/// Alternates recordings and native runs.
fn compare(name: &str, call: &Call, runs: u32, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
    let mut predicted = WORKERS.map(|_| Vec::new());
    let mut from_one = Vec::new();
    let mut measured = WORKERS.map(|_| Vec::new());
    // One more, which warms up files and caches.
    for turn in 0..=runs {
        for (at, workers) in WORKERS.into_iter().enumerate() {
            let times = predict(&Call { workers, ..call.clone() })?;
            let wall = wall(call, workers)?;
            if turn > 0 {
                predicted[at].push(times[at]);
                measured[at].push(wall);
                if workers == 1 {
                    from_one.push(times[1]);
                }
            }
        }
    }
    for ((workers, predicted), measured) in WORKERS.into_iter().zip(predicted).zip(&measured) {
        let target = Some(Target::NearOne(NEAR));
        keep(figures, compared(name, workers, "predicted over measured", [predicted, measured.clone()], target));
    }
    let of_two = [from_one, measured[1].clone()];
    keep(figures, compared(name, 2, "from one worker, over measured", of_two, None));
    Ok(())
}

fn compared(
    case: &str,
    workers: u32,
    quantity: &'static str,
    [predicted, measured]: [Vec<f64>; 2],
    target: Option<Target>,
) -> Figure {
    let pairs: Vec<f64> = predicted.iter().zip(&measured).map(|(ours, theirs)| ours / theirs).collect();
    let [ours, theirs] = [Spread::of(predicted), Spread::of(measured)];
    let value = ours.median() / theirs.median();
    let mut figure = figure(AGAINST, case, workers, quantity, Spread::of(pairs), target);
    figure.value = value;
    figure.remark = format!("{:.3} s, {:.3} s", ours.median(), theirs.median());
    figure.behind = vec![("predicted", ours), ("measured", theirs)];
    figure
}

/// Seconds that a recording of `call` predicts.
fn predict(call: &Call) -> anyhow::Result<[f64; 2]> {
    call.profiled_with(&["--strands"])?;
    let file = build::folder().join("recording.wspan");
    let numbers = WORKERS.map(|workers| workers.to_string()).join(",");
    let mut command = Command::new(build::workspan()?);
    let said = output_of(command.args(["predict", "--json", "-p", &numbers]).arg(file))?;
    let answer: Value = serde_json::from_str(&said)?;
    let time = |at: usize| answer["points"][at]["time_ns"].as_f64().context("a prediction without `time_ns`");
    Ok([time(0)? / 1e9, time(1)? / 1e9])
}

/// Seconds that a native run takes.
fn wall(call: &Call, workers: u32) -> anyhow::Result<f64> {
    let mut command = Command::new(&call.program.native);
    let workers = workers.to_string();
    command.args(&call.arguments).current_dir(&call.folder);
    command.env("RAYON_NUM_THREADS", &workers).env("OMP_NUM_THREADS", &workers);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status().context("cannot run a program")?;
    let wall = started.elapsed().as_secs_f64();
    anyhow::ensure!(status.success(), "{} failed", call.program.native.display());
    Ok(wall)
}
