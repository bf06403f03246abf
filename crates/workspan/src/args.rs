//! Command lines.

mod arguments;
mod command;
mod defaults;
pub mod depend;
pub mod export;
pub mod graph;
pub mod groups;
pub mod guide;
mod inflation;
pub mod instrument;
mod limits;
mod predict;
mod scale;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use workspan_analysis::schedule::MOST_PROCESSORS;

use crate::gate::Gate;
use crate::parts::Asked;

pub use command::Command;
pub use defaults::{Clock, DEFAULT_FILE, DEFAULT_TOP};
pub use export::Export;
pub use guide::Guide;
pub use inflation::{Inflation, InflationOptions};
pub use limits::{Limits, Models, Tracer};
pub use predict::{Cutoff, Predict, Processors};
pub use scale::{Scale, ScaleOptions};

/// Show how parallel a program is, why it does not scale, and which line to change.
#[derive(Debug, Parser)]
#[command(name = "workspan", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Workspan {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Commands and their options, with help by groups.
pub fn command() -> clap::Command {
    groups::grouped(Workspan::command(), groups::WORKSPAN)
}

/// The command line of `workspan`.
pub fn parse(arguments: Vec<OsString>) -> Result<Workspan, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    Workspan::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

const EXAMPLES: &str = "\
Examples:
  cargo workspan run --release -- args    profile the Rust program in this folder, which uses rayon
  workspan record -- ./prog args          profile a program that uses OpenMP, oneTBB or threads
  workspan report --html report.html      show the report again, and write it as a page
  workspan doctor                         check this machine and this project

`workspan COMMAND --help` explains a command. `workspan guide` lists commands by question.";

/// Commands of `workspan`. `--help` lists them by [`groups::WORKSPAN`].
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a program; report its work, span, parallelism and what limits it.
    Record(Record),
    /// Show the report of a recording as text, JSON or an HTML page.
    Report(Report),
    /// Show what a recording holds and how it was made.
    Info(Info),
    /// Check machine, project and program; show how to fix what is missing.
    Doctor(Doctor),
    /// Predict span and parallelism if some lines ran faster.
    WhatIf(WhatIf),
    /// List code to parallelise, and tasks that are too small or too large.
    Advise(Advise),
    /// Predict time and speedup on other numbers of processors.
    Predict(Predict),
    /// List call sites by work and span: in total, and on the critical path.
    Calls(Calls),
    /// Show what changed between two recordings, and what may be noise.
    Diff(Diff),
    /// Measure speedup on 1, 2, 4, … workers and attribute what is lost.
    Scale(Scale),
    /// Run on 1 and on N workers; list the code that N workers make slower.
    #[command(alias = "inflate")]
    Inflation(Inflation),
    /// Show how parallel any program could be, by dependences between instructions.
    Limits(Limits),
    /// Write one recording, with less noise, from repeated runs.
    Merge(Merge),
    /// Write a trace, flame graph, task graph or table for another tool.
    Export(Export),
    /// Show which command answers which question, and what scripts can rely on.
    Guide(Guide),
    /// Build a program so that `graph` and `depend` can record what it accesses.
    Build(instrument::Build),
    /// Report data races, cache misses and what tasks touched (see `build`).
    Graph(graph::Graph),
    /// Show which loops and calls could run in parallel, and what forbids it.
    Depend(depend::Depend),
    /// Answer SQL about every strand, or a task graph (needs workspan-query).
    Query(Query),
}

/// Options of everything that runs a program.
#[derive(Args, Clone, Debug, Default)]
pub struct RunOptions {
    /// Write the recording to FILE; keep an existing one as FILE.old.
    #[arg(short, long, value_name = "FILE", default_value = DEFAULT_FILE)]
    pub output: PathBuf,
    /// Run on N workers: sets RAYON_NUM_THREADS, or OMP_NUM_THREADS for OpenMP (default: as the program chooses).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub workers: Option<u32>,
    /// rayon and oneTBB: split loops as on N cores (default: 64; 0: as on this machine). OpenMP: run teams of N threads, one
    /// thread at a time, to see every chunk of a loop (default: 0, off).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=65536))]
    pub logical_cores: Option<u32>,
    /// Also write every strand to a folder beside the recording, NAME.strands, which what-if, advise, predict, merge and
    /// query read.
    #[arg(long, alias = "record")]
    pub strands: bool,
    /// Predict the effect of making PART run FACTOR times faster, as what-if does; needs no --strands. PARTs behind one
    /// --what-if change together; each --what-if is a scenario of its own.
    #[arg(long, value_name = "PART=FACTOR[,…]")]
    pub what_if: Vec<Asked>,
    /// Load LIBRARY into the program and call it at every task event (`include/workspan_tool.h`).
    #[arg(long, value_name = "LIBRARY")]
    pub tool: Option<PathBuf>,
    /// Assume that a steal costs NS nanoseconds, in burdened parallelism (default: measured on this machine before the run).
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub steal: Option<u64>,
    /// Count up to eight events for each site: page-faults, context-switches, cycles, instructions, LLC-load-misses, …,
    /// rNNN, or `cpu/event=…/`.
    #[arg(long, value_name = "EVENT[,…]")]
    pub events: Option<String>,
    /// Run N times; report medians and their spread.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Measure nothing but idle time; for `workspan scale`.
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
    /// Write the report as JSON in place of the text, to FILE (default: to standard output).
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Also write the report as an HTML page to FILE.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show at most N rows of each table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// Leave source lines out of the HTML page.
    #[arg(long)]
    pub no_source: bool,
    /// Also embed sources that lie below FOLDER; default: those of the project, the working folder and cargo's registry.
    #[arg(long, value_name = "FOLDER", conflicts_with = "no_source")]
    pub source: Vec<PathBuf>,
    /// Give the verdict for a machine with N processors (default: 16).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_PROCESSORS)))]
    pub processors: Option<u32>,
}

