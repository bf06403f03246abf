//! Command lines.

mod arguments;
mod command;
pub mod export;
pub mod guide;
mod inflate;
mod limits;
mod predict;
mod scale;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use workspan_analysis::schedule::MOST_PROCESSORS;

use crate::gate::Gate;
use crate::parts::Asked;

pub use command::Command;
pub use export::Export;
pub use guide::Guide;
pub use inflate::{Inflate, InflateOptions};
pub use limits::{Limits, Models};
pub use predict::{Cutoff, Predict, Processors};
pub use scale::{Scale, ScaleOptions};

/// Where recordings are written and read unless another file is named.
pub const DEFAULT_FILE: &str = "workspan.wspan";

/// Rows of a table that are shown unless another number is asked for.
pub const DEFAULT_TOP: usize = 15;

/// Tells how parallel a program is, why it does not scale, and what to change.
#[derive(Debug, Parser)]
#[command(name = "workspan", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Workspan {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  cargo workspan run --release -- args    build the rayon program of this folder with hooks, run and report
  workspan record -- ./prog args          run a program that was built so, or one that uses OpenMP
  workspan report                         the report again, from workspan.wspan
  workspan report --html report.html      the same as a page
  workspan doctor                         what this machine allows";

/// Verbs of `workspan`.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a program that carries hooks or uses OpenMP, and report.
    Record(Record),
    /// Show the report of a recording.
    Report(Report),
    /// Show what a recording holds and how it was made.
    Info(Info),
    /// Tell what this machine, and a program, allow.
    Doctor(Doctor),
    /// Tell what parallelising parts of the program would give; needs a recording made with --record.
    WhatIf(WhatIf),
    /// Tell which parts must be parallelised, and whose tasks have the wrong size; needs a recording made with --record.
    Advise(Advise),
    /// Tell how long the program would take on other numbers of processors; needs a recording made with --record.
    Predict(Predict),
    /// Tell work and span of each call site, in all and on the critical path; what stealing would cost.
    Calls(Calls),
    /// Compare two recordings of a program, before and after a change.
    Diff(Diff),
    /// Measure speedups, and what they are lost to: overhead, idle time, work inflation.
    Scale(Scale),
    /// Run a program on one worker and on several, and tell which strands cost more for it: work inflation.
    Inflate(Inflate),
    /// Find how parallel a program could be at most: limits set by dependences between its instructions.
    Limits(Limits),
    /// Merge repeated runs strand by strand, which leaves noise out; needs a recording made with --record --repeat.
    Merge(Merge),
    /// Write a recording in the format of another tool.
    Export(Export),
    /// Tell which verb answers which question, and what scripts can rely on.
    Guide(Guide),
    /// Answer a question in SQL; needs a recording made with --record.
    #[cfg(feature = "query")]
    Query(Query),
}

/// Options of everything that runs a program.
#[derive(Args, Clone, Debug, Default)]
pub struct RunOptions {
    /// Write the recording to FILE; a former one is kept as FILE.old.
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_FILE)]
    pub output: PathBuf,
    /// Let rayon's global pool have N workers (RAYON_NUM_THREADS), or OpenMP's teams N threads (OMP_NUM_THREADS).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub workers: Option<u32>,
    /// As on N cores, whatever this machine has; 0: as on this machine. Rayon splits its loops so (default: 64); OpenMP
    /// runs a team of N, one thread at a time, so that every piece of a loop is seen (default: 0).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=65536))]
    pub logical_cores: Option<u32>,
    /// Write every strand, too: the whole model, to FILE's name with `.strands` in place of `.wspan`.
    #[arg(long)]
    pub record: bool,
    /// Also tell what would be if parts of the program were FACTOR times faster, by being done in parallel, as the verb
    /// what-if does; several parts are changed together. Given several times, each is a scenario of its own.
    #[arg(long, value_name = "PART=FACTOR[,…]")]
    pub what_if: Vec<Asked>,
    /// Load LIBRARY into the program, and tell it of every task (`include/workspan_tool.h`).
    #[arg(long, value_name = "LIBRARY", conflicts_with_all = ["record", "what_if"])]
    pub tool: Option<PathBuf>,
    /// What a steal costs in burdened spans, in nanoseconds; default: as measured on this machine before the program runs.
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub steal: Option<u64>,
    /// Also count these events, by site: page-faults, context-switches, cycles, instructions, LLC-load-misses, …, rNNN, or
    /// `cpu/event=…/`; eight at most.
    #[arg(long, value_name = "EVENT[,…]")]
    pub events: Option<String>,
    /// Run N times, and report medians with their spread.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Account for idle time alone; for `workspan scale`.
    #[arg(skip)]
    pub idle_only: bool,
    /// Source of time.
    #[arg(long, value_enum, default_value_t = Clock::Real, hide = true)]
    pub clock: Clock,
    /// Virtual clock: ticks that the creation of a task costs.
    #[arg(long, value_name = "TICKS", default_value_t = 0.0, hide = true)]
    pub virtual_task_cost: f64,
    /// How to report.
    #[command(flatten)]
    pub show: Show,
}

