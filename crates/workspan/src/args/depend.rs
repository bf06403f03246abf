//! Command lines of `workspan depend`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::DEFAULT_TOP;

/// Where profiles are written and read unless another file is named.
pub const DEFAULT_PROFILE: &str = "workspan.depend";

const DEPEND: &str = "\
Build the program with `workspan build` first, with its usual compiler options. `depend` runs its companion \
.NAME.depend, which that build writes beside it: copy both.

Examples:
  workspan build -- cc -O2 prog.c -o prog -lm
  workspan depend -- ./prog args
  workspan depend --add -- ./prog other args
  workspan depend -o run.depend --json=run.json -- ./prog args
  workspan depend report run.depend --json
  workspan depend what-if run.depend --closed-form to --speed-up prog.c:30=2
  workspan depend export run.depend --format dot | dot -Tsvg > run.svg";

/// `workspan depend`.
#[derive(Args, Clone, Debug)]
#[command(after_help = DEPEND, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Depend {
    /// Instead of a run.
    #[command(subcommand)]
    pub verb: Option<DependVerb>,
    /// How to run and report.
    #[command(flatten)]
    pub options: DependOptions,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// How to run and report, also of `cargo workspan depend`.
#[derive(Args, Clone, Debug)]
pub struct DependOptions {
    /// Write the profile to FILE; keep an existing one as FILE.old.
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_PROFILE)]
    pub output: PathBuf,
    /// Add this run to the profile in FILE: a loop is parallel only if no run forbids it.
    #[arg(long)]
    pub add: bool,
    /// Read from FILE the effects of functions outside the build; each line is a NAME, then none, io, random, state or unknown.
    #[arg(long, value_name = "FILE")]
    pub effects: Option<PathBuf>,
    /// Stop profiling when the history of the program's memory accesses exceeds MIB mebibytes.
    #[arg(long, value_name = "MIB", default_value_t = 8192, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub memory_limit: u64,
    /// In the task models, spawn only calls that take N instructions or more on average, and as many before something waits for them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub granularity: u64,
    /// Queue up to N MiB of events for the analysis; when the queue is full, the program waits.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=2048))]
    pub buffer: u32,
    /// How to report.
    #[command(flatten)]
    pub shown: Shown,
}

/// How to report.
#[derive(Args, Clone, Debug)]
pub struct Shown {
    /// Report as JSON, to FILE or to standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Write loops as comma-separated values to FILE.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write candidates as SARIF 2.1.0 to FILE, with the directive to insert.
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write loops to FILE in the JSON of AutoParBench.
    #[arg(long, value_name = "FILE")]
    pub autopar: Option<PathBuf>,
    /// Write the dependences that loops carry to FILE as a graph for graphviz.
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write the report as a page to FILE.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Predict speedups for N processors (default: this machine's; the report of a recording assumes 16).
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub processors: Option<u32>,
    /// Advise to spawn only calls of N instructions or more (default: as measured by `workspan doctor`, or 5000).
    #[arg(long, value_name = "N")]
    pub spawn_threshold: Option<u64>,
    /// Show at most N rows of a table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
}

/// What to do with a profile.
#[derive(Clone, Debug, Subcommand)]
pub enum DependVerb {
    /// Show a profile again.
    Report(DependReport),
    /// Predict the span without some dependences, or with faster lines; no new run.
    WhatIf(DependWhatIf),
    /// Write the critical-path graphs for other tools.
    Export(DependExport),
}

const WHAT_IF: &str = "\
DEPENDENCE is VARIABLE, VARIABLE@FILE:LINE (those that the loop there carries), VARIABLE@FUNCTION, or FILE:LINE->FILE:LINE.
`control` stands for the condition that decides how many iterations run, `memory` for accesses without a variable.

Examples:
  workspan depend what-if run.depend --closed-form to@smoothing
  workspan depend what-if --remove 'sha.c:19->sha.c:19' --speed-up sha.c:12=2 --json";

/// `workspan depend what-if`.
#[derive(Args, Clone, Debug)]
#[command(after_help = WHAT_IF)]
pub struct DependWhatIf {
    /// The profile.
    #[arg(default_value = DEFAULT_PROFILE)]
    pub file: PathBuf,
    /// Assume that DEPENDENCE is gone.
    #[arg(long, value_name = "DEPENDENCE")]
    pub remove: Vec<String>,
    /// Assume that each iteration has its own copy of the variable.
    #[arg(long, value_name = "DEPENDENCE")]
    pub private: Vec<String>,
    /// Assume that each iteration computes the variable from its own number.
    #[arg(long, value_name = "DEPENDENCE")]
    pub closed_form: Vec<String>,
    /// Assume that a line, with what it calls, or the loop that begins there, runs FACTOR times faster.
    #[arg(long, value_name = "FILE:LINE=FACTOR")]
    pub speed_up: Vec<String>,
    /// Report as JSON, to FILE or to standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Show at most N rows of a table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
}

/// A format of `workspan depend export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DependFormat {
    /// Graphviz.
    Dot,
}

/// `workspan depend export`.
#[derive(Args, Clone, Debug)]
pub struct DependExport {
    /// The profile.
    #[arg(default_value = DEFAULT_PROFILE)]
    pub file: PathBuf,
    /// The format.
    #[arg(short, long, value_enum)]
    pub format: DependFormat,
    /// Write to FILE; default: standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the graph of that name alone (`g1`, …: see `critical_paths.graphs[].id` of the JSON report).
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Write at most N graphs, the ones with the largest part of the critical path first.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}

/// `workspan depend report`.
#[derive(Args, Clone, Debug)]
pub struct DependReport {
    /// The profile.
    #[arg(default_value = DEFAULT_PROFILE)]
    pub file: PathBuf,
    /// How to report.
    #[command(flatten)]
    pub shown: Shown,
}