const RECORD: &str = "\
Examples:
  workspan record -- ./prog args
  workspan record --strands --repeat 5 -o runs.wspan -- ./prog args
  workspan record --json=report.json -- ./prog args

Exit status: the program's; 2 if only Workspan fails; 126 or 127 if the program cannot be run.";

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
    /// Program to run, and its arguments.
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
    /// Recording to read.
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
    /// Recording to read.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// Write JSON in place of the text.
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
    /// Check this program, too: a path, or a command in PATH.
    pub program: Option<PathBuf>,
    /// Write JSON in place of the text.
    #[arg(long)]
    pub json: bool,
}

const WHAT_IF: &str = "\
PART is FILE:LINE, FILE:LINE-LINE, the id of a site in a report (s-0123abcd; s-0123abcd/ with all code \
below it), the id of a segment that advise lists (a-0123abcd), or the name of a region that the program \
marks: in Rust by workspan_probe::region(\"solve\"), in C and C++ by WORKSPAN_FUNCTION of workspan.h. \
FACTOR is a number from 1, or inf.

Lines name the code between two task events (fork, spawn, lock, wait, end) that both lie in them, and \
serial code that samples, one in 4 ms, saw at work mostly in them. Where in a task its code ran is not \
recorded: lines between two events, such as a function that tasks call, name nothing; what-if then \
lists the ids of segments of that file.

Needs a recording made with --strands. The program does not run again.

Examples:
  workspan what-if -s src/sort.rs:10-20=8
  workspan what-if run.wspan -s s-0123abcd=16 -s solve=inf";

/// `workspan what-if`.
#[derive(Args, Clone, Debug)]
#[command(after_help = WHAT_IF)]
pub struct WhatIf {
    /// Recording to read.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// Predict the effect of running PART in parallel, FACTOR times faster; all PARTs change together.
    #[arg(short, long, value_name = "PART=FACTOR", required = true)]
    pub speed_up: Vec<String>,
    /// Read the Nth of repeated runs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub run: u32,
    /// Show at most N rows of each table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// Write JSON in place of the text.
    #[arg(long)]
    pub json: bool,
}

const ADVISE: &str = "\
Segments to parallelise come in the order of the steps, then sites with tasks of the wrong size.
Tasks are too small if creating them costs more than 1/K of what they run, and 1 % of the work. They are \
too large if their site has 10 % of the critical path, and they take longer than those on the path may \
when the path becomes as short as P requires; they are divided down to K times the cost of a creation.

Needs a recording made with --strands.

Exit status: 0; 1 if a finding of --fail-on exists; 2 on failure.

Examples:
  workspan advise --target 16
  workspan advise run.wspan --fail-on too-fine,too-coarse
  workspan advise --json | jq -r '.findings[].text'";

/// `workspan advise`.
#[derive(Args, Clone, Debug)]
#[command(after_help = ADVISE)]
pub struct Advise {
    /// Recording to read.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// Stop when the predicted parallelism reaches P.
    #[arg(long, value_name = "P", default_value_t = 128.0, value_parser = at_least_one)]
    pub target: f64,
    /// Speed each segment up by F in a step.
    #[arg(long, value_name = "F", default_value_t = 128.0, value_parser = at_least_one)]
    pub factor: f64,
    /// Call a task worth it from K times the cost of its creation on: smaller tasks are too small, and no step divides a
    /// segment into smaller ones, so that a large K may make the target unreachable.
    #[arg(long, value_name = "K", default_value_t = 10.0, value_parser = at_least_one)]
    pub threshold: f64,
    /// End with status 1 if a finding of this KIND exists.
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,
    /// Read the Nth of repeated runs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub run: u32,
    /// Show at most N findings.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// Write JSON in place of the text.
    #[arg(long)]
    pub json: bool,
}

const CALLS: &str = "\
A call site is a site together with the site that calls it. The columns from `critical: span` on \
sum over its calls on the critical path, those from `all: span` on over all of its calls; `self` is the \
time of the callee's own code: the part on the critical path, and all of it. The first rows limit the \
program. Recursion: with --by site, span, work and calls are of the outermost calls alone, so that \
nothing counts twice, and self has the code of recursive calls, too, also below other callers: it may \
exceed the work. With --by height each call counts at its height, the depth of the calls nested in it.