/// Options of everything that reports.
#[derive(Args, Clone, Debug, Default)]
pub struct Show {
    /// Report as JSON, to FILE or to standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Write the report as an HTML page to FILE.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show at most N rows of a table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// Do not embed source lines in the HTML page.
    #[arg(long)]
    pub no_source: bool,
    /// Judge the program on N processors, whatever this machine has (default: 16).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_PROCESSORS)))]
    pub processors: Option<u32>,
}

/// Source of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// The cycle counter.
    #[default]
    Real,
    /// Ticks told by the program.
    Virtual,
}

const RECORD: &str = "\
Examples:
  workspan record -- ./prog args
  workspan record --record --repeat 5 -o runs.wspan -- ./prog args
  workspan record --json=report.json -- ./prog args";

/// `workspan record`.
#[derive(Args, Clone, Debug)]
#[command(after_help = RECORD)]
pub struct Record {
    /// Options.
    #[command(flatten)]
    pub options: RunOptions,
    /// Called by cargo as its runner.
    #[arg(long, hide = true)]
    pub from_cargo: bool,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

const REPORT: &str = "\
Examples:
  workspan report
  workspan report run.wspan --html page.html
  workspan report --json | jq .verdict.text";

/// `workspan report`.
#[derive(Args, Clone, Debug)]
#[command(after_help = REPORT)]
pub struct Report {
    /// The recording.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// How to report.
    #[command(flatten)]
    pub show: Show,
}

const INFO: &str = "\
Examples:
  workspan info
  workspan info run.wspan --json";

/// `workspan info`.
#[derive(Args, Clone, Debug)]
#[command(after_help = INFO)]
pub struct Info {
    /// The recording.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

const DOCTOR: &str = "\
Exit status: 0 if nothing essential is missing, 1 if something is, 2 if PROGRAM cannot be looked at.

Examples:
  workspan doctor
  workspan doctor ./prog --json";

/// `workspan doctor`.
#[derive(Args, Clone, Debug)]
#[command(after_help = DOCTOR)]
pub struct Doctor {
    /// A program to look at: a path, or a command in PATH.
    pub program: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

const WHAT_IF: &str = "\
A PART is FILE:LINE, FILE:LINE-LINE, a site of a report (s-0123abcd; s-0123abcd/ with all below it), a piece that advise
names (a-0123abcd), or the name of a region that the program marks. FACTOR is a number of at least 1, or inf. Several are changed together.

Examples:
  workspan what-if -s src/sort.rs:10-20=8
  workspan what-if run.wspan -s s-0123abcd=16 -s solve=inf";

/// `workspan what-if`.
#[derive(Args, Clone, Debug)]
#[command(after_help = WHAT_IF)]
pub struct WhatIf {
    /// The recording.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// Let PART be FACTOR times faster, by being done in parallel.
    #[arg(short, long, value_name = "PART=FACTOR", required = true)]
    pub speed_up: Vec<String>,
    /// Which of repeated runs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub run: u32,
    /// Show at most N rows of a table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

const ADVISE: &str = "\
Examples:
  workspan advise --target 16
  workspan advise run.wspan --fail-on too-fine,too-coarse
  workspan advise --json | jq -r '.findings[].text'";

/// `workspan advise`.
#[derive(Args, Clone, Debug)]
#[command(after_help = ADVISE)]
pub struct Advise {
    /// The recording.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// The parallelism that is wanted.
    #[arg(long, value_name = "P", default_value_t = 128.0, value_parser = at_least_one)]
    pub target: f64,
    /// By what a piece becomes faster in each step.
    #[arg(long, value_name = "F", default_value_t = 128.0, value_parser = at_least_one)]
    pub factor: f64,
    /// A task must be at least so many times as long as its creation.
    #[arg(long, value_name = "K", default_value_t = 10.0, value_parser = at_least_one)]
    pub threshold: f64,
    /// End with status 1 if there is such a finding.
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,
    /// Which of repeated runs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub run: u32,
    /// Show at most N findings.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

const CALLS: &str = "\
A call site is a site and the one around it. On work: all of its instances; on span: those on the critical path. The first
rows limit the program. With --by site only outermost instances count, so that nothing counts twice; with --by height each
counts at its height, the depth of what is nested below it.

Examples:
  workspan calls
  workspan calls run.wspan --by height
  workspan calls run.wspan --csv > calls.csv";

/// `workspan calls`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CALLS)]
pub struct Calls {
    /// The recording, or its folder of strands.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// How to show recursion.
    #[arg(long, value_enum, default_value_t = By::Site)]
    pub by: By,
    /// What a steal costs, in nanoseconds; default: as the program was recorded with, or measured then, otherwise 5000.
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub steal: Option<u64>,
    /// Which of repeated runs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub run: u32,
    /// Show at most N rows of a table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// As JSON.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Values with commas between, names first.
    #[arg(long)]
    pub csv: bool,
}

/// How recursion is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Outermost instances only.
    Site,
    /// All instances, by the depth of what is nested below.
    Height,
}

const DIFF: &str = "\
A number has changed if no run after gives one that lies among those of the runs before; `inconclusive` if some does.
Sites are found again by their place, or by their order in a function. Where both recordings have their strands, these are
compared one by one.

Examples:
  workspan diff before.wspan after.wspan
  workspan diff before.wspan after.wspan -s src/sort.rs:10-20=8    what was foretold, against what came
  workspan diff base.wspan new.wspan --fail-on 'parallelism<0.9x' --fail-on 'inflation>1.2'    as a gate

Exit status: 0; 1 if a condition of --fail-on is met; 2 if something cannot be compared.";

/// `workspan diff`.
#[derive(Args, Clone, Debug)]
#[command(after_help = DIFF)]
pub struct Diff {
    /// The recording before the change.
    pub before: PathBuf,
    /// The recording after it.
    pub after: PathBuf,
    /// Let PART be FACTOR times faster in the first recording, as `what-if` does, and compare the parallelism foretold with
    /// the one measured; needs a recording made with --record.
    #[arg(short, long, value_name = "PART=FACTOR")]
    pub speed_up: Vec<String>,
    /// End with status 1 if this is so: parallelism, work, span, wall, inflation or critical-inflation, `<` or `>`, and a
    /// limit; with an x a multiple of what was before.
    #[arg(long, value_name = "CONDITION")]
    pub fail_on: Vec<Gate>,
    /// Show at most N rows of a table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// What is to be a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Any finding.
    Any,
    /// A piece to parallelise.
    Parallelise,
    /// Tasks that are too small.
    TooFine,
    /// Tasks that are too large.
    TooCoarse,
    /// The target cannot be reached.
    Unreachable,
}

const MERGE: &str = "\
Every verb reads what is written.

Examples:
  workspan merge
  workspan merge runs.wspan -o merged.wspan --keep median
  workspan report merged.wspan";

/// `workspan merge`.
#[derive(Args, Clone, Debug)]
#[command(after_help = MERGE)]
pub struct Merge {
    /// The recording.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// Write the merged run to FILE, its strands beside it; a former one is kept as FILE.old.
    #[arg(short, long, value_name = "FILE", default_value = "merged.wspan")]
    pub output: PathBuf,
    /// What to keep of a strand's costs.
    #[arg(long, value_enum, default_value_t = Keep::Min)]
    pub keep: Keep,
    /// Show at most N rows of a table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// What to keep of several costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// The least.
    Min,
    /// The median.
    Median,
}

fn at_least_one(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (1.0..=1e12).contains(&number) => Ok(number),
        _ => Err("it must be a number from 1 to 1e12".to_owned()),
    }
}

#[cfg(feature = "query")]
const QUERY: &str = "\
Tables: nodes (a row for each strand), sites, contexts, meta; views: strands, site_totals, tasks, threads.
`describe nodes` tells the columns.

Examples:
  workspan query 'select * from site_totals order by work_ns desc limit 10'
  workspan query run.wspan --csv 'select event, count(*) from nodes group by event'";

/// `workspan query`.
#[cfg(feature = "query")]
#[derive(Args, Clone, Debug)]
#[command(after_help = QUERY, override_usage = "workspan query [OPTIONS] [FILE] <SQL>")]
pub struct Query {
    /// The recording, and the question; `workspan.wspan` if only the latter is given.
    #[arg(value_names = ["FILE", "SQL"], required = true, num_args = 1..=2)]
    pub words: Vec<OsString>,
    /// An object for each row, in lines.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Values with commas between, names first.
    #[arg(long)]
    pub csv: bool,
}

/// How an answer is written.
#[cfg(feature = "query")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryFormat {
    /// Columns side by side.
    Table,
    /// An object for each row.
    Json,
    /// RFC 4180.
    Csv,
}

#[cfg(feature = "query")]
impl Query {
    /// The recording.
    pub fn file(&self) -> PathBuf {
        if self.words.len() > 1 {
            PathBuf::from(&self.words[0])
        } else {
            PathBuf::from(DEFAULT_FILE)
        }
    }

    /// The question.
    pub fn sql(&self) -> String {
        self.words.last().map(|sql| sql.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// How the answer is written.
    pub fn format(&self) -> QueryFormat {
        match (self.json, self.csv) {
            (true, _) => QueryFormat::Json,
            (false, true) => QueryFormat::Csv,
            (false, false) => QueryFormat::Table,
        }
    }
}

impl RunOptions {
    /// True if strands must be logged.
    pub fn logs_strands(&self) -> bool {
        self.record || !self.what_if.is_empty()
    }
}
