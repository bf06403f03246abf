//! `workspan limits`: instructions per second from end to end, beside the program alone and under the bare emulator.
//!
//! The programs are `programs/limits`: short runs, which are repeated, for speed; one of a thousand million instructions, and those that
//! touch millions of words, in order and in disorder, for memory. Runs of all kinds alternate, and what is compared ran in the same
//! round: a busy machine slows all of them. Memory is the largest that the command's process has had, over the words that a
//! program is known to touch. On a busy machine the rate by the clock says little; that by CPU time has the same targets.

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
    Load { name: "floats", arguments: &["20000"], words: None, models: EACH, runs: 5 },
    Load { name: "records", arguments: &["120000"], words: None, models: EACH, runs: 5 },
    // A thousand million instructions.
    Load { name: "sweep", arguments: &["100000", "1250"], words: Some(1e5), models: &["tru", "table"], runs: 1 },
    Load { name: "sweep", arguments: &["8000000", "1"], words: Some(8e6), models: EACH, runs: 1 },
    Load { name: "sweep", arguments: &["40000000", "1"], words: Some(4e7), models: &["table"], runs: 1 },
    // As many updates as words hit 63 % of them.
    Load { name: "scatter", arguments: &["8000000", "8000000"], words: Some(5_056_964.0), models: &["table"], runs: 1 },
];

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if !options.wants(GROUP, GROUP) {
        return Ok(figures);
    }
    table::group("Limits of parallelism: instructions per second, end to end");
    for load in LOADS {
        let program = compiled(load.name)?;
        let mut rounds = Vec::new();
        for _ in 0..options.runs.min(load.runs) {
            rounds.push(Round::of(&program, load)?);
        }
        for (place, models) in load.models.iter().enumerate() {
            for figure in load.figures(models, place, &rounds) {
                table::row(&figure);
                figures.push(figure);
            }
        }
    }
    Ok(figures)
}

/// One run of each kind, one after the other.
struct Round {
    native: f64,
    bare: f64,
    /// By models.
    runs: Vec<Run>,
}

impl Round {
    fn of(program: &Path, load: &Load) -> anyhow::Result<Round> {
        let native = wall_of(Command::new(program).args(load.arguments))?;
        let bare = wall_of(Command::new("qemu-x86_64").arg(program).args(load.arguments))?;
        let runs = load.models.iter().map(|models| Run::of(program, load.arguments, models));
        Ok(Round { native, bare, runs: runs.collect::<anyhow::Result<_>>()? })
    }
}

impl Load {
    /// Speed and memory with some models.
    fn figures(&self, models: &str, place: usize, rounds: &[Round]) -> [Figure; 3] {
        // Targets are for the models of the table, and for `Tru` alone.
        let target = match models {
            "tru" => Some(ALONE),
            "table" => Some(SEVEN),
            _ => None,
        };
        let bound = target.and(self.words).map(|words| Target::AtMost(BASE + WORD * words));
        let runs = || rounds.iter().map(|round| &round.runs[place]);
        let rate = Spread::of(runs().map(|run| run.instructions / run.seconds / 1e6));
        let bytes = Spread::of(runs().map(|run| run.bytes));
        let times =
            |of: &dyn Fn(&Round) -> f64| Spread::of(rounds.iter().map(|round| round.runs[place].seconds / of(round)));
        let speed = Figure {
            group: GROUP,
            case: format!("{} {}, {models}", self.name, self.arguments.join(" ")),
            workers: 1,
            quantity: "million instructions per second",
            value: rate.median(),
            spread: rate,
            target: target.map(Target::AtLeast),
            behind: vec![
                ("seconds natively", Spread::of(rounds.iter().map(|round| round.native))),
                ("seconds under the bare emulator", Spread::of(rounds.iter().map(|round| round.bare))),
                ("seconds", Spread::of(runs().map(|run| run.seconds))),
                ("times as long as natively", times(&|round| round.native)),
                ("times as long as under the bare emulator", times(&|round| round.bare)),
                ("CPU seconds", Spread::of(runs().map(|run| run.cpu))),
            ],
            remark: format!("{:.0} million instructions", runs().map(|run| run.instructions).fold(0.0, f64::max) / 1e6),
        };
        // What one free processor would do for the emulator and the analysis together: two do at least as much.
        let per_cpu = Spread::of(runs().map(|run| run.instructions / run.cpu / 1e6));
        let per_cpu = Figure {
            quantity: "million instructions per CPU second",
            value: per_cpu.median(),
            spread: per_cpu,
            behind: Vec::new(),
            ..speed.clone()
        };
        let memory = Figure {
            quantity: "bytes of memory",
            value: bytes.median(),
            spread: bytes,
            target: bound,
            behind: vec![("bytes of the analysis", Spread::of(runs().map(|run| run.analysis)))],
            ..speed.clone()
        };
        [speed, per_cpu, memory]
    }
}

struct Run {
    instructions: f64,
    /// The most that the command had.
    bytes: f64,
    /// What the analysis reports of itself.
    analysis: f64,
    seconds: f64,
    cpu: f64,
}

impl Run {
    fn of(program: &Path, arguments: &[&str], models: &str) -> anyhow::Result<Run> {
        let json = build::folder().join("limits.json");
        let mut command = Command::new(build::workspan()?);
        command.args(["limits", "--models", models]).arg(format!("--json={}", json.display())).arg("--");
        command.arg(program).args(arguments);
        let (cpu, bytes) = cpu_and_memory_of(&mut command)?;
        let answer: Value = serde_json::from_slice(&fs::read(&json)?)?;
        let number = |value: &Value| value.as_f64().context("no number");
        let seconds = number(&answer["analysis"]["wall_ns"])? / 1e9;
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
