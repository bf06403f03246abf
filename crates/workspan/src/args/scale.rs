//! Options of `workspan scale`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Command, DEFAULT_TOP};

const SCALE: &str = "\
Workspan sets RAYON_NUM_THREADS, OMP_NUM_THREADS, or the workers of oneTBB. For a program with an option of its own, {workers} in an \
argument is replaced by the number of workers of the run. {P} in an argument is replaced by P, also in the \
run on one worker: for a problem that grows with P. A program only on threads that it creates itself \
is an error: Workspan cannot set their number.

Examples:
  workspan scale -p 1,2,4 -- ./prog input.txt
  workspan scale -p 1,2,4,8 --baseline './seq input.txt' --svg scale.svg -- ./prog input.txt
  workspan scale -p 1,2,4 -- ./sort --cutoff-over {P}
  workspan scale --json=- --pin -- ./prog --threads {workers}";

/// Options of everything that measures how a program scales.
#[derive(Args, Clone, Debug, Default)]
pub struct ScaleOptions {
    /// Measure on these numbers of workers (default: powers of two up to the number of processors).
    #[arg(short = 'p', long, value_name = "P[,P…]", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=253))]
    pub workers: Vec<u32>,
    /// Measure speedup over this sequential program (default: the program itself on one worker).
    #[arg(long, value_name = "COMMAND")]
    pub baseline: Option<Command>,
    /// Measure task overhead against this program: the same, with sequential calls in place of parallel constructs.
    #[arg(long, value_name = "COMMAND")]
    pub elision: Option<Command>,
    /// Run each configuration N times, in turn.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Run N rounds first that do not count.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub warm_up: u32,
    /// Pin each run to as many processors as it has workers.
    #[arg(long)]
    pub pin: bool,
    /// Skip the up to six further runs that attribute idle time and inflation to sites.
    #[arg(long)]
    pub no_sites: bool,
    /// Show the program's output on standard error (default: hidden).
    #[arg(long)]
    pub show_output: bool,
    /// Write JSON to FILE, in place of the text (default: to standard output).
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Write CSV to FILE, one row for each P, in place of the text (default: to standard output).
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub csv: Option<PathBuf>,
    /// Also draw the curves as SVG into FILE.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Also write an HTML page with curves and tables to FILE.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show at most N rows of each table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
}

/// `workspan scale`.
#[derive(Args, Clone, Debug)]
#[command(after_help = SCALE)]
pub struct Scale {
    /// Options.
    #[command(flatten)]
    pub options: ScaleOptions,
    /// Called by cargo as its runner.
    #[arg(long, hide = true)]
    pub from_cargo: bool,
    /// Program to run, and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl ScaleOptions {
    /// Files that are requested.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let to_stdout = |file: &&PathBuf| file.as_path() == Path::new("-");
        let data = [&self.json, &self.csv].into_iter().flatten().filter(move |file| !to_stdout(file));
        data.chain(&self.svg).chain(&self.html)
    }
}