Examples:
  workspan calls
  workspan calls run.wspan --by height
  workspan calls run.wspan --csv > calls.csv";

/// `workspan calls`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CALLS)]
pub struct Calls {
    /// Recording to read, or its folder of strands.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// Count recursive calls by site (outermost only) or by height (all; needs --strands).
    #[arg(long, value_enum, default_value_t = By::Site)]
    pub by: By,
    /// Assume that a steal costs NS nanoseconds (default: as recorded, otherwise 5000); needs --strands.
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub steal: Option<u64>,
    /// Read the Nth of repeated runs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub run: u32,
    /// Show at most N rows of each table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// Write JSON in place of the text.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Write CSV in place of the text, with a header line.
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
A number has changed if no run of AFTER lies within the range of the runs of BEFORE; if some do, it is \
`inconclusive`. A site is matched by its file and line, or by its order in a function. Strands are compared \
one by one if both recordings have them (--strands).

Examples:
  workspan diff before.wspan after.wspan
  workspan diff before.wspan after.wspan -s src/sort.rs:10-20=8
  workspan diff base.wspan new.wspan --fail-on 'parallelism<0.9x' --fail-on 'inflation>1.2'

Exit status: 0; 1 if a condition of --fail-on is met; 2 if something cannot be compared.";

/// `workspan diff`.
#[derive(Args, Clone, Debug)]
#[command(after_help = DIFF)]
pub struct Diff {
    /// Recording before the change.
    pub before: PathBuf,
    /// Recording after the change.
    pub after: PathBuf,
    /// Predict the effect of making PART FACTOR times faster in BEFORE, and compare it with AFTER; needs --strands.
    #[arg(short, long, value_name = "PART=FACTOR")]
    pub speed_up: Vec<String>,
    /// End with status 1 if CONDITION holds: parallelism, work, span, wall, inflation or critical-inflation, then `<` or `>`,
    /// then a limit; `0.9x` is 0.9 times the value of BEFORE.
    #[arg(long, value_name = "CONDITION")]
    pub fail_on: Vec<Gate>,
    /// Show at most N rows of each table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// Write JSON in place of the text.
    #[arg(long)]
    pub json: bool,
}

/// Findings to fail on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Any finding.
    Any,
    /// A segment to parallelise.
    Parallelise,
    /// Tasks that are too small.
    TooFine,
    /// Tasks that are too large.
    TooCoarse,
    /// The target cannot be reached.
    Unreachable,
}

const MERGE: &str = "\
Needs a recording made with --strands --repeat N. Every command reads the merged recording.

Examples:
  workspan merge
  workspan merge runs.wspan -o merged.wspan --keep median
  workspan report merged.wspan";

/// `workspan merge`.
#[derive(Args, Clone, Debug)]
#[command(after_help = MERGE)]
pub struct Merge {
    /// Recording to read.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// Write the merged run to FILE and its strands beside it; keep an existing one as FILE.old.
    #[arg(short, long, value_name = "FILE", default_value = "merged.wspan")]
    pub output: PathBuf,
    /// Keep the least or the median of a strand's costs in all runs.
    #[arg(long, value_enum, default_value_t = Keep::Min)]
    pub keep: Keep,
    /// Show at most N rows of each table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// Write JSON in place of the text.
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

const QUERY: &str = "\
Tables: nodes (a row for each strand), sites, contexts, meta. Views: strands, site_totals, tasks, threads. \
`describe nodes` lists the columns. Needs a recording made with --strands.

Of a task graph (NAME.graph): tasks, edges, blocks, operations, accesses, allocations, allocation_events.

Examples:
  workspan query 'select * from site_totals order by work_ns desc limit 10'
  workspan query run.graph \"select line, sum(size) from accesses where task = '0:2' group by line\"
  workspan query run.wspan --csv 'select event, count(*) from nodes group by event'";

/// `workspan query`.
#[derive(Args, Clone, Debug)]
#[command(after_help = QUERY, override_usage = "workspan query [OPTIONS] [FILE] <SQL>")]
pub struct Query {
    /// Recording or task graph to read (default: workspan.wspan), then the query.
    #[arg(value_names = ["FILE", "SQL"], required = true, num_args = 1..=2)]
    pub words: Vec<OsString>,
    /// Write one JSON object a line for each row, in place of a table.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Write CSV in place of the text, with a header line.
    #[arg(long)]
    pub csv: bool,
}

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
    pub fn sql(&self) -> &OsStr {
        self.words.last().map(OsString::as_os_str).unwrap_or_default()
    }
}

impl Show {
    /// The files that are written.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.html.iter().chain(&self.json)
    }
}

impl RunOptions {
    /// True if strands must be logged.
    pub fn logs_strands(&self) -> bool {
        self.strands || !self.what_if.is_empty()
    }
}
