//! `workspan limits`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use super::DEFAULT_TOP;

const LIMITS: &str = "\
Any Linux program for x86-64, as it is. Needs the emulator qemu-user (`apt-get install qemu-user`).

Examples:
  workspan limits -- ./prog args
  workspan limits --json=limits.json --html limits.html -- sort words.txt
  workspan limits --limit 1000000000 -- ./long-running
  workspan limits --roi main -- ./prog
  workspan limits --roi solve,update -- ./prog
  workspan limits --roi main --depend depend.json -- ./prog";

/// `workspan limits`.
#[derive(Args, Clone, Debug)]
#[command(after_help = LIMITS)]
pub struct Limits {
    /// Report as JSON, to FILE or to standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Write the models as CSV, to FILE or to standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub csv: Option<PathBuf>,
    /// Draw the models as SVG to FILE.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the report as an HTML page to FILE.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show at most N rows of a table.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOP)]
    pub top: usize,
    /// Stop the program after N instructions, and report the limits of those (default: no limit).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Use at most MIB mebibytes for the history of the program's memory: a sixth for what it is using, the rest for what it has not
    /// accessed for long, packed. Beyond, the analysis sees dependences between addresses of the same page that are not
    /// there, and says so.
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub memory_limit: u64,
    /// Analyse only: `table` for the seven models and TruMerge, which is faster, or `tru` for Tru alone (default: all models,
    /// windows, widths, latencies, and what reuse of memory costs).
    #[arg(long, value_enum, default_value_t = Models::All)]
    pub models: Models,
    /// Analyse only a region: calls of FUNCTION[,FUNCTION…]; FROM..TO for instructions by number; or `marks`, from a call of
    /// `workspan_roi_begin` to one of `workspan_roi_end` (default: the whole run, start-up included).
    #[arg(long, value_name = "REGION")]
    pub roi: Option<String>,
    /// Trace the program with `qemu`; with `valgrind`, which takes 20 times as long; or `step` by step, which only suits runs of
    /// seconds, but knows all instructions of this processor (default: qemu, or else valgrind).
    #[arg(long, value_enum)]
    pub tracer: Option<Tracer>,
    /// Show what `workspan depend --json=FILE` found for the program beside the limit that bounds it. Both should run the same
    /// input; `--roi main` excludes the start-up that `depend` does not see.
    #[arg(long, value_name = "FILE")]
    pub depend: Option<PathBuf>,
    /// Run the program with the emulator at FILE (default: qemu-x86_64 in PATH).
    #[arg(long, value_name = "FILE")]
    pub emulator: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Which models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Models {
    /// All of them.
    #[default]
    All,
    /// The seven models of the table, and `TruMerge`.
    Table,
    /// `Tru`.
    Tru,
}

/// What traces the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Tracer {
    /// The emulator qemu-user.
    Qemu,
    /// Valgrind's tool lackey.
    Valgrind,
    /// One instruction at a time.
    Step,
}

impl Limits {
    /// Files that are requested.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let to_stdout = |file: &&PathBuf| file.as_path() == Path::new("-");
        let data = [&self.json, &self.csv].into_iter().flatten().filter(move |file| !to_stdout(file));
        data.chain(&self.svg).chain(&self.html)
    }
}
