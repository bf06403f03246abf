//! Options of `workspan inflation`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::gate::Gate;

/// Where the parallel runs are written unless another file is named; the serial ones beside it.
const INFLATION_FILE: &str = "inflation.wspan";

const EXAMPLES: &str = "\
Workspan alternates runs on one worker and on N workers. Work inflation is the extra time that a strand takes \
on N. OpenMP programs have a team of N threads in both runs; in the serial one only \
one thread runs at a time. A program only on threads that it creates itself is an error: Workspan cannot set their number.

Examples:
  workspan inflation -- ./prog args
  workspan inflation --workers 8 --repeat 5 -- ./prog args
  workspan inflation --events cycles,instructions,LLC-load-misses -- ./prog args
  workspan inflation --graph run.graph -- ./prog args     with the allocations that inflated code misses on or shares
  workspan diff inflation.base.wspan inflation.wspan     the same comparison, without a run

Exit status: the program's if that is not 0; 1 if a condition of --fail-on is met; 2 if something else fails.";

/// Options that `cargo workspan inflation` has, too.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct InflationOptions {
    /// Write the parallel runs to FILE and the serial ones to NAME.base.wspan; keep existing ones as FILE.old.
    #[arg(short, long, value_name = "FILE", default_value = INFLATION_FILE)]
    pub output: PathBuf,
    /// Run the parallel runs on N workers (default: the number of processors).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=4096))]
    pub workers: Option<u32>,
    /// Split rayon's loops as if the machine had N cores, in all runs; 0: as it has (default: 64).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=65536))]
    pub logical_cores: Option<u32>,
    /// Run N times serially and N times in parallel.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Count up to eight events for each site and in total: page-faults, cycles, instructions, LLC-load-misses, …, rNNN, or
    /// `cpu/event=…/`.
    #[arg(long, value_name = "EVENT[,…]")]
    pub events: Option<String>,
    /// Name the allocations that inflated code shares with other threads or misses on, by a task graph of the same program
    /// (`workspan build`, then `workspan graph record`).
    #[arg(long, value_name = "FOLDER")]
    pub graph: Option<PathBuf>,
    /// With --graph: count misses in a cache of N KiB that all threads share, a power of two (default: this machine's
    /// last-level cache).
    #[arg(long, value_name = "N", requires = "graph", value_parser = clap::value_parser!(u64).range(1..=1 << 22))]
    pub cache: Option<u64>,
    /// End with status 1 if CONDITION holds: inflation or critical-inflation, then `<` or `>`, then a limit.
    #[arg(long, value_name = "CONDITION")]
    pub fail_on: Vec<Gate>,
    /// Write JSON to FILE, in place of the text (default: to standard output).
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Show at most N rows of each table.
    #[arg(long, value_name = "N", default_value_t = super::DEFAULT_TOP)]
    pub top: usize,
    /// Source of time.
    #[arg(long, value_enum, default_value_t = super::Clock::Real, hide = true)]
    pub clock: super::Clock,
}

/// `workspan inflation`.
#[derive(Args, Clone, Debug)]
pub struct Inflation {
    /// Options.
    #[command(flatten)]
    pub options: InflationOptions,
    /// Program to run, and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
