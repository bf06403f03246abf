//! Command lines.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Where recordings are written and read unless another file is named.
pub const DEFAULT_FILE: &str = "workspan.wspan";

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
    /// Write every strand, too: the whole model, to FILE's name with `.strands` in place of `.wspan`. Of programs that use
    /// rayon.
    #[arg(long)]
    pub record: bool,
    /// Run N times, and report medians with their spread.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
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
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub top: usize,
    /// Do not embed source lines in the HTML page.
    #[arg(long)]
    pub no_source: bool,
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

/// `workspan record`.
#[derive(Args, Clone, Debug)]
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

/// `workspan report`.
#[derive(Args, Clone, Debug)]
pub struct Report {
    /// The recording.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// How to report.
    #[command(flatten)]
    pub show: Show,
}

/// `workspan info`.
#[derive(Args, Clone, Debug)]
pub struct Info {
    /// The recording.
    #[arg(default_value = DEFAULT_FILE)]
    pub file: PathBuf,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

const DOCTOR: &str = "\
Exit status: 0 if nothing essential is missing, 1 if something is, 2 if PROGRAM cannot be looked at.";

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

impl RunOptions {
    /// The options as arguments, for the `workspan record` that cargo will call in another folder.
    pub fn to_arguments(&self) -> anyhow::Result<Vec<String>> {
        let path = |path: &PathBuf| -> anyhow::Result<String> {
            Ok(std::path::absolute(path)?.to_string_lossy().into_owned())
        };
        let mut arguments = vec!["--output".to_owned(), path(&self.output)?];
        let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
        if let Some(workers) = self.workers {
            add("--workers", workers.to_string());
        }
        if let Some(cores) = self.logical_cores {
            add("--logical-cores", cores.to_string());
        }
        add("--repeat", self.repeat.to_string());
        add("--top", self.show.top.to_string());
        if self.clock == Clock::Virtual {
            add("--clock", "virtual".to_owned());
            add("--virtual-task-cost", self.virtual_task_cost.to_string());
        }
        if let Some(file) = &self.show.html {
            add("--html", path(file)?);
        }
        match &self.show.json {
            Some(file) if file.as_os_str() == "-" => arguments.push("--json=-".to_owned()),
            Some(file) => arguments.push(format!("--json={}", path(file)?)),
            None => {}
        }
        if self.record {
            arguments.push("--record".to_owned());
        }
        if self.show.no_source {
            arguments.push("--no-source".to_owned());
        }
        Ok(arguments)
    }
}
