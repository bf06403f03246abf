//! `workspan limits`: instructions per second from end to end, beside the program alone and under the bare emulator.
//!
//! The programs are `programs/limits`: short runs, which are repeated, for speed; one of a thousand million instructions, and one that
//! touches eight million words, for memory. Memory is the largest that the command's process has had, over the words that a
//! sweep is known to touch.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use super::child::{cpu_and_memory_of, wall_of};
use super::figure::{Figure, Target};
use super::spread::Spread;
use super::{build, table, Options};

const GROUP: &str = "limits";
/// Instructions per second, in millions, with the seven models and one variant.
const SEVEN: f64 = 20.0;
/// The same with `Tru` alone.
const ALONE: f64 = 40.0;
/// Bytes that may be used whatever the program does.
const BASE: f64 = 1_073_741_824.0;
/// Bytes for each distinct word of eight bytes.
const WORD: f64 = 24.0;

/// A program that is measured.
struct Load {
    name: &'static str,
    arguments: &'static [&'static str],
    /// Words of memory that it touches, if that is known.
    words: Option<f64>,
    /// With which models.
    models: &'static [&'static str],
    /// How often at most.
    runs: u32,
}

const EACH: &[&str] = &["tru", "table", "all"];

const LOADS: &[Load] = &[
    Load { name: "floats", arguments: &["20000"], words: None, models: EACH, runs: 3 },
    Load { name: "records", arguments: &["120000"], words: None, models: EACH, runs: 3 },
    // A thousand million instructions.
    Load { name: "sweep", arguments: &["100000", "1250"], words: Some(1e5), models: &["tru", "table"], runs: 1 },
    Load { name: "sweep", arguments: &["8000000", "1"], words: Some(8e6), models: EACH, runs: 1 },
];

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if !options.wants(GROUP, GROUP) {
        return Ok(figures);
    }
    table::group("Limits of parallelism: instructions per second, end to end");
    for Load { name, arguments, words, models, runs } in LOADS {
        let program = compiled(name)?;
        let case = [&[*name], *arguments].concat().join(" ");
        let native = wall_of(Command::new(&program).args(*arguments))?;
        let bare = wall_of(Command::new("qemu-x86_64").arg(&program).args(*arguments))?;
        for models in *models {
            // Targets are for speed where runs are repeated, and for the models of the table.
            let target = match *models {
                "tru" => Some(ALONE),
                "table" => Some(SEVEN),
                _ => None,
            };
            let bound = target.and(*words).map(|words| Target::AtMost(BASE + WORD * words));
            let run = Run::of(&program, arguments, models, options.runs.min(*runs))?;
            let rate = Spread::of(run.seconds.iter().map(|seconds| run.instructions / seconds / 1e6));
            let mut figure = Figure {
                group: GROUP,
                case: format!("{case}, {models}"),
                workers: 1,
                quantity: "million instructions per second",
                value: rate.median(),
                spread: rate,
                target: target.map(Target::AtLeast),
                behind: vec![
                    ("seconds natively", Spread::of([native])),
                    ("seconds under the bare emulator", Spread::of([bare])),
                    ("seconds", Spread::of(run.seconds.iter().copied())),
                    ("CPU seconds", Spread::of([run.cpu])),
                ],
                remark: format!("{:.0} million instructions", run.instructions / 1e6),
            };
            table::row(&figure);
            figures.push(figure.clone());
            figure.quantity = "bytes of memory";
            figure.value = run.bytes;
            figure.spread = Spread::of([run.bytes]);
            figure.target = bound;
            figure.behind = vec![("bytes of the analysis", Spread::of([run.analysis]))];
            table::row(&figure);
            figures.push(figure);
        }
    }
    Ok(figures)
}

struct Run {
    instructions: f64,
    /// The most that the command had.
    bytes: f64,
    /// What the analysis reports of itself.
    analysis: f64,
    seconds: Vec<f64>,
    cpu: f64,
}

impl Run {
    fn of(program: &Path, arguments: &[&str], models: &str, runs: u32) -> anyhow::Result<Run> {
        let json = build::folder().join("limits.json");
        let mut seconds = Vec::new();
        let (mut cpu, mut bytes) = (0.0, 0.0f64);
        let mut answer = Value::Null;
        for _ in 0..runs {
            let mut command = Command::new(build::workspan()?);
            command.args(["limits", "--models", models]).arg(format!("--json={}", json.display())).arg("--");
            command.arg(program).args(arguments);
            let (spent, peak) = cpu_and_memory_of(&mut command)?;
            (cpu, bytes) = (spent, bytes.max(peak));
            answer = serde_json::from_slice(&fs::read(&json)?)?;
            seconds.push(answer["analysis"]["wall_ns"].as_f64().context("no time")? / 1e9);
        }
        let number = |value: &Value| value.as_f64().context("no number");
        let analysis = number(&answer["analysis"]["memory_bytes"])?;
        Ok(Run { instructions: number(&answer["instructions"])?, bytes, analysis, seconds, cpu })
    }
}

/// `programs/limits/<name>.c`, as anybody would compile it.
fn compiled(name: &str) -> anyhow::Result<PathBuf> {
    let program = build::folder().join(format!("limits-{name}"));
    fs::create_dir_all(build::folder())?;
    let source = build::root().join("programs/limits").join(format!("{name}.c"));
    let done = Command::new("gcc").args(["-O2", "-g", "-o"]).arg(&program).arg(&source).arg("-lm").status();
    anyhow::ensure!(done.context("cannot run gcc")?.success(), "cannot compile {}", source.display());
    Ok(program)
}
