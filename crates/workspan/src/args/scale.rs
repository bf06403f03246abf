//! Options of `workspan scale`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Command, DEFAULT_TOP};

const SCALE: &str = "\
{P} in an argument is replaced by the number of workers; as the work then depends on it, the program is also run with one
worker for each. {workers} is replaced by the number that a run really has, for programs that must be told.

Examples:
  workspan scale -p 1,2,4 -- ./prog input.txt
  workspan scale -p 1,2,4,8 --baseline './seq input.txt' --svg scale.svg -- ./prog input.txt
  workspan scale -p 1,2,4 -- ./sort --cutoff-over {P}
  workspan scale --json=- --pin -- ./prog --threads {workers}";

/// Options of everything that measures how a program scales.
#[derive(Args, Clone, Debug, Default)]
pub struct ScaleOptions {
    /// Numbers of workers; default: powers of two, up to as many as there are processors.
    #[arg(short = 'p', long, value_name = "P[,P…]", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=253))]
    pub workers: Vec<u32>,
    /// The sequential program that speedups are over; default: the program itself with one worker.
    #[arg(long, value_name = "COMMAND")]
    pub baseline: Option<Command>,
    /// The program with its parallel constructs replaced by sequential ones, which tells what tasks cost.
    #[arg(long, value_name = "COMMAND")]
    pub elision: Option<Command>,
    /// Run everything N times, in turns.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Rounds to run before, which do not count.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub warm_up: u32,
    /// Keep each run on as many processors as it has workers.
    #[arg(long)]
    pub pin: bool,
    /// Do not profile where idle time and inflation arise, which takes up to six further runs.
    #[arg(long)]
    pub no_sites: bool,
    /// Show what the program writes, on standard error.
    #[arg(long)]
    pub show_output: bool,
    /// As JSON, to FILE or to standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// A row for each P, with commas between, to FILE or to standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub csv: Option<PathBuf>,
    /// Draw the curves into FILE.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write a page with curves and tables to FILE.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show at most N rows of a table.
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
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl ScaleOptions {
    /// Files that are asked for.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let to_stdout = |file: &&PathBuf| file.as_path() == Path::new("-");
        let data = [&self.json, &self.csv].into_iter().flatten().filter(move |file| !to_stdout(file));
        data.chain(&self.svg).chain(&self.html)
    }
}
