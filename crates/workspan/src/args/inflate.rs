//! Options of `workspan inflate`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::gate::Gate;

/// Where the parallel runs are written unless another file is named; the serial ones beside it.
const INFLATE_FILE: &str = "inflate.wspan";

const EXAMPLES: &str = "\
The program runs on one worker, which nothing disturbs, and on N, in turn. OpenMP has a team of N in both: on the base's,
only one thread runs at a time. What a strand costs more with N is work inflation.

Examples:
  workspan inflate -- ./prog args
  workspan inflate --workers 8 --repeat 5 -- ./prog args
  workspan inflate --events cycles,instructions,LLC-load-misses -- ./prog args
  workspan diff inflate.base.wspan inflate.wspan     the same again, without running

Exit status: the program's if that is not 0; 1 if a condition of --fail-on is met; 2 if something else fails.";

/// Options that `cargo workspan inflate` has, too.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct InflateOptions {
    /// Write the parallel runs to FILE and the serial ones beside it, as NAME.base.wspan; former ones are kept as FILE.old.
    #[arg(short, long, value_name = "FILE", default_value = INFLATE_FILE)]
    pub output: PathBuf,
    /// Workers of the parallel runs (default: as many as there are processors).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=4096))]
    pub workers: Option<u32>,
    /// Cores as on which rayon splits its loops, in all runs; 0: as on this machine (default: 64).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=65536))]
    pub logical_cores: Option<u32>,
    /// Run N times each way.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Also count these events, by site and in all: page-faults, cycles, instructions, LLC-load-misses, …, rNNN, or
    /// `cpu/event=…/`; eight at most.
    #[arg(long, value_name = "EVENT[,…]")]
    pub events: Option<String>,
    /// End with status 1 if this is so: inflation or critical-inflation, `<` or `>`, and a limit.
    #[arg(long, value_name = "CONDITION")]
    pub fail_on: Vec<Gate>,
    /// As JSON, to FILE or to standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Show at most N rows of a table.
    #[arg(long, value_name = "N", default_value_t = super::DEFAULT_TOP)]
    pub top: usize,
    /// Source of time.
    #[arg(long, value_enum, default_value_t = super::Clock::Real, hide = true)]
    pub clock: super::Clock,
}

/// `workspan inflate`.
#[derive(Args, Clone, Debug)]
pub struct Inflate {
    /// Options.
    #[command(flatten)]
    pub options: InflateOptions,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
